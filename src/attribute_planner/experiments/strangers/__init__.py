"""Public environments that were written by others, as a user brings them: attributes, `describe` and a task each."""

from attribute_planner.experiments.strangers.registry import ORACLES as ORACLES
from attribute_planner.experiments.strangers.registry import WORLDS as WORLDS
from attribute_planner.experiments.strangers.registry import make_world as make_world
