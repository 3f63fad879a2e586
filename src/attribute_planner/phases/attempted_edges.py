"""The last attempts of practice at known edges: where each began, and whether it arrived."""

from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.data.attempt_log import ARRIVED, AttemptLog
from attribute_planner.data.replay import Replay
from attribute_planner.data.replay_rows import Columns
from attribute_planner.transitions.model import Listing

RECENT_ATTEMPTS = 8_192
"""The number of attempts, the last ones, that are looked at."""


class AttemptedEdges(NamedTuple):
    """Attempts at edges of a table, in order.

    begun: the step with which each began.
    steps: how many steps it took.
    episode: its environment, and the number of its episode there.
    """

    begun: Columns
    edge: Int[np.ndarray, " N"]
    reached: Bool[np.ndarray, " N"]
    steps: Int[np.ndarray, " N"]
    episode: Int[np.ndarray, "N 2"]


def attempted_edges(log: AttemptLog, replay: Replay, listing: Listing) -> AttemptedEdges | None:
    """The attempts that arrived or failed; `None` if there are none."""
    first, last, env, outcome = log.decided(replay)[-RECENT_ATTEMPTS:].T
    if not len(first):
        return None
    begun = replay.steps_at(first, env)
    source, target = (np.asarray(listing.space.pack(each.astype(np.int32))) for each in (begun.values, begun.pursued))
    edge, known = listing.known_edges(source, target)
    if not known.any():
        return None
    episode = np.stack([env, replay.episodes_at(first, env)], axis=1)
    begun = jax.tree.map(lambda leaf: leaf[known], begun)
    steps = last - first + 1
    return AttemptedEdges(begun, edge[known], (outcome == ARRIVED)[known], steps[known], episode[known])
