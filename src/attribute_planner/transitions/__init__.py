"""Transitions between attribute sets: counts, the table c_π, and how probabilities are estimated."""
