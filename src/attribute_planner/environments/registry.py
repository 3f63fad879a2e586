"""The built-in environments by name."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from attribute_planner.environments.interface import Environment
from attribute_planner.errors import ConfigurationError, unknown_name

_HERE = "attribute_planner.environments"

ENVIRONMENTS: dict[str, str] = {
    "switches": f"{_HERE}.gridworld.switches:ColoredSwitches",
    "crafting": f"{_HERE}.gridworld.crafting:Crafting",
    "blocks": f"{_HERE}.blocks.discrete:Blocks",
    "blocks-continuous": f"{_HERE}.blocks.continuous:ContinuousBlocks",
    "starcraft-small": f"{_HERE}.starcraft.environment:starcraft_small",
    "starcraft-large": f"{_HERE}.starcraft.environment:starcraft_large",
}
"""The builder of each environment, as `module:name`. Modules are imported on demand: some need a simulator."""


def make(name: str, **parameters: Any) -> Environment:
    """The built-in environment with this name. `parameters` are its settings, such as `size` of the grid worlds."""
    build = builder(name)
    known = inspect.signature(build).parameters
    for parameter, value in parameters.items():
        if parameter not in known:
            raise unknown_name(f"parameter of {name}", parameter, known)
        _require_same_kind(name, parameter, value, known[parameter].default)
    # JSON and the command line give lists; environments must be hashable.
    parameters = {key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    try:
        env = build(**parameters)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{name} cannot be made with these parameters: {error}") from error
    if env.episode_steps < 1:
        raise ConfigurationError(f"episode_steps of {name} is {env.episode_steps}; it must be at least 1.")
    return env


def builder(name: str) -> Callable[..., Environment]:
    """The function that makes the environment with this name; imports its module."""
    if name not in ENVIRONMENTS:
        raise unknown_name("environment", name, ENVIRONMENTS)
    module, _, attribute = ENVIRONMENTS[name].partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"Environment {name!r} needs the package {error.name!r}, which is missing.") from error


def _require_same_kind(name: str, parameter: str, value: object, default: object) -> None:
    """Raise an error unless a value has the type of the parameter's default."""
    if not _is_same_kind(value, default):
        raise ConfigurationError(f"{parameter} of {name} is {value!r}; it must be like its default, {default!r}.")


def _is_same_kind(value: object, default: object) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, float):
        return isinstance(value, (int, float))
    if isinstance(default, tuple):
        if not isinstance(value, (tuple, list)) or len(value) != len(default):
            return False
        return all(map(_is_same_kind, value, default))
    return isinstance(value, type(default)) or not isinstance(default, (int, str))
