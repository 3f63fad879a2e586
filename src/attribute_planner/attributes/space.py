"""Attributes: named properties of a state, and sets of their values.

An attribute set ρ has three forms:

- *named*, `{"switch_0": "red"}`: for users;
- *values*, `int32[A]`: the index of each attribute's value, for networks and rules;
- *words*, `uint32[W]`: all values packed into bits, for tables.

The integer `key` of a set is its words read as one number. Packing is exact for any number of attributes: two different
sets never share a key.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import no_type_check

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, UInt32

from attribute_planner.errors import ConfigurationError, EnvironmentFaultError, UnknownNameError, unknown_name

Array = jax.Array | np.ndarray
Value = str | int | bool

BITS_PER_WORD = 32
MAX_VALUES = 2**16


@no_type_check  # wrong values raise a `ConfigurationError`
@dataclass(frozen=True)
class Attribute:
    """One property of a state; binary by default.

    name: name of the attribute.
    values: names of its values, or a `range` for an integer attribute.
    """

    name: str
    values: Sequence[str] | range = ("false", "true")

    def __post_init__(self) -> None:
        if not self.is_integer and not _are_names(self.values):
            raise ConfigurationError(
                f"Attribute {self.name!r}: values must be a tuple of names, or a range of integers."
            )
        if not isinstance(self.values, range):
            object.__setattr__(self, "values", tuple(self.values))
        if not self.name or any(c.isspace() or c in "=," for c in self.name):
            raise ConfigurationError(
                f"Attribute name {self.name!r} must not be empty, nor contain spaces, commas or '='."
            )
        if not 2 <= len(self.values) <= MAX_VALUES:
            raise ConfigurationError(
                f"Attribute {self.name!r} has {len(self.values)} values; it needs between 2 and {MAX_VALUES}."
            )
        if len(set(self.values)) < len(self.values):
            raise ConfigurationError(
                f"Attribute {self.name!r} names a value twice: {', '.join(map(str, self.values))}."
            )

    @property
    def is_binary(self) -> bool:
        return self.values == ("false", "true")

    @property
    def is_integer(self) -> bool:
        return isinstance(self.values, range)

    @property
    def kind(self) -> str:
        """`binary`, `integer` or `categorical`."""
        return "binary" if self.is_binary else "integer" if self.is_integer else "categorical"

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.values)

    def encode(self, value: Value) -> int:
        """The index of a value, given by name or index or, for an integer attribute, as the integer itself."""
        text = str(value).strip()
        names = [str(each) for each in self.values]
        if isinstance(value, (bool, np.bool_)) or self.is_binary:
            text = text.lower()
        if text in names:
            return names.index(text)
        if not self.is_integer and text.isdecimal() and int(text) < self.size:
            return int(text)
        raise unknown_name(f"value of attribute {self.name!r}", value, self._shown_values())

    def decode(self, index: int | np.integer) -> Value:
        """The value at an index: a bool, an int or a name, depending on the kind of attribute."""
        return bool(index) if self.is_binary else self.values[int(index)]

    def _shown_values(self) -> list[str]:
        if self.is_integer and self.size > 12:
            return [f"{self.values[0]} … {self.values[-1]}"]
        return [str(each) for each in self.values]


@dataclass(frozen=True)
class AttributeSpace:
    """All attributes of an environment, in order. Converts between the forms of an attribute set."""

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        if not self.attributes:
            raise ConfigurationError("An environment needs at least one attribute.")
        if len(set(self.names)) < len(self.names):
            raise ConfigurationError(f"Two attributes share a name: {', '.join(self.names)}.")

    def __len__(self) -> int:
        return len(self.attributes)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.attributes)

    @cached_property
    def sizes(self) -> Int[np.ndarray, "A"]:
        """Number of values of each attribute."""
        return np.array([each.size for each in self.attributes], np.int32)

    @cached_property
    def offsets(self) -> Int[np.ndarray, "A"]:
        """Start of each attribute's values in the one-hot form of a set."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int32)

    @cached_property
    def _layout(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`[A]` word, shift and width in bits of each attribute; no attribute spans two words."""
        widths = np.array([int(size - 1).bit_length() for size in self.sizes])
        word, shift, words, shifts = 0, 0, [], []
        for width in widths:
            if shift + width > BITS_PER_WORD:
                word, shift = word + 1, 0
            words.append(word)
            shifts.append(shift)
            shift += int(width)
        return np.array(words), np.array(shifts), widths

    @cached_property
    def _places(self) -> list[int]:
        """`[A]` position of each attribute's first bit in the key."""
        words, shifts, _ = self._layout
        return (BITS_PER_WORD * words + shifts).tolist()

    @property
    def num_words(self) -> int:
        """W, the number of 32-bit words of a packed set."""
        return int(self._layout[0][-1]) + 1

    def index(self, name: str) -> int:
        """The position of the attribute called `name`."""
        if name not in self.names:
            raise unknown_name("attribute", name, self.names)
        return self.names.index(name)

    def encode(self, named: Mapping[str, Value]) -> Int[np.ndarray, "A"]:
        """The values of a complete named set."""
        wanted = {self.index(name): value for name, value in named.items()}
        missing = [name for position, name in enumerate(self.names) if position not in wanted]
        if missing:
            raise UnknownNameError(f"A complete attribute set is needed; it lacks: {', '.join(missing)}.")
        return np.array([each.encode(wanted[i]) for i, each in enumerate(self.attributes)], np.int32)

    def decode(self, values: Int[Array, "{len(self)}"]) -> dict[str, Value]:
        """The named form of a set."""
        return {each.name: each.decode(value) for each, value in zip(self.attributes, np.asarray(values), strict=True)}

    def validate(self, values: Array, source: str) -> np.ndarray:
        """Values `[..., A]` as int32. Raises an error that names `source` if shape or range is wrong."""
        values = np.asarray(values)
        if values.shape[-1:] != (len(self),):
            raise EnvironmentFaultError(
                f"{source} returned attributes of shape {values.shape}; the last axis must be {len(self)}."
            )
        outside = (values < 0) | (values >= self.sizes)
        if outside.any():
            where = int(np.argwhere(outside)[0][-1])
            attribute, wrong = self.attributes[where], values[outside].flat[0]
            raise EnvironmentFaultError(
                f"{source} returned index {wrong} for attribute {attribute.name!r}, "
                f"which has {attribute.size} values (0 to {attribute.size - 1})."
            )
        return values.astype(np.int32)

    def pack(self, values: Int[Array, "*batch {len(self)}"]) -> UInt32[Array, "*batch {self.num_words}"]:
        """The words of sets given by values. NumPy arrays give NumPy arrays, JAX arrays give JAX arrays."""
        xp = _array_module(values)
        words, shifts, _ = self._layout
        shifted = values.astype(xp.uint32) << _spread(shifts, values.shape, xp)
        return xp.stack(
            [shifted[..., words == word].sum(axis=-1, dtype=xp.uint32) for word in range(self.num_words)], axis=-1
        )

    def unpack(self, words: UInt32[Array, "*batch {self.num_words}"]) -> Int[Array, "*batch {len(self)}"]:
        """The values of sets given by words: the inverse of `pack`."""
        xp = _array_module(words)
        word, shifts, widths = self._layout
        chosen = words[..., word]
        shifted = chosen >> _spread(shifts, chosen.shape, xp)
        return (shifted & _spread(2**widths - 1, chosen.shape, xp)).astype(xp.int32)

    def key(self, values: Int[Array, "A"]) -> int:
        """The integer key of a set: its words read as one number."""
        key = 0
        for value, place in zip(values.tolist(), self._places, strict=True):
            key |= value << place
        return key

    def values_of_key(self, key: int) -> Int[np.ndarray, "A"]:
        """The values of the set with this key."""
        words = [(key >> (BITS_PER_WORD * i)) & (2**BITS_PER_WORD - 1) for i in range(self.num_words)]
        return np.asarray(self.unpack(np.array(words, np.uint32)))

    def one_hot(self, values: Int[Array, "*batch {len(self)}"]) -> Float[jax.Array, "*batch {self.sizes.sum()}"]:
        """One-hot values, attribute after attribute; a negative value gives zeros."""
        owner = np.repeat(np.arange(len(self)), self.sizes)
        value = (np.arange(len(owner)) - self.offsets[owner]).astype(np.int32)
        here = jnp.asarray(values, jnp.int32)[..., owner]
        return (here == value.reshape((1,) * (here.ndim - 1) + value.shape)).astype(jnp.float32)

    def by_attribute(self, outputs: Float[jax.Array, "*batch {self.sizes.sum()}"]) -> Float[jax.Array, "*batch A V"]:
        """Outputs in the layout of `one_hot`, split by attribute; V is the largest size, padded with `NO_CHANCE`."""
        places = self.offsets[:, None] + np.arange(self.sizes.max())
        exists = np.arange(self.sizes.max()) < self.sizes[:, None]
        chosen = outputs[..., np.where(exists, places, 0)]
        return jnp.where(jnp.asarray(exists).reshape((1,) * (chosen.ndim - 2) + exists.shape), chosen, NO_CHANCE)


NO_CHANCE = -1e9
"""Logit of a value that an attribute does not have."""


def _are_names(values: object) -> bool:
    return isinstance(values, Sequence) and not isinstance(values, str) and all(isinstance(v, str) for v in values)


def key_of_words(words: UInt32[np.ndarray, "W"]) -> int:
    """The integer key of one packed set."""
    return int.from_bytes(np.ascontiguousarray(words, "<u4").tobytes(), "little")


def _spread(row: np.ndarray, shape: tuple[int, ...], xp: ModuleType) -> Array:
    """A row `[A]` as `uint32`, broadcast to `shape`."""
    return xp.broadcast_to(xp.asarray(row, xp.uint32), shape)


def _array_module(array: Array) -> ModuleType:
    return np if isinstance(array, np.ndarray) else jnp
