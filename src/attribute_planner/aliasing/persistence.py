"""Distinguishes a missing attribute from a change that is hard to make.

A missing attribute makes an edge available or not: success is near zero on one side of the split, it jumps at the
split, and failing attempts end on the side on which they began. Where success falls gradually with distance, or failing
attempts move across the split, the policy needs more steps or more training instead.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from attribute_planner.aliasing.records import AttemptRecord
from attribute_planner.environments.splits import Split, Threshold

MAX_FAILING_RATE = 0.15
"""Success on the failing side of an attribute is at most this fraction of that on the other side."""

MIN_SUCCESS_RATE = 0.3
"""Least success on the other side: below it, the policy has hardly learned the change at all."""

MIN_STAYING = 0.9
"""Least share of the failing attempts that end on the side on which they began."""

NEAR = 0.25
"""Share of the attempts of each side, nearest to a threshold, of which success is compared with that of the side."""

MIN_JUMP = 0.8
"""Least part of the difference between the sides that is there right at the threshold."""


def is_attribute_like(
    records: AttemptRecord, rows: Int[np.ndarray, " n"], split: Split, rates: tuple[float, float]
) -> bool:
    """Whether the split looks like a missing attribute, given the held-out success rates outside and inside."""
    outside, inside = rates
    if inside < MIN_SUCCESS_RATE or outside > MAX_FAILING_RATE * inside:
        return False
    observation, reached = records.observation[rows], records.reached[rows]
    if any(jump(observation, reached, split, place) < MIN_JUMP for place in range(len(split.conditions))):
        return False
    if records.last_observation is None:
        return True
    failing = ~reached & ~np.asarray(split.holds(observation))
    stays = ~np.asarray(split.holds(records.last_observation[rows[failing]]))
    return bool(stays.mean() >= MIN_STAYING) if len(stays) else True


def jump(observation: Float[np.ndarray, "n D"], reached: Bool[np.ndarray, " n"], split: Split, place: int) -> float:
    """The part of the difference between the sides of a threshold that is there right at the threshold; 1 for codes.

    Only attempts count for which this condition decides: all others hold, or none of them if one is enough.
    """
    condition = split.conditions[place]
    if not isinstance(condition, Threshold):
        return 1.0
    others = [each.holds(observation) for number, each in enumerate(split.conditions) if number != place]
    decides = np.all([each != split.any_of for each in others], axis=0) if others else np.ones(len(reached), bool)
    distance = np.abs(observation[decides, condition.component] - condition.value)
    holds = condition.holds(observation[decides])
    difference = at_threshold = 0.0
    for side, sign in ((holds, 1), (~holds, -1)):
        if not side.any():
            return 1.0
        # Ties at the edge of the nearest share all count, so that a binary component is compared as a whole.
        near = distance[side] <= np.quantile(distance[side], NEAR)
        difference += sign * reached[decides][side].mean()
        at_threshold += sign * reached[decides][side][near].mean()
    return float(at_threshold / difference) if difference > 0 else 0.0
