"""The command line `attribute-planner`: one module per command."""
