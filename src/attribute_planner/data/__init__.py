"""Experience: actors, rollouts, trajectories, the replay buffer and recorded datasets."""
