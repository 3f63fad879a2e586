"""Goals: required values of some attributes. Attributes that a goal does not mention are unconstrained."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.attributes.attribute import MAX_SHOWN, value_text
from attribute_planner.attributes.space import Array, Attribute, AttributeSpace, Value, key_of_words
from attribute_planner.errors import QUOTES, GoalError, one_line

OR_MORE = ">="
"""Prefix of a number that is a lower bound."""

PART = re.compile(r"""[^\s,=]*=(?:"[^"]*"|'[^']*')(?![^\s,])|[^\s,]+""")
"""A part of a goal in text: up to the next space or comma that is not in quotes."""

Bound = tuple[int, bool]
"""Index of the required value, and whether it is a lower bound."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Goal:
    """A possibly partial attribute set, or a batch of them.

    values: required value of each attribute; ignored where `wanted` is false.
    wanted: whether the attribute is constrained.
    at_least: whether the value is a lower bound; `None` if no value is.
    """

    values: Int[Array, "*batch A"]
    wanted: Bool[Array, "*batch A"]
    at_least: Bool[Array, "*batch A"] | None = None

    def satisfied_by(self, values: Int[Array, "*sets A"]) -> Bool[Array, "..."] | np.bool_:
        """Whether attribute sets satisfy the goal. Batches of goals and sets broadcast."""
        met = self.values == values
        if self.at_least is not None:
            met = met | (self.at_least & (self.values < values))
        return (met | ~self.wanted).all(axis=-1)

    def __getitem__(self, index: int) -> "Goal":
        """One goal of a batch, as NumPy arrays."""
        return jax.tree.map(lambda leaf: np.asarray(leaf[index]), self)

    def key(self, space: AttributeSpace) -> tuple[int, int, int]:
        """A key that two goals share if and only if the same sets satisfy them."""
        values, wanted, or_more = np.asarray(self.values), np.asarray(self.wanted), self._or_more()
        # A lower bound at the smallest value is no constraint; one at the largest value is an equality.
        wanted = wanted & ~(or_more & (values == 0))
        or_more = or_more & wanted & (values < space.sizes - 1)
        words = np.asarray(space.pack(np.where(wanted, values, 0)))
        return key_of_words(words), _bits(wanted), _bits(or_more)

    def named(self, space: AttributeSpace) -> dict[str, Value]:
        """The required values by name."""
        return {each.name: each.decode(int(self.values[i])) for i, each in enumerate(space) if self.wanted[i]}

    def text(self, space: AttributeSpace) -> str:
        """The goal in the syntax of `parse_goal`: `depot=1 marine>=2`."""
        return " ".join(self.texts(space))

    def texts(self, space: AttributeSpace) -> list[str]:
        """The same for each attribute: `["depot=1", "marine>=2"]`."""
        or_more = self._or_more()
        signs = {name: OR_MORE if or_more[i] else "=" for i, name in enumerate(space.names)}
        return [f"{name}{signs[name]}{value_text(value)}" for name, value in self.named(space).items()]

    def _or_more(self) -> np.ndarray:
        return np.zeros(self.wanted.shape, bool) if self.at_least is None else np.asarray(self.at_least)


def goal_from_names(space: AttributeSpace, named: Mapping[str, Value] | str) -> Goal:
    """A goal from a dictionary such as `{"depot": 1, "marine": ">=2"}`, or from text as `parse_goal` reads it."""
    if isinstance(named, str):
        return parse_goal(space, named)
    if not isinstance(named, Mapping):
        raise GoalError(f"A goal is a dictionary or a text, as in {space.names[0]}=…; it is {one_line(repr(named))}.")
    return _goal_of(space, {name: _bound(space.attributes[space.index(name)], value) for name, value in named.items()})


def parse_goal(space: AttributeSpace, text: str) -> Goal:
    """A goal from text: `switch_0=red marine>=2`, separated by spaces or commas. A bare name means `name=true`.

    A value that contains spaces or commas is in quotes: `egg="in pot"`.
    """
    bounds: dict[str, Bound] = {}
    for part in PART.findall(text):
        name, value = _split(space, part)
        attribute = space.attributes[space.index(name)]
        if value is None and not attribute.is_binary:
            raise GoalError(f"{name!r} needs a value, as in {name}={attribute.text(0)}.")
        bound = _bound(attribute, True if value is None else value)
        bounds[name] = _both(attribute, bounds[name], bound) if name in bounds else bound
    return _goal_of(space, bounds)


def _split(space: AttributeSpace, part: str) -> tuple[str, str | None]:
    """Name and value of `name=value`. `name>=value` has the value `>=value`; a bare name has `None`."""
    name, equals, value = part.partition("=")
    value = _unquoted(part, value)
    if equals and name.endswith(">") and name not in space.names:
        return name[:-1], OR_MORE + value
    return name, value if equals else None


def _unquoted(part: str, value: str) -> str:
    """The value without the quotes around it, if there are any."""
    if not value or value[0] not in QUOTES:
        return value
    if len(value) < 2 or value.find(value[0], 1) != len(value) - 1:
        raise GoalError(f"{part} is not a valid goal: {value[0]} must be closed at the end of the value.")
    return value[1:-1]


def _bound(attribute: Attribute, value: Value) -> Bound:
    text = str(value).strip()
    if not text.startswith(OR_MORE) or text in attribute.values:
        return attribute.encode(value), False
    if not isinstance(attribute.values, range) or attribute.values.step < 0:
        names = attribute.shown_values()
        shown = ", ".join(names if len(names) <= MAX_SHOWN else [*names[:2], "…"])
        raise GoalError(
            f"{attribute.name}{text} is not a valid goal: only integer attributes with increasing values have lower "
            f"bounds, and the values of {attribute.name!r} are {shown}."
        )
    return attribute.encode(text.removeprefix(OR_MORE)), True


def _both(attribute: Attribute, one: Bound, other: Bound) -> Bound:
    """The conjunction of two bounds on the same attribute."""
    (low, low_or_more), (high, high_or_more) = sorted((one, other))
    if low == high:
        return low, low_or_more and high_or_more
    if low_or_more:
        return high, high_or_more
    first, second = ((OR_MORE if more else "") + attribute.text(index) for index, more in (one, other))
    raise GoalError(f"The goal contradicts itself: {attribute.name} cannot be {first} and {second} at once.")


def _goal_of(space: AttributeSpace, bounds: Mapping[str, Bound]) -> Goal:
    if not bounds:
        raise GoalError(f"The goal is empty: name at least one of {', '.join(space.names)}.")
    values, wanted, or_more = np.zeros(len(space), np.int32), np.zeros(len(space), bool), np.zeros(len(space), bool)
    for name, bound in bounds.items():
        position = space.index(name)
        wanted[position] = True
        values[position], or_more[position] = bound
    return Goal(values, wanted, or_more if or_more.any() else None)


def _bits(row: np.ndarray) -> int:
    return int.from_bytes(np.packbits(row).tobytes(), "little")
