"""The description of a run: environment, attributes, settings, seed. It is the file config.json."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.configuration import TrainConfig
from attribute_planner.environments.hidden_attributes import hidden_splits, without_hidden_attributes
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.registry import ENVIRONMENTS, source_of
from attribute_planner.environments.seen_from_agent import markers_in
from attribute_planner.environments.spaces import Marker
from attribute_planner.environments.spec_json import attributes_from_json, attributes_to_json
from attribute_planner.environments.splits import Split, split_from_json
from attribute_planner.errors import DamagedFileError
from attribute_planner.files.typed_json import typed
from attribute_planner.storage.provenance import provenance
from attribute_planner.storage.settings import settings_from_json, settings_to_json

FORMAT = 2
LARGEST_PARAMETER = 100_000
"""No number that an environment is made with is larger."""
LARGEST_LIMIT = 10_000_000
"""No episode has more steps."""


@dataclass(frozen=True)
class Description:
    """The contents of config.json.

    name, parameters: what `make` builds the environment from; parameters are `None` if it is not a built-in one.
    source: the function `module:function` that makes an environment of one's own; empty if it was given as an object.
    attributes: those of the run, hidden ones included.
    hidden: the splits that define hidden attributes.
    max_steps: steps for which plans are made by default; `None` in older files.
    markers: the agents that observations are seen from.
    """

    name: str
    parameters: dict[str, Any] | None
    attributes: AttributeSpace
    config: TrainConfig
    seed: int
    hidden: tuple[Split, ...] = ()
    source: str = ""
    max_steps: int | None = None
    markers: tuple[Marker, ...] = ()


def describe_run(env: Environment, config: TrainConfig, seed: int) -> Description:
    """The description of a new run."""
    source = source_of(without_hidden_attributes(env))
    return Description(
        env.name,
        parameters_of(env),
        env.attributes,
        config,
        seed,
        hidden_splits(env),
        source,
        env.max_steps,
        tuple(markers_in(env.observation).values()),
    )


def parameters_of(env: Environment) -> dict[str, Any] | None:
    """The parameters with which `make` builds the same environment; `None` if it is not built in."""
    return settings_to_json(without_hidden_attributes(env)) if env.name in ENVIRONMENTS else None


def description_bytes(description: Description) -> bytes:
    """The contents of config.json."""
    return json.dumps(_to_json(description), indent=2).encode()


def _to_json(description: Description) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "environment": {
            "name": description.name,
            "parameters": description.parameters,
            **({"source": description.source} if description.source else {}),
            **({} if description.max_steps is None else {"max_steps": description.max_steps}),
            **({"seen_from": [asdict(each) for each in description.markers]} if description.markers else {}),
        },
        "attributes": attributes_to_json(description.attributes),
        "hidden_attributes": [split.to_json() for split in description.hidden],
        "config": settings_to_json(description.config),
        "seed": description.seed,
        "provenance": provenance(),
    }


def description_from_json(saved: dict[str, Any]) -> Description:
    """The description in a parsed config.json."""
    environment = saved["environment"]
    described = Description(
        typed(environment["name"], str, "environment.name"),
        _parameters(environment["parameters"]),
        attributes_from_json(saved["attributes"]),
        settings_from_json(TrainConfig, saved["config"]),
        typed(saved["seed"], int, "seed"),
        tuple(split_from_json(each) for each in saved.get("hidden_attributes", [])),
        typed(environment.get("source", ""), str, "environment.source"),
        typed(environment.get("max_steps"), int | None, "environment.max_steps"),
        typed(environment.get("seen_from", []), tuple[Marker, ...], "environment.seen_from"),
    )
    if (described.name in ENVIRONMENTS) != (described.parameters is not None):
        raise DamagedFileError(f"The environment {described.name!r} must have parameters exactly if it is built in.")
    if described.max_steps is not None and not 1 <= described.max_steps <= LARGEST_LIMIT:
        raise DamagedFileError(f"The saved environment.max_steps is {described.max_steps}.")
    if not all(map(_is_possible, described.markers)):
        raise DamagedFileError(f"The saved environment.seen_from is {environment['seen_from']!r}.")
    if not -(2**63) <= described.seed < 2**63:
        raise DamagedFileError(f"The seed {described.seed} has more than 64 bits.")
    return described


def _is_possible(marker: Marker) -> bool:
    turns = {turns for _, turns in marker.headings}
    return bool(marker.keys and marker.others) and min(marker.size) >= 1 and turns <= {0, 1, 2, 3}


def _parameters(saved: Any) -> dict[str, Any] | None:
    """The parameters of an environment: numbers, texts, and lists of them."""
    if saved is not None and not isinstance(saved, dict):
        raise DamagedFileError(f"The saved environment.parameters are {saved!r}; they must be an object.")
    for name, value in (saved or {}).items():
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, bool | int | float | str) or (
                not isinstance(each, str) and abs(each) > LARGEST_PARAMETER
            ):
                raise DamagedFileError(f"The saved parameter {name} of the environment is {value!r}.")
    return saved


def require_components(splits: Sequence[Split], env: Environment) -> None:
    """An error unless splits look at components that the observations of an environment have."""
    spec = env.observation
    size = int(np.prod(spec.shape))
    for split in splits:
        for condition in split.conditions:
            if not 0 <= condition.first <= condition.last < size:
                raise DamagedFileError(
                    f"A hidden attribute looks at components {condition.first} to {condition.last} of the observation, "
                    f"which has {size}."
                )
