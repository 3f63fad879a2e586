"""Environments: worlds with named attributes."""
