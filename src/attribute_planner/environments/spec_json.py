"""Specifications of environments as JSON: readable by people and other programs, and read back by `spec_from_json`."""

import dataclasses
import math
from typing import Any

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.environments.spaces import (
    Box,
    Discrete,
    FlatSpec,
    ImageSpec,
    Marker,
    Mixed,
    Part,
    VectorSpec,
    WordsSpec,
)
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.errors import ConfigurationError
from attribute_planner.files.typed_json import dataclass_from_json, typed

TYPES = {
    each.__name__: each for each in (WordsSpec, VectorSpec, ImageSpec, FlatSpec, Marker, Part, Discrete, Box, Mixed)
}
"""The types of specifications of observations and actions, by the name in `type`."""


def spec_to_json(spec: EnvironmentSpec) -> dict[str, Any]:
    """The specification as a JSON object with the same fields; those with several types have a field `type`."""
    fields = {each.name: getattr(spec, each.name) for each in dataclasses.fields(spec)}
    return {**_to_json(fields), "attributes": attributes_to_json(spec.attributes)}


def spec_from_json(saved: dict[str, Any]) -> EnvironmentSpec:
    """The specification that `spec_to_json` wrote; an error unless every field has the type and range that it needs."""
    fields = {name: _from_json(value) for name, value in saved.items() if name != "attributes"}
    fields["attributes"] = attributes_from_json(saved["attributes"])
    spec = dataclass_from_json(EnvironmentSpec, fields)
    sizes = (*spec.observation.shape, spec.episode_steps, 1 if spec.num_units is None else spec.num_units)
    if not 0 < min(sizes) <= math.prod(sizes[:-2]) <= LARGEST or max(sizes) > LARGEST:
        raise ConfigurationError(f"The sizes of the environment must be between 1 and {LARGEST:,}; they are {sizes}.")
    if isinstance(spec.observation, FlatSpec) and spec.observation.dtype.kind not in "iuf":
        raise ConfigurationError(f"Observations cannot be stored as {spec.observation.stored_as}.")
    return spec


LARGEST = 2**30
"""No observation has more values, and no episode more steps."""


def attributes_to_json(space: AttributeSpace) -> list[dict[str, Any]]:
    """Name, value names and kind of each attribute."""
    return [
        {"name": each.name, "values": [str(value) for value in each.values], "kind": each.kind}
        for each in space.attributes
    ]


def attributes_from_json(saved: list[dict[str, Any]]) -> AttributeSpace:
    """The attributes that `attributes_to_json` wrote."""
    return AttributeSpace(tuple(_attribute(each) for each in saved))


def _attribute(saved: dict[str, Any]) -> Attribute:
    name, values = typed(saved["name"], str, "attribute"), typed(saved["values"], tuple[str, ...], "values")
    if saved["kind"] == "integer":
        first, second, last = int(values[0]), int(values[1]), int(values[-1])
        attribute = Attribute(name, range(first, last + (1 if second > first else -1), second - first))
    else:
        attribute = Attribute(name, values)
    if attribute.kind != saved["kind"] or tuple(map(str, attribute.values)) != values:
        raise ConfigurationError(f"The values of attribute {name!r} are not those of a {saved['kind']} attribute.")
    return attribute


def _to_json(value: Any) -> Any:
    if type(value).__name__ in TYPES:
        fields = {each.name: _to_json(getattr(value, each.name)) for each in dataclasses.fields(value)}
        return {"type": type(value).__name__, **fields}
    if isinstance(value, dict):
        return {name: _to_json(each) for name, each in value.items() if not isinstance(each, AttributeSpace)}
    return [_to_json(each) for each in value] if isinstance(value, tuple) else value


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        fields = {name: _from_json(each) for name, each in value.items() if name != "type"}
        return dataclass_from_json(TYPES[value["type"]], fields)
    return tuple(_from_json(each) for each in value) if isinstance(value, list) else value
