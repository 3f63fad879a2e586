"""Experience: rollouts of actors in environments, and what they leave behind."""
