"""Attributes: named properties of a state, and sets of their values.

An attribute set ρ has three forms:

- *named*, `{"switch_0": "red"}`: for users;
- *values*, `int32[A]`: the index of each attribute's value, for networks and rules;
- *words*, `uint32[W]`: all values packed into bits, for tables.

The integer `key` of a set is its words read as one number. Packing is exact for any number of attributes: two different
sets never share a key.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, UInt, UInt32

from attribute_planner.attributes.attribute import Attribute as Attribute
from attribute_planner.attributes.attribute import Value as Value
from attribute_planner.attributes.attribute import encode_named
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError, unknown_name

Array = jax.Array | np.ndarray

BITS_PER_WORD = 32


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
        if (name := next((each for each in self.names if f"{each}>" in self.names), None)) is not None:
            raise ConfigurationError(f"{name!r} and {name + '>'!r} cannot be told apart in a goal like {name}>=1.")

    def __repr__(self) -> str:
        return f"AttributeSpace({', '.join(map(str, self.attributes))})"

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
        return np.array(encode_named(self.attributes, named), np.int32)

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

    def unpack_one(self, words: UInt32[np.ndarray, "N {self.num_words}"], attribute: int) -> UInt[np.ndarray, "N"]:
        """The values of one attribute in sets given by words, in a small type."""
        word, shift, width = (each[attribute] for each in self._layout)
        values = (words[:, word] >> np.uint32(shift)) & np.uint32(2**width - 1)
        return values.astype(np.min_scalar_type(2**width - 1))

    def key(self, values: Int[Array, "A"]) -> int:
        """The integer key of a set: its words read as one number."""
        key = 0
        for value, place in zip(values.tolist(), self._places, strict=True):
            key |= value << place
        return key

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


def key_of_words(words: UInt32[np.ndarray, "W"]) -> int:
    """The integer key of one packed set."""
    return int.from_bytes(np.ascontiguousarray(words, "<u4").tobytes(), "little")


def _spread(row: np.ndarray, shape: tuple[int, ...], xp: ModuleType) -> Array:
    """A row `[A]` as `uint32`, broadcast to `shape`."""
    return xp.broadcast_to(xp.asarray(row, xp.uint32), shape)


def _array_module(array: Array) -> ModuleType:
    return np if isinstance(array, np.ndarray) else jnp
