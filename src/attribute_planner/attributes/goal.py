"""Goals: what the user wants of some attributes; whatever is not mentioned does not matter."""

from collections.abc import Mapping
from dataclasses import dataclass

import jax
import numpy as np

from attribute_planner.attributes.space import Array, AttributeSpace, Value, key_of_words
from attribute_planner.errors import GoalError


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Goal:
    """A possibly partial attribute set, or a batch of them.

    values: `[..., A]` wanted value of each attribute; without meaning where not wanted.
    wanted: `[..., A]` whether the attribute matters.
    """

    values: Array
    wanted: Array

    def satisfied_by(self, values: Array) -> Array | np.bool_:
        """`[...]` whether attribute sets `[..., A]` are what the goal asks for."""
        return ((self.values == values) | ~self.wanted).all(axis=-1)

    def __getitem__(self, index: int) -> "Goal":
        """One goal of a batch, on the host."""
        return Goal(np.asarray(self.values[index]), np.asarray(self.wanted[index]))

    def key(self, space: AttributeSpace) -> tuple[int, int]:
        """What two goals share if and only if the same sets satisfy them."""
        wanted = np.asarray(self.wanted)
        mask = np.packbits(wanted).tobytes()
        return key_of_words(space.pack(np.where(wanted, self.values, 0))), int.from_bytes(mask, "little")

    def named(self, space: AttributeSpace) -> dict[str, Value]:
        """The goal as people write it."""
        return {each.name: each.decode(self.values[i]) for i, each in enumerate(space.attributes) if self.wanted[i]}


def goal_from_names(space: AttributeSpace, named: Mapping[str, Value]) -> Goal:
    """The goal `{"switch_0": "red"}`; attributes that are not mentioned are free."""
    if not named:
        raise GoalError(f"The goal is empty: name at least one of {', '.join(space.names)}.")
    values, wanted = np.zeros(len(space), np.int32), np.zeros(len(space), bool)
    for name, value in named.items():
        position = space.index(name)
        values[position], wanted[position] = space.attributes[position].encode(value), True
    return Goal(values, wanted)


def parse_goal(space: AttributeSpace, text: str) -> Goal:
    """The goal written as `switch_0=red switch_2=blue`; commas are fine, and a bare name means a true binary attribute."""
    named: dict[str, Value] = {}
    for part in text.replace(",", " ").split():
        name, equals, value = part.partition("=")
        attribute = space.attributes[space.index(name)]
        if not equals and not attribute.is_binary:
            raise GoalError(f"{name!r} needs a value, as in {name}={attribute.values[0]}.")
        index = attribute.encode(value if equals else "true")
        if name in named and attribute.encode(named[name]) != index:
            raise GoalError(f"The goal contradicts itself: {name} cannot be {named[name]} and {value} at once.")
        named[name] = attribute.decode(index)
    return goal_from_names(space, named)
