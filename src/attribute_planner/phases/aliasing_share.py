"""Which share of failed attempts is due to the state, and so repeats itself (κ of `planning.episode_model`).

After a failure, the same transition is sometimes attempted again in the same episode. If it then mostly fails, although
it succeeds elsewhere, failures are due to the state; if it succeeds as often as ever, they are due to chance.
"""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.optimize import minimize_scalar

from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.replay import Replay
from attribute_planner.phases.attempted_edges import attempted_edges
from attribute_planner.planning.episode_model import EpisodeModel
from attribute_planner.transitions.model import Listing

CERTAIN = 1e-3
"""The least probability of either outcome of an attempt."""


def aliasing_share(log: AttemptLog, replay: Replay, listing: Listing) -> float | None:
    """The most probable share, given the outcomes of repeated attempts; `None` if nothing was attempted again."""
    attempts = attempted_edges(log, replay, listing)
    if attempts is None:
        return None
    edge, reached = attempts.edge, attempts.reached
    failures = earlier_failures(np.concatenate([attempts.episode, edge[:, None]], axis=1), reached)
    again = failures > 0
    return most_probable_share(listing.probability[edge[again]], failures[again], reached[again])


def earlier_failures(place: Int[np.ndarray, "N K"], reached: Bool[np.ndarray, " N"]) -> Int[np.ndarray, " N"]:
    """How many of the attempts before each one, at the same place, failed; attempts are in order."""
    counts: dict[bytes, int] = {}
    earlier = np.zeros(len(reached), int)
    for number, key in enumerate(np.ascontiguousarray(place)):
        earlier[number] = counts.get(key.tobytes(), 0)
        counts[key.tobytes()] = earlier[number] + (not reached[number])
    return earlier


def most_probable_share(
    c: Float[np.ndarray, " N"], failures: Int[np.ndarray, " N"], reached: Bool[np.ndarray, " N"]
) -> float | None:
    """The share that explains the outcomes of attempts after so many failures best; `None` without attempts.

    Before, ½ is the most probable share, and 0 and 1 are impossible (a beta distribution with both parameters 2).
    """
    if not len(c):
        return None

    def loss(share: float) -> float:
        model = EpisodeModel(share)
        # The outcome of an attempt is never certain: the policy has changed since the first of them.
        chance = np.clip(model.attempt(c, failures.astype(float)), CERTAIN, 1 - CERTAIN)
        return float(-np.log(np.where(reached, chance, 1 - chance)).sum() - np.log(share * (1 - share)))

    found: Any = minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded")
    return float(found.x)
