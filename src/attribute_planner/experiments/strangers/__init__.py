"""Public environments that were not written for this package, each with attributes, `describe` and a task."""

from attribute_planner.experiments.strangers.registry import ORACLES as ORACLES
from attribute_planner.experiments.strangers.registry import WORLDS as WORLDS
from attribute_planner.experiments.strangers.registry import make_world as make_world
