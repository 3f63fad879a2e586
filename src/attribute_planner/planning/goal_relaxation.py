"""Goal relaxation: goals that no known set satisfies, but that a known set nearly satisfies.

Integers can be counted on from anywhere: the way from three marines to four is that from two to three. The agent first
goes where the goal is nearly met. There it acts as if it had less, and wanted as much less.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.attributes import Goal
from attribute_planner.planning.nearest_set import is_integer, nearest_set
from attribute_planner.planning.plan import Planner
from attribute_planner.planning.search import NOWHERE
from attribute_planner.transitions.table import UNKNOWN, TransitionTable

LARGEST_SHIFT = 3
"""By how much integers are lowered, all together (units of the attributes)."""


@dataclass(frozen=True)
class Shifted:
    """A goal within the table, and the shift of all values that leads there.

    goal: what to pursue instead. shift: what to subtract from the current values to be where its ways begin.
    """

    goal: Goal
    shift: Int[np.ndarray, " A"]


def relaxed_goal(planner: Planner, values: Int[np.ndarray, " A"], goal: Goal) -> Goal | None:
    """A goal that no set satisfies, its integers lowered, as little as possible, to what can be reached from a set."""
    number, missing = planner.table.number_of(values), _missing(planner.table, goal)
    total = np.where((missing >= 0).all(axis=1), missing.sum(axis=1), np.inf)
    if number == UNKNOWN or not np.isfinite(total).any():
        return None
    distances = planner.graph.to_sets(np.flatnonzero(total == total.min()))
    if not np.isfinite(distances.cost[number]):
        return None
    return replace(goal, values=np.asarray(goal.values) - missing[distances.path(number)[-1]])


def _missing(table: TransitionTable, goal: Goal) -> Int[np.ndarray, "N A"]:
    """How much each set lacks of the integers that the goal wants; −1 where something does not fit."""
    wanted, missing = np.asarray(goal.wanted), np.asarray(goal.values) - table.values
    if goal.at_least is not None:
        missing = np.where(goal.at_least, np.maximum(missing, 0), missing)
    missing = np.where(is_integer(table.space), missing, -(missing != 0).astype(np.int32))
    return np.where(wanted, np.maximum(missing, -1), 0).astype(np.int32)


def shifted_goal(planner: Planner, values: Int[np.ndarray, " A"], goal: Goal) -> Shifted | None:
    """The same with less of everything, values and goal, as little less as it takes for a way to be known."""
    wanted = np.asarray(goal.wanted)
    for shift in _shifts(wanted & is_integer(planner.table.space)):
        there, fewer = values - shift, replace(goal, values=np.asarray(goal.values) - shift)
        if (there < 0).any() or (fewer.values < 0).any() or not len(planner.table.satisfying(fewer)):
            continue
        number = nearest_set(planner.table, there, fewer, planner.distances(fewer).successor != NOWHERE)
        if number != UNKNOWN and (planner.table.values[number] == there)[wanted].all():
            return Shifted(fewer, shift)
    return None


def _shifts(integers: Bool[np.ndarray, " A"]) -> Iterator[np.ndarray]:
    """`int32[A]` ways to lower some attributes, the smallest first."""
    for total in range(1, LARGEST_SHIFT + 1):
        for chosen in combinations_with_replacement(np.flatnonzero(integers).tolist(), total):
            yield np.bincount(chosen, minlength=len(integers)).astype(np.int32)
