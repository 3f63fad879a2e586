"""Reactive policies: actors that map observation, attributes and goal to an action, without a plan."""

from typing import Any, NamedTuple

import equinox as eqx
import jax

from attribute_planner.data.trajectories import TracedActor
from attribute_planner.environments.spaces import Action
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array


class ActionInfo(NamedTuple):
    """Recorded with each action, `[B]`: its log probability and the value estimate."""

    log_prob: jax.Array
    value: jax.Array


class ReactivePolicy(TracedActor[None]):
    """Acts by a goal policy in environments with tasks. The outcome of a step is whether it reached the goal."""

    policy: GoalPolicy
    deterministic: bool = eqx.field(static=True, default=False)

    def begin(self, num_envs: int, *, key: Key) -> None:
        return None

    def act(self, memory: None, observation: Any, attributes: Any, *, key: Key) -> tuple[None, Action, ActionInfo]:
        output = self.policy(observation.observation, attributes, observation.goal)
        action = output.mode() if self.deterministic else output.sample(key=key)
        return None, action, ActionInfo(output.log_prob(action), output.baseline)

    def observe(self, memory: None, timestep: TimeStep) -> tuple[None, Any]:
        observation: Any = timestep.observation
        return None, observation.reached
