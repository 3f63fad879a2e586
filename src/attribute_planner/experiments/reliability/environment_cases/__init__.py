"""Faults of environments: each case is an environment with one fault, and what the answer must say."""

from attribute_planner.experiments.reliability.environment_cases.case import Case
from attribute_planner.experiments.reliability.environment_cases.declared import declared_cases
from attribute_planner.experiments.reliability.environment_cases.failing_calls import hanging, raised
from attribute_planner.experiments.reliability.environment_cases.observed import observations, other_observations
from attribute_planner.experiments.reliability.environment_cases.returned import described, returned
from attribute_planner.experiments.reliability.environment_cases.suspicious import suspicious


def cases() -> list[Case]:
    """All cases."""
    return [*declared_cases(), *stepped(), *hanging(), *suspicious()]


def stepped() -> list[Case]:
    """The cases of faults in steps and resets that return."""
    return [*observations(), *other_observations(), *returned(), *described(), *raised()]
