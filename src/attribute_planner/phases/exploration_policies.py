"""The exploration policy π_e that learns: it acts without a goal and is rewarded for rare transitions."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from attribute_planner.data.trajectories import Actor
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array


class PolicyInfo(NamedTuple):
    """Log probability of the action and value estimate; `float32[B]` each."""

    log_prob: jax.Array
    value: jax.Array


class ExplorationPolicy(Actor[None]):
    """Acts by a policy that is given no goal: π_e."""

    policy: GoalPolicy

    def begin(self, num_envs: int, *, key: Key) -> None:
        return None

    def act(
        self, memory: None, observation: Observation, attributes: jax.Array, *, key: Key
    ) -> tuple[None, Action, PolicyInfo]:
        output = self.policy(observation, attributes, jnp.full_like(attributes, NO_VALUE))
        action = output.sample(key=key)
        return None, action, PolicyInfo(output.log_prob(action), output.baseline)
