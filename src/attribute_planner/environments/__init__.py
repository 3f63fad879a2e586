"""Environments with named attributes."""
