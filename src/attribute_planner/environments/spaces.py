"""Observations and actions as arrays: their structure, and random actions. `space_specs` describes them."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.space_specs import ABSENT as ABSENT
from attribute_planner.environments.space_specs import ActionSpace as ActionSpace
from attribute_planner.environments.space_specs import Box as Box
from attribute_planner.environments.space_specs import Discrete as Discrete
from attribute_planner.environments.space_specs import FlatSpec as FlatSpec
from attribute_planner.environments.space_specs import ImageSpec as ImageSpec
from attribute_planner.environments.space_specs import Marker as Marker
from attribute_planner.environments.space_specs import Mixed as Mixed
from attribute_planner.environments.space_specs import ObservationSpec as ObservationSpec
from attribute_planner.environments.space_specs import Part as Part
from attribute_planner.environments.space_specs import VectorSpec as VectorSpec
from attribute_planner.environments.space_specs import WordsSpec as WordsSpec

Array = jax.Array | np.ndarray


class UnitObservation(NamedTuple):
    """Observation of several units that act at once.

    values: `[..., U, *shape]` one observation per unit.
    active: `bool[..., U]` mask of the units that accept actions; the actions of the others are ignored.
    """

    values: Array
    active: Array


class GoalObservation(NamedTuple):
    """The observation of an environment with tasks, for goal-conditioned policies.

    observation: that of the environment without tasks.
    goal: `int32[..., A]` the wanted value of each attribute, a sentinel where the goal does not specify it.
    reached: `bool[...]` whether the goal holds.
    """

    observation: Any
    goal: Array
    reached: Array


Observation = Array | UnitObservation | GoalObservation


class MixedAction(NamedTuple):
    """choice: `int32[...]`; point: `float32[..., dimensions]`."""

    choice: Array
    point: Array


Action = Array | MixedAction


def uniform_action(space: ActionSpace, batch: tuple[int, ...], *, key: jax.Array) -> Action:
    """Uniformly random actions `[*batch]`."""
    if isinstance(space, Discrete):
        return _uniform_choice(space, batch, key=key)
    if isinstance(space, Box):
        return _uniform_point(space, batch, key=key)
    choice_key, point_key = jax.random.split(key)
    return MixedAction(
        _uniform_choice(space.choice, batch, key=choice_key), _uniform_point(space.point, batch, key=point_key)
    )


def _uniform_choice(space: Discrete, batch: tuple[int, ...], *, key: jax.Array) -> jax.Array:
    return jax.random.randint(key, batch, 0, space.count)


def _uniform_point(space: Box, batch: tuple[int, ...], *, key: jax.Array) -> jax.Array:
    shape = (*batch, space.dimensions)
    low, high = (jnp.broadcast_to(jnp.array(bound, jnp.float32), shape) for bound in (space.low, space.high))
    return low + (high - low) * jax.random.uniform(key, shape)


def nearby_actions(space: ActionSpace, action: Action, spread: float, *, key: jax.Array) -> Action:
    """Actions with Gaussian noise on their points, with standard deviation `spread` times the width of the box."""
    assert not isinstance(space, Discrete), "discrete actions have no neighbourhood"
    if isinstance(space, Mixed):
        assert isinstance(action, MixedAction)
        return MixedAction(action.choice, _nearby(space.point, jnp.asarray(action.point), spread, key))
    return _nearby(space, jnp.asarray(action), spread, key)


def _nearby(space: Box, point: jax.Array, spread: float, key: jax.Array) -> jax.Array:
    low, high = (
        jnp.array(bound, jnp.float32).reshape((1,) * (point.ndim - 1) + (-1,)) for bound in (space.low, space.high)
    )
    return jnp.clip(point + spread * (high - low) * jax.random.normal(key, point.shape), low, high)
