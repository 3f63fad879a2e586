"""The paper's block stacking: four coloured blocks on a table, dropped into a 3 × 3 grid or anywhere."""
