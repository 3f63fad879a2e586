"""What people look at: progress bars, films of episodes, pictures of the attribute graph."""
