"""The paper's two grid-world environments: coloured switches and crafting."""
