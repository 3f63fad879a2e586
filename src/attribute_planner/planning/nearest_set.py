"""The nearest known set: without a path from the current set, make the change that a similar set would need.

With many attributes, most sets are never visited in training. If two sets differ in attributes that no goal mentions,
the same change usually works in both.
"""

import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.planning.plan import Planner
from attribute_planner.planning.posterior import Posterior, Target
from attribute_planner.transitions.numbering import UNKNOWN, NumberedSets


def nearest_target(
    planner: Planner, posterior: Posterior, goal: Goal, values: Int[np.ndarray, " A"], left: float
) -> Target | None:
    """The values after the change that the best transition out of the nearest set with a path to the goal makes."""
    listing = planner.listing
    number = nearest_set(listing, values, goal, planner.distances(goal).successor != UNKNOWN)
    if number == UNKNOWN:
        return None
    known = listing.values_of([number])[0]

    def failures(targets: Int[np.ndarray, "K A"]) -> np.ndarray:
        """Failures of the same changes, made here."""
        return posterior.failures(
            values, np.stack([same_change(listing.space, values, known, each) for each in targets])
        )

    target = posterior.next_target(known, left, failures)
    if target is None:
        return None
    return target._replace(values=same_change(listing.space, values, known, target.values))


def nearest_set(sets: NumberedSets, values: Int[np.ndarray, " A"], goal: Goal, possible: Bool[np.ndarray, " N"]) -> int:
    """The number of the set, among those possible, that differs least from the values; `UNKNOWN` if there is none.

    Integers differ by their distance, other values by one. Attributes of the goal come first, the rest breaks ties.
    """
    candidates = np.flatnonzero(possible)
    if not len(candidates):
        return UNKNOWN
    difference = np.abs(sets.values[candidates] - values)
    difference = np.where(is_integer(sets.space), difference, difference > 0)
    in_goal, elsewhere = difference[:, goal.wanted].sum(axis=1), difference[:, ~np.asarray(goal.wanted)].sum(axis=1)
    return int(candidates[np.lexsort((elsewhere, in_goal))[0]])


def same_change(
    space: AttributeSpace,
    values: Int[np.ndarray, " A"],
    source: Int[np.ndarray, " A"],
    target: Int[np.ndarray, " A"],
) -> Int[np.ndarray, " A"]:
    """The values, changed as `source` changes into `target`: integers by the same amount, others to the same value."""
    changed = np.where(is_integer(space), np.clip(values + target - source, 0, space.sizes - 1), target)
    return np.where(target == source, values, changed).astype(np.int32)


def is_integer(space: AttributeSpace) -> Bool[np.ndarray, " A"]:
    """Which attributes are integers."""
    return np.array([attribute.is_integer for attribute in space])
