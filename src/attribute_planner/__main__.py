"""`python -m attribute_planner` is the command `attribute-planner`."""

import sys

from attribute_planner.command_line.main import program

sys.exit(program())
