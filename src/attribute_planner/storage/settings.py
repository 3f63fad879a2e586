"""Settings (nested frozen dataclasses of plain values) as JSON, and single settings given as text."""

import dataclasses
from typing import Any, TypeVar

from attribute_planner.errors import ConfigurationError, unknown_name
from attribute_planner.files.typed_json import dataclass_from_json

Settings = TypeVar("Settings")


def settings_to_json(settings: Any) -> dict[str, Any]:
    """A nested dictionary of the settings."""
    return dataclasses.asdict(settings)


def settings_from_json(kind: type[Settings], saved: Any) -> Settings:
    """The settings of a dataclass `kind`; fields that `saved` does not mention keep their defaults."""
    return dataclass_from_json(kind, saved)


def with_setting(config: Settings, assignment: str) -> Settings:
    """A copy of the settings with one of them changed, given as `practise.num_envs=512`."""
    path, equals, text = assignment.partition("=")
    if not equals:
        raise ConfigurationError(
            f"A setting has the form NAME=VALUE, for example practise.num_envs=512; not {assignment!r}."
        )
    return _changed(config, path.split("."), text, path)


def _changed(config: Any, path: list[str], text: str, whole: str) -> Any:
    names = [field.name for field in dataclasses.fields(config)]
    if path[0] not in names:
        raise unknown_name("setting", whole, names)
    old = getattr(config, path[0])
    if dataclasses.is_dataclass(old):
        if len(path) == 1:
            raise unknown_name("setting", whole, [f"{whole}.{field.name}" for field in dataclasses.fields(old)])
        return dataclasses.replace(config, **{path[0]: _changed(old, path[1:], text, whole)})
    if len(path) > 1:
        raise unknown_name("setting", whole, names)
    return dataclasses.replace(config, **{path[0]: _parsed(old, text, whole)})


def _parsed(old: Any, text: str, name: str) -> Any:
    """A value of the same type as the old one."""
    try:
        if isinstance(old, bool):
            return {"true": True, "false": False}[text.lower()]
        if not isinstance(old, int):
            return type(old)(text)
        number = float(text)  # 1e6 is an integer, too
        if number.is_integer():
            return int(number)
    except (ValueError, KeyError):
        pass
    raise ConfigurationError(
        f"{name} cannot be {text!r}; it takes a value of type {type(old).__name__}, such as {old!r}."
    )
