"""Networks: attribute detector f̂, goal policy π, forward model, and the layers and encoders they are built from."""
