"""Diagnosis: the reasons why an agent fails, from its table, its attempts and its environment."""
