"""Benchmarks: speed compared with peers, measured in the same run."""
