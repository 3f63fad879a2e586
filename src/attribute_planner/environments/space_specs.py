"""Specifications of observations and actions, from which networks choose encoders and heads."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from attribute_planner.errors import ConfigurationError


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
class Marker:
    """The agent in a grid or an image: what the actions move, recognised by the keys of its cells.

    part: the name of the part that shows it.
    keys: the keys that its cells had.
    known: all keys that were seen. A cell with another key may be the agent, if none has one of `keys`.
    others: the types of all other cells that were seen.
    size: its height and width in cells.
    looks: the types that its own cells had in a grid, if there are several: one for each direction that it faces.
    headings: which way its next move goes, where a key of its cell tells: pairs of a key and the number of quarter
        turns to the left after which this way is up.
    """

    part: str
    keys: tuple[int, ...]
    known: tuple[int, ...]
    others: tuple[int, ...]
    size: tuple[int, int]
    looks: tuple[int, ...] = ()
    headings: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Part:
    """A part of a flattened observation: values as the environment gives them.

    name: its name in the environment's space; empty if the observation has only one part.
    shape: its shape before it was flattened.
    kind: `numbers`; `choice`, one of a finite number of values; `text`, the hashes of its words; `image`, whose
        shape is `[height, width, channels]`; or `unused`, of which a network makes nothing.
    first, slots: the values `first` to `first + slots - 1` can be one-hot; `slots` is 0 if no value can.
    integers: whether the space holds integers only.
    seen_from: the agent that a part is seen from (an egocentric view); `None` if it is as the environment gives it.
    """

    name: str
    shape: tuple[int, ...]
    kind: Literal["numbers", "choice", "text", "image", "unused"]
    first: int = 0
    slots: int = 0
    integers: bool = True
    seen_from: Marker | None = None

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class FlatSpec:
    """`[size]` values as the environment gives them, in one type; the network scales or one-hot encodes them.

    parts: the parts of the observation, one after the other; last come those that repeat another one, seen from the
        agent.
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

    @property
    def given(self) -> int:
        """The number of values that the environment gave: those of all parts but the ones seen from the agent."""
        return sum(part.size for part in self.parts if part.seen_from is None)


ObservationSpec = WordsSpec | VectorSpec | FlatSpec | ImageSpec


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


ActionSpace = Discrete | Box | Mixed
