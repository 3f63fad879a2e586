"""Goal relaxation: goals that no known set satisfies, but that a known set nearly satisfies.

Changes of integers are assumed to be the same at any value: three marines become four as two become three. The agent
first goes to a set that nearly satisfies the goal. There it plans with values and goal lowered by the same amounts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.attributes import Goal
from attribute_planner.planning.nearest_set import is_integer, nearest_set
from attribute_planner.planning.plan import Planner
from attribute_planner.transitions.numbering import UNKNOWN, NumberedSets

LARGEST_SHIFT = 3
"""Largest sum of the amounts by which integers are lowered (units of the attributes)."""


@dataclass(frozen=True)
class Shifted:
    """A goal that the table can reach, and the shift of all values.

    goal: the lowered goal.
    shift: the amounts to subtract from the current values.
    """

    goal: Goal
    shift: Int[np.ndarray, " A"]


def relaxed_goal(planner: Planner, values: Int[np.ndarray, " A"], goal: Goal) -> Goal | None:
    """The goal with its integers lowered as little as possible, such that it can be reached from a set."""
    number, missing = planner.listing.number_of(values), _missing(planner.listing, goal)
    total = np.where((missing >= 0).all(axis=1), missing.sum(axis=1), np.inf)
    if number == UNKNOWN or not np.isfinite(total).any():
        return None
    distances = planner.graph.to_sets(np.flatnonzero(total == total.min()))
    if not np.isfinite(distances.cost[number]):
        return None
    return replace(goal, values=np.asarray(goal.values) - missing[distances.path(number)[-1]])


def _missing(sets: NumberedSets, goal: Goal) -> Int[np.ndarray, "N A"]:
    """The difference between the goal's integers and those of each set; −1 if another attribute does not match."""
    wanted, missing = np.asarray(goal.wanted), np.asarray(goal.values) - sets.values
    if goal.at_least is not None:
        missing = np.where(goal.at_least, np.maximum(missing, 0), missing)
    missing = np.where(is_integer(sets.space), missing, -(missing != 0).astype(np.int32))
    return np.where(wanted, np.maximum(missing, -1), 0).astype(np.int32)


def shifted_goal(planner: Planner, values: Int[np.ndarray, " A"], goal: Goal) -> Shifted | None:
    """Values and goal lowered by the same amounts, as little as possible, such that a path is known."""
    wanted = np.asarray(goal.wanted)
    for shift in _shifts(wanted & is_integer(planner.listing.space)):
        there, fewer = values - shift, replace(goal, values=np.asarray(goal.values) - shift)
        if (there < 0).any() or (fewer.values < 0).any() or not len(planner.listing.satisfying(fewer)):
            continue
        number = nearest_set(planner.listing, there, fewer, planner.distances(fewer).successor != UNKNOWN)
        if number != UNKNOWN and (planner.listing.values_of([number])[0] == there)[wanted].all():
            return Shifted(fewer, shift)
    return None


def _shifts(integers: Bool[np.ndarray, " A"]) -> Iterator[np.ndarray]:
    """`int32[A]` amounts by which to lower the attributes, the smallest first."""
    for total in range(1, LARGEST_SHIFT + 1):
        for chosen in combinations_with_replacement(np.flatnonzero(integers).tolist(), total):
            yield np.bincount(chosen, minlength=len(integers)).astype(np.int32)
