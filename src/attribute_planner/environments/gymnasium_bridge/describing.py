"""The user's definition of the attributes: a `describe` function, or labelled observations for a detector."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Int

from attribute_planner.attributes import Attribute, AttributeSpace, Value
from attribute_planner.environments.gymnasium_bridge.observations import Encoder
from attribute_planner.environments.labels import Labels
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError

Describe = Callable[[Any, dict[str, Any], Any], Mapping[str, Value]]
"""Maps an observation, its `info` and the environment to attribute values by name."""

ReadValues = Callable[[Any, dict[str, Any], Any], list[int]]
"""Maps the same arguments to the index of each attribute's value, in order."""


def values_reader(describe: Describe, space: AttributeSpace) -> ReadValues:
    """A function that returns the values of `describe` as indices."""
    if not callable(describe):
        raise ConfigurationError(
            f"describe must be a function of (observation, info, env), not a {type(describe).__name__}."
        )
    read = AttributeReader(space)
    return lambda observation, info, env: read(describe(observation, info, env))


class AttributeReader:
    """Converts named attribute values into indices. Results are cached, because it is called at every step."""

    def __init__(self, space: AttributeSpace) -> None:
        self._space = space
        # Typed, so that True and 1 differ: only the second is a value of an integer attribute.
        self._indices = [lru_cache(maxsize=2**16, typed=True)(each.encode) for each in space.attributes]

    def __call__(self, described: Any) -> list[int]:
        """The index of each attribute's value, in order. Missing or unknown names and values raise an error."""
        if not isinstance(described, Mapping):
            raise EnvironmentFaultError(
                f"the attributes are a {type(described).__name__}; they must be a dictionary like {self._example()}."
            )
        if len(described) != len(self._space) or any(name not in described for name in self._space.names):
            self._space.encode(described)  # raises an error, because the names are not those of the space
        return [self._index(i, described[name]) for i, name in enumerate(self._space.names)]

    def _index(self, position: int, value: Any) -> int:
        try:
            return self._indices[position](value.item() if isinstance(value, np.generic) else value)
        except TypeError as error:
            name = self._space.names[position]
            raise EnvironmentFaultError(
                f"attribute {name!r} is a {type(value).__name__}; it must be a name, an integer or a bool."
            ) from error

    def _example(self) -> dict[str, Value]:
        return {each.name: each.decode(0) for each in self._space.attributes}


def attribute_space(attributes: Sequence[Attribute]) -> AttributeSpace:
    """The attribute space of a list of attributes."""
    wrong = next((each for each in attributes if not isinstance(each, Attribute)), None)
    if wrong is not None:
        raise ConfigurationError(f"attributes must be a list of ap.Attribute; it contains {wrong!r}.")
    return AttributeSpace(tuple(attributes))


def labels_of(labelled: tuple[Any, Any], space: AttributeSpace, encoder: Encoder) -> Labels:
    """Labels from a pair (observations, attributes); attributes are dictionaries or an array of indices."""
    if not isinstance(labelled, tuple | list) or len(labelled) != 2:
        raise ConfigurationError("labelled must be a pair: (observations, attributes).")
    observations, attributes = labelled
    if len(observations) != len(attributes):
        raise ConfigurationError(
            f"labelled has {len(observations)} observations, but the attributes of {len(attributes)} states."
        )
    if not len(observations):
        raise ConfigurationError("labelled holds no observation.")
    encoded = np.stack([_of_label(number, encoder.encode, each) for number, each in enumerate(observations)])
    return Labels(encoded, _label_values(attributes, space))


def _label_values(attributes: Any, space: AttributeSpace) -> Int[np.ndarray, "N A"]:
    """The attribute values of labels."""
    if isinstance(attributes[0], Mapping):
        read = AttributeReader(space)
        return np.array([_of_label(number, read, each) for number, each in enumerate(attributes)], np.int32)
    values = np.asarray(attributes)
    if values.ndim != 2 or not np.issubdtype(values.dtype, np.integer):
        raise ConfigurationError(
            f"labelled: the attributes must be dictionaries, or an integer array of shape "
            f"({len(attributes)}, {len(space)}); they are {values.dtype} of shape {values.shape}."
        )
    return space.validate(values, "labelled")


def _of_label(number: int, function: Callable[[Any], Any], given: Any) -> Any:
    try:
        return function(given)
    except Exception as error:
        raise ConfigurationError(f"labelled state {number}: {error}") from error
