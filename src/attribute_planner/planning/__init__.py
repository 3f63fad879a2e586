"""Test time: plan on the table, execute, replan (Algorithm 2)."""
