"""How parts learn and where their experience comes from: what the phases and the baselines share."""
