"""Progress bars, animations of episodes, images of the attribute graph."""
