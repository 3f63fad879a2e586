"""The exploration policy π_e that learns: it acts without a goal and is rewarded for rare transitions."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from attribute_planner.data.trajectories import TracedActor, Trajectories
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.learning.policy_gradient import Batch
from attribute_planner.models.encoders import NO_VALUE, no_values
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array


class PolicyInfo(NamedTuple):
    """Log probability of the action and value estimate."""

    log_prob: Float[jax.Array, " B"]
    value: Float[jax.Array, " B"]


class ExplorationPolicy(TracedActor[None]):
    """Acts by a policy that is given no goal: π_e."""

    policy: GoalPolicy

    def begin(self, num_envs: int, *, key: Key) -> None:
        return None

    def act(
        self, memory: None, observation: Observation, attributes: Int[jax.Array, "B A"], *, key: Key
    ) -> tuple[None, Action, PolicyInfo]:
        output = self.policy(observation, attributes, jnp.full_like(attributes, NO_VALUE))
        action = output.sample(key=key)
        return None, action, PolicyInfo(output.log_prob(action), output.baseline)


def observed_snapshots(env: Environment, snapshots: Any) -> Any:
    """`[T, B, ...]` the observations of snapshots."""
    length, num_envs = jax.tree.leaves(snapshots)[0].shape[:2]
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), snapshots)
    return jax.tree.map(lambda leaf: leaf.reshape(length, num_envs, *leaf.shape[1:]), env.observe_batch(flat))


def exploration_batch(env: Environment, trajectories: Trajectories, reward: Float[np.ndarray, "T B"]) -> Batch:
    """The steps as a batch to learn from, without a goal."""
    info: PolicyInfo = trajectories.info
    values = jnp.asarray(env.attributes.unpack(jnp.asarray(trajectories.attributes)))
    return Batch(
        observation=trajectories.observation,
        values=values,
        goal=no_values(env.attributes, values.shape[:-1]),
        action=trajectories.action,
        log_prob=info.log_prob,
        value=info.value,
        reward=jnp.asarray(reward),
        ended=jnp.asarray(trajectories.terminated),
        cut=jnp.asarray(trajectories.truncated),
        weight=jnp.ones(reward.shape),
        imitate=jnp.zeros(reward.shape, bool),
    )
