"""Diagnosis: why an agent succeeds or fails, from its table, its attempts and its environment."""
