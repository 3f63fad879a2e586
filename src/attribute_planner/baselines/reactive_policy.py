"""Players: what comes out of training a baseline. They react to what they see; none of them plans."""

import abc
from typing import Any, Generic, NamedTuple, TypeVar

import equinox as eqx
import jax

from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array
Memory = TypeVar("Memory")


class ActionInfo(NamedTuple):
    """What a policy thought when it acted; `[B]` each: log probability of the action, expected return."""

    log_prob: jax.Array
    baseline: jax.Array


class ReactivePolicy(eqx.Module, Generic[Memory]):
    """Acts towards goals in a batch of copies. Pure: what it remembers is handed in and out."""

    @abc.abstractmethod
    def begin(self, num_envs: int) -> Memory:
        """The memory at the start of an episode, `[B]` in each leaf."""

    @abc.abstractmethod
    def decide(
        self, memory: Memory, observation: Observation, values: jax.Array, goal: jax.Array, *, key: Key
    ) -> tuple[Memory, Action, Any]:
        """An action `[B]` for each copy, and a record of how it came about that learning asks for.

        values, goal: `int32[B, A]` the attributes as they are and as they should be, `NO_VALUE` where it does not
            matter.
        """

    def act(
        self, memory: Memory, observation: Observation, values: jax.Array, goal: jax.Array, *, key: Key
    ) -> tuple[Memory, Action]:
        """An action `[B]` for each copy."""
        memory, action, _ = self.decide(memory, observation, values, goal, key=key)
        return memory, action


class NetworkPolicy(ReactivePolicy[None]):
    """Acts by a goal policy, which sees all that there is to know."""

    policy: GoalPolicy
    deterministic: bool = eqx.field(static=True, default=False)

    def begin(self, num_envs: int) -> None:
        return None

    def decide(
        self, memory: None, observation: Observation, values: jax.Array, goal: jax.Array, *, key: Key
    ) -> tuple[None, Action, ActionInfo]:
        output = self.policy(observation, values, goal)
        action = output.mode() if self.deterministic else output.sample(key=key)
        return None, action, ActionInfo(output.log_prob(action), output.baseline)
