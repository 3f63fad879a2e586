"""Aliasing: finds conditions on the observation that decide whether an edge works in states with the same
attributes."""
