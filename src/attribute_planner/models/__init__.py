"""The three parts of the model: detector f̂, policy π, transition table c_π; and the networks they are made of."""
