"""Reliability, measured: each module is a row of the table that `make reliability` prints."""
