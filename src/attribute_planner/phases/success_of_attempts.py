"""What the attempts of practice tell about success as a function of the state (`planning.state_success`)."""

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.replay import Replay
from attribute_planner.data.replay_rows import Columns
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.planning.state_success import TABLE_ALONE, SuccessModel, fitted_success, values_of
from attribute_planner.transitions.model import Listing

RECENT_ATTEMPTS = 8_192
"""The number of attempts, the last ones, that the model is fitted to."""
BATCH = 1_024
"""The number of attempts whose values are computed at once."""


def success_of_attempts(log: AttemptLog, replay: Replay, policy: GoalPolicy, listing: Listing) -> SuccessModel:
    """The weights of c_π and of the policy's values; the table alone without attempts."""
    rows = log.rows[log.rows[:, 0] >= replay.first][-RECENT_ATTEMPTS:]
    if not len(rows):
        return TABLE_ALONE
    first, _, env, reached = rows.T
    begun = replay.steps_at(first, env)
    source, target = (
        listing.numbers_of(np.asarray(listing.space.pack(each.astype(np.int32))))
        for each in (begun.values, begun.pursued)
    )
    edge = np.minimum(listing.edges_between(source, target), listing.num_edges - 1)
    known = (listing.source[edge] == source) & (listing.target[edge] == target)
    value = np.concatenate([_values(policy, begun, slice(at, at + BATCH)) for at in range(0, len(rows), BATCH)])
    return fitted_success(listing.probability[edge[known]], value[known], reached[known].astype(bool))


def _values(policy: GoalPolicy, begun: Columns, part: slice) -> np.ndarray:
    observation, values, goal = jax.tree.map(
        lambda leaf: np.resize(leaf[part], (BATCH, *leaf.shape[1:])), (begun.observation, begun.values, begun.pursued)
    )
    found = values_of(policy, observation, jnp.asarray(values, jnp.int32), jnp.asarray(goal, jnp.int32))
    return np.asarray(found)[: len(begun.values[part])]
