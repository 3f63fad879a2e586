"""Counting the transitions of exploration, and the bonus of each."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from attribute_planner.data.devices import whole
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.transitions.counting import TransitionCounts

SMOOTHING = 0.001
"""The constant in the paper's smoothed bonus; it bounds the reward of a transition never seen before."""


def inverse_root_count(counts: Int[np.ndarray, " N"], total: int) -> Float[np.ndarray, " N"]:
    """N^-0.5: the paper's bonus for StarCraft."""
    del total
    return counts**-0.5


def inverse_root_share(counts: Int[np.ndarray, " N"], total: int) -> Float[np.ndarray, " N"]:
    """(N/t + 0.001)^-0.5, the paper's bonus for the grid worlds, scaled to at most 1 (Appendix A)."""
    return (counts / max(total, 1) / SMOOTHING + 1) ** -0.5


BONUSES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "count": inverse_root_count,
    "share": inverse_root_share,
}


def count_transitions(
    trajectories: Trajectories,
    counts: TransitionCounts,
    bonus: Callable[[np.ndarray, int], np.ndarray],
    *,
    at_most: int | None = None,
) -> Float[np.ndarray, "T B"]:
    """Count the transitions of the first `at_most` steps; the bonus of each step."""
    source, target = map(np.asarray, whole((trajectories.attributes, trajectories.next_attributes)))
    changed = (source != target).any(axis=-1)
    if at_most is not None:
        changed &= np.arange(changed.size).reshape(changed.shape) < at_most
    reward = np.zeros(changed.shape, np.float32)
    reward[changed] = bonus(counts.record(source[changed], target[changed]), counts.total)
    return reward
