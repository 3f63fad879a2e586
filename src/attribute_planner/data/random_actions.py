"""Random actions: a new one at each step, or each repeated for several steps on average."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Float

from attribute_planner.data.trajectories import Actor, TracedActor
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, MixedAction, Observation, nearby_actions, uniform_action
from attribute_planner.environments.vector_env import where_batch

Key = jax.Array

KEPT_WITHIN = 0.03
"""Standard deviation of the next point around one that is held, as a fraction of its range."""


class RandomActions(TracedActor[Action]):
    """Takes random actions. Its memory is the last action.

    action_repeat: the mean number of steps for which an action is repeated, by each unit separately.
    """

    env: Environment = eqx.field(static=True)
    action_repeat: float = eqx.field(static=True, default=1.0)

    def begin(self, num_envs: int, *, key: Key) -> Action:
        return any_action(self.env, num_envs, key=key)

    def act(
        self, memory: Action, observation: Observation, attributes: Any, *, key: Key
    ) -> tuple[Action, Action, None]:
        del observation, attributes
        action = kept_up(self.env, memory, self.action_repeat, key=key)
        return action, action, None


@dataclass(frozen=True)
class UniformActions(Actor[int]):
    """Acts uniformly at random. Its memory is the number of environments. It is not traced: what runs once is not
    worth compiling.

    variant: with the same keys, each variant takes other actions.
    """

    env: Environment
    variant: int = 0

    def begin(self, num_envs: int, *, key: Key) -> int:
        del key
        return num_envs

    def act(self, memory: int, observation: Observation, attributes: Any, *, key: Key) -> tuple[int, Action, None]:
        del observation, attributes
        return memory, any_action(self.env, memory, key=jax.random.fold_in(key, self.variant)), None


def any_action(env: Environment, num_envs: int, *, key: Key) -> Action:
    """`[num_envs]` uniformly random actions, one for each unit where there are several."""
    return uniform_action(env.actions, (num_envs,) if env.num_units is None else (num_envs, env.num_units), key=key)


def kept_up(env: Environment, held: Action, action_repeat: float | Float[jax.Array, "*batch"], *, key: Key) -> Action:
    """The actions that are held, except for a random fraction 1 / action_repeat, which is drawn again.

    Of a mixed action, the point is repeated and the choice is drawn at each step, so that different choices are made at
    the same point.
    """
    shape = jax.tree.leaves(held)[0].shape[: 1 if env.num_units is None else 2]
    fresh_key, change_key, near_key = jax.random.split(key, 3)
    fresh = uniform_action(env.actions, shape, key=fresh_key)
    if isinstance(fresh, MixedAction) and isinstance(held, MixedAction):
        near = nearby_actions(env.actions, held, KEPT_WITHIN, key=near_key)
        held = MixedAction(fresh.choice, near.point)  # pyright: ignore[reportAttributeAccessIssue]
    return where_batch(jax.random.uniform(change_key, shape) * action_repeat < 1.0, fresh, held)
