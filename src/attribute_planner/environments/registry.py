"""The built-in environments by name, and environments of one's own by `module:function`."""

import importlib
import inspect
import os
import sys
from collections.abc import Callable
from typing import Any
from weakref import ref

from attribute_planner.environments.interface import Environment
from attribute_planner.errors import AttributePlannerError, ConfigurationError, unknown_name

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
    """The built-in environment with this name, or what the function `module:function` returns.

    parameters: those of the environment's builder, or of the function.
    """
    build = builder(name)
    known = inspect.signature(build).parameters
    for parameter, value in parameters.items():
        if parameter not in known:
            raise unknown_name("parameter", parameter, known, of=name)
        _require_same_kind(name, parameter, value, known[parameter].default)
    # JSON and the command line give lists; environments must be hashable.
    parameters = {key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    try:
        env = build(**parameters)
    except AttributePlannerError:
        raise
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"{name} cannot be made with these parameters: {error}") from error
    except Exception as error:
        if not is_function_name(name):
            raise
        raise ConfigurationError(f"{name} failed: {type(error).__name__}: {error}") from error
    if not isinstance(env, Environment):
        raise ConfigurationError(
            f"{name} returned a {type(env).__name__}, which is not an environment of attribute_planner: wrap a "
            "Gymnasium environment with ap.from_gymnasium, which names its attributes."
        )
    if env.episode_steps < 1:
        raise ConfigurationError(f"episode_steps of {name} is {env.episode_steps}; it must be at least 1.")
    if is_function_name(name) and not parameters:
        _SOURCES[id(env)] = ref(env), name
    return env


_SOURCES: dict[int, tuple[ref[Environment], str]] = {}


def source_of(env: Environment) -> str:
    """The `module:function` from which `make` made an environment, without parameters; empty for others."""
    known, name = _SOURCES.get(id(env), (None, ""))
    return name if known is not None and known() is env else ""


def is_function_name(name: str) -> bool:
    """Whether a name means a function of one's own, `module:function`, and not a built-in environment."""
    return ":" in name


def builder(name: str) -> Callable[..., Environment]:
    """The function that makes the environment with this name; imports its module."""
    if is_function_name(name):
        return _own_builder(name)
    if name not in ENVIRONMENTS:
        raise unknown_name("environment", name, [*ENVIRONMENTS, "module:function"])
    module, _, attribute = ENVIRONMENTS[name].partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"Environment {name!r} needs the package {error.name!r}, which is missing.") from error


def _own_builder(name: str) -> Callable[..., Any]:
    """The function `module:function`; modules in the current directory are found, too."""
    module, _, attribute = name.partition(":")
    module = module.removesuffix(".py").replace("/", ".")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        if module == missing or module.startswith(f"{missing}."):
            where = f"neither {os.getcwd()} nor an installed package has it"
            raise ConfigurationError(f"{name}: there is no module {missing!r}: {where}.") from error
        raise ConfigurationError(f"{name}: {module} needs the package {missing!r}, which is missing.") from error
    except Exception as error:
        raise ConfigurationError(f"{name}: {module} cannot be imported: {type(error).__name__}: {error}") from error
    function = getattr(found, attribute, None)
    if function is None:
        public = [each for each, value in vars(found).items() if callable(value) and not each.startswith("_")]
        raise unknown_name("function", attribute, public, of=f"Module {module}")
    if isinstance(function, Environment):
        return lambda: function
    if not callable(function):
        raise ConfigurationError(f"{name} is a {type(function).__name__}, not a function that makes an environment.")
    return function


def _require_same_kind(name: str, parameter: str, value: object, default: object) -> None:
    """Raise an error unless a value has the type of the parameter's default."""
    if not _is_same_kind(value, default):
        raise ConfigurationError(f"{parameter} of {name} is {value!r}; it must be like its default, {default!r}.")


def _is_same_kind(value: object, default: object) -> bool:
    if default is inspect.Parameter.empty:
        return True
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, float):
        return isinstance(value, (int, float))
    if isinstance(default, tuple):
        if not isinstance(value, (tuple, list)) or len(value) != len(default):
            return False
        return all(map(_is_same_kind, value, default))
    return isinstance(value, type(default)) or not isinstance(default, (int, str))
