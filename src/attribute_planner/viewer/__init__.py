"""The viewer in the browser, and pages of one file that show an episode with the same components."""
