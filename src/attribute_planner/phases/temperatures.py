"""The temperature at which π samples, if it learns off-policy: environments of practice differ in it, the best is kept.

Sampling gets a policy out of loops, and finds better actions. Where every step is a risk, as on slippery ice, the same
samples are what fails. Which of both matters more is not known in advance, so it is measured: the same policy acts at
several temperatures at once. They are equal in the first half of practice, when there is most to be found. The attempts
of all of them are learned from and counted.
"""

import numpy as np
from jaxtyping import Float, Int

from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.replay import Replay

INVERSE_TEMPERATURES = (1.0, 4.0, 16.0)
"""Factors of the policy's log probabilities at the end of practice; the environments take them in turn."""

RECENT_ATTEMPTS = 6_000
"""The number of attempts, the last ones, that are compared."""


def inverse_temperatures(num_envs: int, done: float) -> Float[np.ndarray, " B"]:
    """The factor of each environment after a fraction of practice; 1 in the first half."""
    exponent = np.float32(np.clip(2 * done - 1, 0, 1))
    return np.resize(np.array(INVERSE_TEMPERATURES, np.float32) ** exponent, num_envs)


def best_inverse_temperature(log: AttemptLog, replay: Replay, discount: float, done: float) -> float:
    """The factor with which attempts arrive most often and soonest, compared with others at the same transition.

    done: the fraction of practice after which they are compared.
    """
    rows = log.decided(replay)[-RECENT_ATTEMPTS:]
    if not len(rows):
        return 1.0
    first, last, env, reached = rows.T
    begun = replay.steps_at(first, env)
    score = reached * discount ** (last - first)
    score = score - mean_of_group(score, _numbered(np.concatenate([begun.values, begun.pursued], axis=1)))
    factor = inverse_temperatures(replay.num_envs, done)[env]
    gains = {each: score[factor == each].mean() for each in np.unique(factor).tolist()}
    return max(gains, key=gains.__getitem__)


def mean_of_group(score: Float[np.ndarray, " N"], group: Int[np.ndarray, " N"]) -> Float[np.ndarray, " N"]:
    """The mean score of all members of each one's group."""
    return (np.bincount(group, weights=score) / np.maximum(np.bincount(group), 1))[group]


def _numbered(rows: Int[np.ndarray, "N K"]) -> Int[np.ndarray, " N"]:
    """Equal rows have equal numbers."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
