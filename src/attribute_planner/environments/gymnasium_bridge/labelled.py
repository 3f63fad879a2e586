"""Attributes defined by labelled observations, from which a detector is learned."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Int

from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.faults import shown
from attribute_planner.environments.gymnasium_bridge.describing import AttributeReader
from attribute_planner.environments.gymnasium_bridge.observations import Encoder
from attribute_planner.environments.labels import Labels
from attribute_planner.errors import AttributePlannerError, ConfigurationError


def labels_of(labelled: tuple[Any, Any], space: AttributeSpace, encoder: Encoder) -> Labels:
    """Labels from a pair (observations, attributes); attributes are dictionaries or an array of indices."""
    if not isinstance(labelled, tuple | list) or len(labelled) != 2:
        raise ConfigurationError("labelled must be a pair: (observations, attributes).")
    observations, attributes = labelled
    for name, part in (("observations", observations), ("attributes", attributes)):
        if not hasattr(part, "__len__") or not hasattr(part, "__getitem__"):
            raise ConfigurationError(f"labelled: the {name} are {shown(part)}; they must be a list or an array.")
    if len(observations) != len(attributes):
        raise ConfigurationError(
            f"labelled has {len(observations)} observations, but the attributes of {len(attributes)} states."
        )
    if not len(observations):
        raise ConfigurationError("labelled holds no observation.")
    encoded = np.stack([_of_label(number, encoder.encode, each) for number, each in enumerate(observations)])
    finite = np.isfinite(encoded).reshape(len(encoded), -1).all(axis=1)
    if not finite.all():
        raise ConfigurationError(
            f"labelled state {finite.argmin()}: the observation is not finite; all numbers must be finite."
        )
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
        kind = "" if isinstance(error, AttributePlannerError) else f"{type(error).__name__}: "
        raise ConfigurationError(f"labelled state {number}: {kind}{error}") from error
