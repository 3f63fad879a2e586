"""Acting at random: anew at each step, or keeping up for a while what was begun."""

import jax

from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, MixedAction, nearby_actions, uniform_action
from attribute_planner.environments.vector_env import where_batch

Key = jax.Array

KEPT_WITHIN = 0.03
"""How far from a point that is kept up the next one lies, about, as a share of its range."""


def any_action(env: Environment, num_envs: int, *, key: Key) -> Action:
    """Uniformly random actions `[copies]`, of each unit where there are several."""
    return uniform_action(env.actions, (num_envs,) if env.num_units is None else (num_envs, env.num_units), key=key)


def kept_up(env: Environment, held: Action, action_repeat: float, *, key: Key) -> Action:
    """The actions held, but for a share of 1 / persistence of them, which are drawn anew.

    Of a choice with a point, the point is kept up, and the choice drawn anew each time: one thing after the other is
    done at the same place.
    """
    shape = jax.tree.leaves(held)[0].shape[: 1 if env.num_units is None else 2]
    fresh_key, change_key = jax.random.split(key)
    fresh = uniform_action(env.actions, shape, key=fresh_key)
    if isinstance(fresh, MixedAction) and isinstance(held, MixedAction):
        near = nearby_actions(env.actions, held, KEPT_WITHIN, key=jax.random.fold_in(change_key, 1))
        held = MixedAction(fresh.choice, near.point)  # pyright: ignore[reportAttributeAccessIssue]
    return where_batch(jax.random.uniform(change_key, shape) * action_repeat < 1.0, fresh, held)
