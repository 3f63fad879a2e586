"""Acting without a goal: by chance, or by a policy that learns to seek what is rare."""

from typing import NamedTuple

import equinox as eqx
import jax

from attribute_planner.data.collecting import Actor, Arrival
from attribute_planner.data.random_actions import any_action, kept_up
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.models.encoders import no_values
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array


class Roamed(NamedTuple):
    """What the exploring policy did, and thought then; `[B]` each."""

    action: Action
    log_prob: jax.Array
    baseline: jax.Array


class FreeRoaming(Actor[None]):
    """Acts by a policy that is given no goal: π_e."""

    policy: GoalPolicy
    env: Environment = eqx.field(static=True)

    def begin(self, num_envs: int) -> None:
        return None

    def act(
        self, memory: None, observation: Observation, values: jax.Array, *, key: Key
    ) -> tuple[None, Action, Roamed]:
        output = self.policy(observation, values, no_values(self.env.attributes, values.shape[:-1]))
        action = output.sample(key=key)
        return None, action, Roamed(action, output.log_prob(action), output.baseline)

    def observe(self, memory: None, arrival: Arrival) -> tuple[None, None]:
        return None, None


class Acted(NamedTuple):
    """What was done; `[B]`."""

    action: Action


class RandomActions(Actor[Action]):
    """Acts at random: the most naive exploratory policy. Remembers what was done last.

    persistence: for how many steps an action is kept up, on average; each unit decides for itself.
    """

    env: Environment = eqx.field(static=True)
    action_repeat: float = eqx.field(static=True, default=1.0)

    def begin(self, num_envs: int) -> Action:
        return any_action(self.env, num_envs, key=jax.random.key(0))

    def act(
        self, memory: Action, observation: Observation, values: jax.Array, *, key: Key
    ) -> tuple[Action, Action, Acted]:
        action = kept_up(self.env, memory, self.action_repeat, key=key)
        return action, action, Acted(action)

    def observe(self, memory: Action, arrival: Arrival) -> tuple[Action, None]:
        return memory, None
