"""Where the table knows no way on: do what would be done in the known set that is most like the one at hand.

With many attributes, most sets are never met in training. Another number of things that nobody asked for seldom makes a
difference to how a change is brought about, and a policy that was told many aims is good at the same change elsewhere.
"""

import numpy as np

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.transitions.table import UNKNOWN, TransitionTable

WANTED_WEIGHT = 1_000
"""A difference in what the goal mentions weighs more than all others together may."""


def most_alike(table: TransitionTable, values: np.ndarray, goal: Goal, possible: np.ndarray) -> int:
    """The number of the set that differs least from values `[A]`, of those `possible` `bool[N]`; `UNKNOWN` if none is.

    Numbers differ by how far they are apart, other values by one.
    """
    candidates = np.flatnonzero(possible)
    if not len(candidates):
        return UNKNOWN
    difference = np.abs(table.values[candidates] - values)
    difference = np.where(is_number(table.space), difference, difference > 0)
    weight = np.where(goal.wanted, WANTED_WEIGHT, 1)
    return int(candidates[np.argmin(difference @ weight)])


def same_change(space: AttributeSpace, values: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """`int32[A]` values `[A]`, changed as one set `[A]` into another: numbers by as much, others to the same."""
    changed = np.where(is_number(space), np.clip(values + target - source, 0, space.sizes - 1), target)
    return np.where(target == source, values, changed).astype(np.int32)


def is_number(space: AttributeSpace) -> np.ndarray:
    """`bool[A]` which attributes are numbers."""
    return np.array([attribute.is_integer for attribute in space])
