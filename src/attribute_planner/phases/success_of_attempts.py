"""What the attempts of practice tell about success as a function of the state (`planning.state_success`)."""

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.replay import Replay
from attribute_planner.data.replay_rows import Columns
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.attempted_edges import attempted_edges
from attribute_planner.phases.temperatures import mean_of_group
from attribute_planner.planning.state_success import (
    SuccessModel,
    fitted_weight,
    log_odds,
    values_of,
)
from attribute_planner.transitions.edge_numbers import edge_numbers
from attribute_planner.transitions.model import Listing

BATCH = 1_024
"""The number of attempts whose values are computed at once."""


def success_of_attempts(log: AttemptLog, replay: Replay, policy: GoalPolicy, listing: Listing) -> SuccessModel | None:
    """How values tell which attempts arrive; `None` if they do not."""
    attempts = attempted_edges(log, replay, listing)
    if attempts is None:
        return None
    begun, edge, reached = attempts.begun, attempts.edge, attempts.reached
    odds = np.concatenate([_log_odds(policy, begun, slice(at, at + BATCH)) for at in range(0, len(edge), BATCH)])
    usual = mean_of_group(odds, edge)
    weight = fitted_weight(listing.probability[edge], odds - usual, reached)
    if weight == 0:
        return None
    edges, one = np.unique(edge, return_index=True)
    return SuccessModel(weight, edge_numbers(listing, edges, usual[one]))


def _log_odds(policy: GoalPolicy, begun: Columns, part: slice) -> np.ndarray:
    """The log odds of the values of the targets where some attempts began."""
    observation, values, goal = jax.tree.map(
        lambda leaf: np.resize(leaf[part], (BATCH, *leaf.shape[1:])), (begun.observation, begun.values, begun.pursued)
    )
    found = values_of(policy, observation, jnp.asarray(values, jnp.int32), jnp.asarray(goal, jnp.int32))
    return log_odds(np.asarray(found)[: len(begun.values[part])])
