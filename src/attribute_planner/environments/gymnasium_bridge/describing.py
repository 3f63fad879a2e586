"""The user's `describe` function, which returns attribute values by name."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from attribute_planner.attributes.attribute import Attribute, Value, encode_named
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError

Describe = Callable[[Any, dict[str, Any], Any], Mapping[str, Value | float]]
"""Maps an observation, its `info` and the environment to attribute values by name."""

ReadValues = Callable[[Any, dict[str, Any], Any], list[int]]
"""Maps the same arguments to the index of each attribute's value, in order."""


def values_reader(describe: Describe, attributes: Iterable[Attribute]) -> ReadValues:
    """A function that returns the values of `describe` as indices."""
    if not callable(describe):
        raise ConfigurationError(
            f"describe must be a function of (observation, info, env), not a {type(describe).__name__}."
        )
    _require_three_arguments(describe)
    read = AttributeReader(attributes)
    return lambda observation, info, env: read(describe(observation, info, env))


def _require_three_arguments(describe: Describe) -> None:
    """An error if a function cannot be called as `describe` is; functions without a signature pass."""
    try:
        signature = inspect.signature(describe)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(None, {}, None)
    except TypeError as error:
        raise ConfigurationError(
            f"describe must be a function of three arguments, (observation, info, env); it takes {signature}."
        ) from error


class AttributeReader:
    """Converts named attribute values into indices. Results are cached, because it is called at every step."""

    def __init__(self, attributes: Iterable[Attribute]) -> None:
        self._attributes = tuple(attributes)
        self._names = tuple(each.name for each in self._attributes)
        # Typed, so that True and 1 differ: only the second is a value of an integer attribute.
        self._indices = [lru_cache(maxsize=2**16, typed=True)(each.encode) for each in self._attributes]

    def __call__(self, described: Any) -> list[int]:
        """The index of each attribute's value, in order. Missing or unknown names and values raise an error."""
        if not isinstance(described, Mapping):
            raise EnvironmentFaultError(
                f"the attributes are a {type(described).__name__}; they must be a dictionary like {self._example()}."
            )
        if len(described) != len(self._names) or any(name not in described for name in self._names):
            encode_named(self._attributes, described)  # raises an error, because the names are wrong
        return [self._index(i, described[name]) for i, name in enumerate(self._names)]

    def _index(self, position: int, value: Any) -> int:
        try:
            return self._indices[position](value.item() if isinstance(value, np.generic) else value)
        except TypeError as error:
            name = self._names[position]
            raise EnvironmentFaultError(
                f"attribute {name!r} is a {type(value).__name__}; it must be a name, a whole number or a bool."
            ) from error

    def _example(self) -> dict[str, Value]:
        return {each.name: each.decode(0) for each in self._attributes}
