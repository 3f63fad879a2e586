"""Success on tasks, with its interval."""
