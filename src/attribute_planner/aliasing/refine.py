"""From findings to hidden attributes."""

from collections.abc import Sequence

from attribute_planner.aliasing.finding import Aliasing
from attribute_planner.environments.hidden_attributes import with_hidden_attributes
from attribute_planner.environments.interface import Environment


def refine(env: Environment, findings: Sequence[Aliasing]) -> Environment:
    """The environment with a hidden attribute for every finding that looks like a missing one."""
    return with_hidden_attributes(env, [finding.split for finding in findings if finding.is_attribute])
