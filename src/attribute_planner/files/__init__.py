"""Files: read and written so that damage is noticed and nothing is lost. Loading executes no code."""
