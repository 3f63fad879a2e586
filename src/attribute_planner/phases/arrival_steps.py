"""How long attempts take that arrive (`planning.attempt_limit`)."""

import numpy as np

from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.replay import Replay
from attribute_planner.phases.attempted_edges import attempted_edges
from attribute_planner.transitions.edge_numbers import EdgeNumbers, edge_numbers
from attribute_planner.transitions.model import Listing


def arrival_steps(log: AttemptLog, replay: Replay, listing: Listing) -> EdgeNumbers | None:
    """The mean steps of the attempts that arrived, by transition; `None` if none did.

    Means of few attempts are uncertain: the median of all transitions counts as one more.
    """
    attempts = attempted_edges(log, replay, listing)
    if attempts is None or not attempts.reached.any():
        return None
    edges, place = np.unique(attempts.edge[attempts.reached], return_inverse=True)
    count, total = np.bincount(place), np.bincount(place, attempts.steps[attempts.reached])
    usual = float(np.median(total / count))
    return edge_numbers(listing, edges, (total + usual) / (count + 1))
