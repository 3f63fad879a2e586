"""The paper's two grid worlds: coloured switches and crafting."""
