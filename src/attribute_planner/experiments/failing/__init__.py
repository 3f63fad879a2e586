"""Small worlds in which an agent fails for a known reason, to test whether a diagnosis names it."""
