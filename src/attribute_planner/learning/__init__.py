"""Learners: policy gradients, DQN, SAC, inverse model and supervised fitting; shared by phases and baselines."""
