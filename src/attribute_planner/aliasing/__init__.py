"""Aliasing: states with the same attributes in which an edge works or does not, told apart by what is observed."""
