"""Specifications of observations and actions, from which networks choose encoders and heads."""

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.errors import ConfigurationError

Array = jax.Array | np.ndarray


@dataclass(frozen=True)
class WordsSpec:
    """A bag of words: `int16[count]` indices into a vocabulary, `ABSENT` for an empty place.

    count: maximum number of words of an observation.
    vocabulary: number of different words.
    items: `[count]` the item that each word describes.
    """

    count: int
    vocabulary: int
    items: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.count,)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.int16)


ABSENT = -1
"""Index of an absent word."""


@dataclass(frozen=True)
class VectorSpec:
    """`float32[size]`, with entries of about −1 to 1."""

    size: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.size,)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float32)


@dataclass(frozen=True)
class ImageSpec:
    """`uint8[height, width, channels]`."""

    height: int
    width: int
    channels: int = 3

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.height, self.width, self.channels)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.uint8)


@dataclass(frozen=True)
class Part:
    """A part of a flattened observation: values as the environment gives them.

    name: its name in the environment's space; empty if the observation has only one part.
    shape: its shape before it was flattened.
    kind: `numbers`; `choice`, one of a finite number of values; `text`, the hashes of its words; or `image`, whose
        shape is `[height, width, channels]`.
    first, slots: the values `first` to `first + slots - 1` can be one-hot; `slots` is 0 if no value can.
    integers: whether the space holds integers only.
    """

    name: str
    shape: tuple[int, ...]
    kind: Literal["numbers", "choice", "text", "image"]
    first: int = 0
    slots: int = 0
    integers: bool = True

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class FlatSpec:
    """`[size]` values as the environment gives them, in one type; the network scales or one-hot encodes them.

    parts: the parts of the observation, one after the other.
    stored_as: the name of the type.
    """

    parts: tuple[Part, ...]
    stored_as: str

    @property
    def shape(self) -> tuple[int, ...]:
        return (sum(part.size for part in self.parts),)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.stored_as)


ObservationSpec = WordsSpec | VectorSpec | FlatSpec | ImageSpec


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


@dataclass(frozen=True)
class Discrete:
    """A finite set of actions, numbered from 0; an action is an `int32`.

    names: name of each action.
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.names:
            raise ConfigurationError("A discrete action space needs at least one action.")

    @property
    def count(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Box:
    """A point `float32[dimensions]` between `low` and `high`, both finite."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.low) != len(self.high) or not self.low:
            raise ConfigurationError("A Box needs lower and upper bounds of the same length, at least one.")
        if not np.all(np.isfinite([self.low, self.high])) or not np.all(np.less(self.low, self.high)):
            raise ConfigurationError("A Box needs finite bounds with low < high.")

    @property
    def dimensions(self) -> int:
        return len(self.low)


@dataclass(frozen=True)
class Mixed:
    """A discrete choice and a point, as a `MixedAction`."""

    choice: Discrete
    point: Box


class MixedAction(NamedTuple):
    """choice: `int32[...]`; point: `float32[..., dimensions]`."""

    choice: Array
    point: Array


ActionSpace = Discrete | Box | Mixed
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
