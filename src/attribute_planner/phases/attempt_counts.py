"""How often attempts were made and succeeded: the statistics A_π and S_π of each edge."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from attribute_planner.data.attempt_log import ARRIVED, CUT_OFF, FAILED, AttemptLog
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.phases.attempts import AttemptInfo, Outcome
from attribute_planner.transitions.numbering import UNKNOWN


class EndedAttempts(NamedTuple):
    """Attempts at edges that are over.

    edge: the edge.
    reached: whether it arrived.
    steps: the steps that it took.
    weight: 1, or for an attempt that was cut off the fraction of t_max that it had.
    """

    edge: Int[np.ndarray, " N"]
    reached: Bool[np.ndarray, " N"]
    steps: Float[np.ndarray, " N"]
    weight: Float[np.ndarray, " N"]

    def counts(self, num_edges: int) -> Float[np.ndarray, "3 E"]:
        """Attempts, successes and steps of each edge."""
        columns = (self.weight, self.reached.astype(float), self.steps)
        counts = np.zeros((3, num_edges))
        for count, column in zip(counts, columns, strict=True):
            np.add.at(count, self.edge, column)
        return counts


def ended_attempts(trajectories: Trajectories, max_attempt_steps: int, *, last: bool) -> EndedAttempts:
    """The attempts that ended within a rollout; those under way at its end are cut off if it is the `last` one.

    An attempt that is cut off has not arrived so far, but might have arrived later: it counts as the fraction of an
    attempt that it had. Dropping it would favour attempts that arrive soon; counting it as a failure, attempts that
    begin early.
    """
    info: AttemptInfo = trajectories.info
    outcome: Outcome = trajectories.outcome
    ended, which = np.asarray(outcome.ended), _over(trajectories, last=last)
    steps = np.asarray(info.age)[which] + 1.0
    weight = np.where(ended[which], 1.0, np.minimum(steps / max_attempt_steps, 1.0))
    edge, reached = (np.asarray(each)[which] for each in (info.edge, outcome.reached))
    return EndedAttempts(edge, reached, steps, weight)


def log_attempts(log: AttemptLog, trajectories: Trajectories, first: int, *, last: bool) -> None:
    """Record the same attempts; `first`: the number of the first step of the rollout in the replay buffer."""
    info: AttemptInfo = trajectories.info
    outcome: Outcome = trajectories.outcome
    step, env = np.nonzero(_over(trajectories, last=last))
    ended, reached = (np.asarray(each)[step, env] for each in (outcome.ended, outcome.reached))
    result = np.select([reached, ended], [ARRIVED, FAILED], CUT_OFF)
    log.add(first + step, env, np.asarray(info.age)[step, env], result)


def _over(trajectories: Trajectories, *, last: bool) -> Bool[np.ndarray, "T B"]:
    """The last steps of attempts at edges, which ended or were cut off."""
    outcome: Outcome = trajectories.outcome
    over = np.asarray(outcome.ended) | np.asarray(trajectories.truncated)
    if last:
        over[-1] = True
    return over & (np.asarray(trajectories.info.edge) != UNKNOWN)


def count_attempts(
    counts: Int[jax.Array, "3 E"],
    trajectories: Trajectories,
    steps_left: Int[jax.Array, " T"] | None = None,
    horizon: Int[jax.Array, ""] | int = 0,
) -> Int[jax.Array, "3 E"]:
    """Attempts, successes and steps of each edge, with those of the trajectories added.

    An attempt counts for the edge that it pursued, whichever set it ended in. One that the end of its episode cuts off
    counts as a failure.

    steps_left: the steps that will follow each step. An attempt counts only if at least `horizon` steps
        were left when it began: otherwise slow attempts, which fail more often, would be missing at the end.
    """
    outcome: Outcome = trajectories.outcome
    info: AttemptInfo = trajectories.info
    known = info.edge != UNKNOWN
    if steps_left is not None:
        known &= steps_left[:, None] + 1 + info.age >= horizon
    counted = (outcome.ended | trajectories.truncated) & known
    # An edge past the end is dropped.
    none = counts.shape[1]
    place = jnp.where(counted, info.edge, none)
    counts = counts.at[0, place].add(1, mode="drop")
    counts = counts.at[1, place].add(outcome.reached.astype(jnp.int32), mode="drop")
    return counts.at[2, jnp.where(known, info.edge, none)].add(1, mode="drop")
