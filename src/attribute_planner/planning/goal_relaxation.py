"""Goals beyond the table: no set that was ever seen satisfies them, but one that comes close to them was.

Numbers can be counted on from anywhere: the way from three marines to four is that from two to three. So the agent
first goes where the goal is nearly met, and does there what it would do if it had less, and wanted as much less.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.planning.distances import NOWHERE
from attribute_planner.planning.nearest_set import is_number, most_alike
from attribute_planner.planning.planner import Planner
from attribute_planner.transitions.table import UNKNOWN, TransitionTable

MOST_SHIFTED = 3
"""By how much numbers are lowered, all together, in search of a place from which a way is known."""


@dataclass(frozen=True)
class Shifted:
    """A goal within the table, and how much less of everything it asks for.

    goal: what to pursue. shift: `int32[A]` how much is to be taken off the values at hand to be where its ways begin.
    """

    goal: Goal
    shift: np.ndarray


def nearly(planner: Planner, number: int, goal: Goal) -> Goal | None:
    """A goal that no set satisfies, its numbers lowered, as little as will do, to what can be reached from a set."""
    missing = _missing(planner.table, goal)
    total = np.where((missing >= 0).all(axis=1), missing.sum(axis=1), np.inf)
    if number == UNKNOWN or not np.isfinite(total).any():
        return None
    distances = planner.paths.to_sets(np.flatnonzero(total == total.min()))
    if not np.isfinite(distances.cost[number]):
        return None
    end = distances.path(number)[-1]
    return replace(goal, values=np.asarray(goal.values) - missing[end])


def _missing(table: TransitionTable, goal: Goal) -> np.ndarray:
    """`int32[N, A]` how much each set lacks of the numbers that the goal wants; −1 where something does not fit."""
    wanted, missing = np.asarray(goal.wanted), np.asarray(goal.values) - table.values
    if goal.at_least is not None:
        missing = np.where(goal.at_least, np.maximum(missing, 0), missing)
    missing = np.where(is_number(table.space), missing, -(missing != 0).astype(np.int32))
    return np.where(wanted, np.maximum(missing, -1), 0).astype(np.int32)


def shifted(planner: Planner, values: np.ndarray, goal: Goal) -> Shifted | None:
    """The same with less of everything, values `[A]` and goal, as little less as will do for a way to be known."""
    wanted = np.asarray(goal.wanted)
    for shift in _shifts(wanted & is_number(planner.table.space)):
        there, fewer = values - shift, replace(goal, values=np.asarray(goal.values) - shift)
        if (there < 0).any() or (fewer.values < 0).any() or not len(planner.table.satisfying(fewer)):
            continue
        number = most_alike(planner.table, there, fewer, planner.distances(fewer).successor != NOWHERE)
        if number != UNKNOWN and (planner.table.values[number] == there)[wanted].all():
            return Shifted(fewer, shift)
    return None


def _shifts(numbers: np.ndarray) -> Iterator[np.ndarray]:
    """`int32[A]` ways to lower the attributes that are `numbers` `bool[A]`, the smallest first."""
    for total in range(1, MOST_SHIFTED + 1):
        for chosen in combinations_with_replacement(np.flatnonzero(numbers).tolist(), total):
            yield np.bincount(chosen, minlength=len(numbers)).astype(np.int32)
