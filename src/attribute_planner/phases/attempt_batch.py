"""Attempts as steps to learn from, with rewards and goals in hindsight."""

import jax
import jax.numpy as jnp
from jaxtyping import Bool, UInt32

from attribute_planner.data.trajectories import Trajectories
from attribute_planner.learning.policy_gradient import Batch
from attribute_planner.phases.attempts import AttemptInfo, Outcome, goal_values
from attribute_planner.phases.device_graph import DeviceGraph
from attribute_planner.transitions.numbering import UNKNOWN

Key = jax.Array

STEP_REWARD = -0.01
"""Default reward of every step; reaching the target adds 1."""

HINDSIGHT = 0.5
"""Default fraction of the attempts that ended in another set and are used as examples of reaching it."""


def attempt_batch(
    graph: DeviceGraph, trajectories: Trajectories, *, step_reward: float, hindsight_share: float, key: Key
) -> Batch:
    """The attempts as steps to learn from: `step_reward` for every step, and 1 for reaching the target."""
    info: AttemptInfo = trajectories.info
    outcome: Outcome = trajectories.outcome
    relabelled, landed = hindsight(trajectories, hindsight_share, key=key)
    arrived = outcome.reached | (relabelled & outcome.ended)
    return Batch(
        observation=trajectories.observation,
        values=jnp.asarray(graph.space.unpack(jnp.asarray(trajectories.attributes))),
        goal=jnp.where(relabelled[..., None], graph.space.unpack(landed), goal_values(graph, info.edge)),
        action=trajectories.action,
        log_prob=info.log_prob,
        value=info.value,
        reward=step_reward + arrived.astype(jnp.float32),
        ended=outcome.ended,
        cut=jnp.asarray(trajectories.truncated) & ~outcome.ended,
        weight=((info.edge != UNKNOWN) | relabelled).astype(jnp.float32),
        imitate=relabelled,
    )


def ended_elsewhere(trajectories: Trajectories) -> Bool[jax.Array, "T B"]:
    """Whether an attempt ended with a step into another set than its target."""
    outcome: Outcome = trajectories.outcome
    return outcome.ended & ~outcome.reached & trajectories.changed


def hindsight(
    trajectories: Trajectories, share: float, *, key: Key
) -> tuple[Bool[jax.Array, "T B"], UInt32[jax.Array, "T B W"]]:
    """A random fraction of the attempts that ended in another set, as examples of reaching it.

    Whether a step belongs to one of them, and the packed set in which its attempt ended. Steps
    of another episode never do.
    """
    outcome: Outcome = trajectories.outcome
    arrived = jnp.asarray(trajectories.next_attributes)
    chosen = ended_elsewhere(trajectories) & (jax.random.uniform(key, outcome.ended.shape) < share)

    # The step with which the attempt or the episode of each step ends; the last one if neither does.
    last = len(chosen) - 1
    number = jnp.where(outcome.ended | trajectories.over, jnp.arange(last + 1)[:, None], last)
    end = jax.lax.cummin(number, axis=0, reverse=True)
    relabelled = jnp.take_along_axis(chosen, end, axis=0)
    return relabelled, jnp.take_along_axis(arrived, end[..., None], axis=0)
