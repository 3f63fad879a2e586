"""Measuring agents: tasks, success rates, statistics."""
