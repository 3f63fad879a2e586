"""The three phases of training: detect, explore, practise (Algorithm 1)."""
