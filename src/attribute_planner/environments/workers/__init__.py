"""Worker processes, which run the environments of a batch at the same time."""
