"""One attribute: a named property of a state with a small number of values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import no_type_check

import numpy as np

from attribute_planner.errors import QUOTES, ConfigurationError, UnknownNameError, unknown_name

Value = str | int | bool

MAX_VALUES = 2**16
MAX_SHOWN = 8
"""More names of values than these are not listed in short."""


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
        if not isinstance(self.name, str):
            raise ConfigurationError(f"The name of an attribute must be a text; it is {self.name!r}.")
        if not self.is_integer and not _are_names(self.values):
            raise ConfigurationError(
                f"Attribute {self.name!r}: values must be a tuple of names, or a range of integers."
            )
        if not isinstance(self.values, range):
            object.__setattr__(self, "values", tuple(self.values))
        if not self.name or any(c.isspace() or c in "=," for c in self.name):
            possible = "_".join(re.split(r"[\s=,]+", self.name.strip()))
            raise ConfigurationError(
                f"Attribute name {self.name!r} must not be empty, nor contain spaces, commas or '='"
                + (f"; {possible!r} is possible." if possible.strip("_") else ".")
            )
        if not 2 <= len(self.values) <= MAX_VALUES:
            raise ConfigurationError(
                f"Attribute {self.name!r} has {len(self.values)} value{'' if len(self.values) == 1 else 's'}; "
                f"it needs between 2 and {MAX_VALUES}."
            )
        if not self.is_integer and (wrong := next((each for each in self.values if each != str(each).strip()), None)):
            raise ConfigurationError(
                f"Attribute {self.name!r}: values must not begin or end with spaces, as {wrong!r} does."
            )
        if not self.is_integer and (wrong := next((each for each in self.values if not _can_be_written(each)), None)):
            raise ConfigurationError(
                f"Attribute {self.name!r}: the value {wrong} cannot be written in a goal, because it contains both "
                "kinds of quotes, and either spaces, commas or a quote at its beginning."
            )
        if len(set(self.values)) < len(self.values):
            raise ConfigurationError(
                f"Attribute {self.name!r} names a value twice: {', '.join(map(str, self.values))}."
            )

    def __str__(self) -> str:
        if self.is_binary:
            return self.name
        ends = f"{self.values[0]} … {self.values[-1]}"
        return f"{self.name}={ends if self.is_integer or self.size > MAX_SHOWN else '|'.join(map(str, self.values))}"

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

    def encode(self, value: Value | float) -> int:
        """The index of a value, given by name or index or, for an integer attribute, as the integer itself.

        A floating-point number must be whole.
        """
        text = str(value).strip()
        names = [str(each) for each in self.values]
        if isinstance(value, (bool, np.bool_)) or self.is_binary:
            text = text.lower()
        if text not in names and isinstance(value, (float, np.floating)):
            text = self._whole(float(value))
        if text in names:
            return names.index(text)
        if not self.is_integer and text.isdecimal() and int(text) < self.size:
            return int(text)
        raise unknown_name("value", value, self.shown_values(), of=f"Attribute {self.name!r}")

    def _whole(self, value: float) -> str:
        """A whole number without the point; other numbers are no values of an integer attribute."""
        if value.is_integer():
            return str(int(value))
        if self.is_integer:
            raise UnknownNameError(
                f"Attribute {self.name!r} has no value '{value}'; its values are whole numbers: "
                f"{', '.join(self.shown_values())}."
            )
        return str(value)

    def decode(self, index: int | np.integer) -> Value:
        """The value at an index: a bool, an int or a name, depending on the kind of attribute."""
        return bool(index) if self.is_binary else self.values[int(index)]

    def text(self, index: int | np.integer) -> str:
        """The value at an index, as goals in text have it."""
        return value_text(self.decode(index))

    def shown_values(self) -> list[str]:
        """All values, as goals in text have them; a long range by its ends."""
        if self.is_integer and self.size > 12:
            return [f"{self.values[0]} … {self.values[-1]}"]
        return [value_text(each) for each in self.values]


def value_text(value: Value) -> str:
    """A value as goals in text have it: `true`, `3`, `red`, `"in pot"`."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if text and text[0] not in QUOTES and not any(c.isspace() or c == "," for c in text):
        return text
    quote = "'" if '"' in text else '"'
    return f"{quote}{text}{quote}"


def _can_be_written(value: Value) -> bool:
    """Whether the quotes that a value needs in a goal differ from those in it."""
    return value_text(value) == value or not set(QUOTES) <= set(str(value))


def encode_named(attributes: Sequence[Attribute], named: Mapping[str, Value | float]) -> list[int]:
    """The index of each attribute's value in a complete named set."""
    names = [each.name for each in attributes]
    for name in named:
        if name not in names:
            raise unknown_name("attribute", name, names)
    missing = [name for name in names if name not in named]
    if missing:
        raise UnknownNameError(f"A complete attribute set is needed; it lacks: {', '.join(missing)}.")
    return [each.encode(named[each.name]) for each in attributes]


def _are_names(values: object) -> bool:
    return isinstance(values, Sequence) and not isinstance(values, str) and all(isinstance(v, str) for v in values)
