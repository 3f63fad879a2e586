"""Settings as JSON and back, and single ones given as text: nested frozen dataclasses of plain values."""

import dataclasses
from typing import Any, TypeVar, get_type_hints

from attribute_planner.errors import ConfigurationError, RunDirectoryError, unknown_name

Settings = TypeVar("Settings")


def settings_to_json(settings: Any) -> dict[str, Any]:
    """A nested dictionary of the settings."""
    return dataclasses.asdict(settings)


def settings_from_json(kind: type[Settings], saved: dict[str, Any]) -> Settings:
    """The settings of a dataclass `kind`; what the file does not mention keeps its default."""
    assert dataclasses.is_dataclass(kind)
    hints = get_type_hints(kind)
    unknown = set(saved) - {field.name for field in dataclasses.fields(kind)}
    if unknown:
        raise RunDirectoryError(
            f"The saved {kind.__name__} has settings that do not exist: {', '.join(sorted(unknown))}."
        )
    values = {}
    for name, value in saved.items():
        nested = dataclasses.is_dataclass(hints[name]) and isinstance(value, dict)
        values[name] = settings_from_json(hints[name], value) if nested else _plain(value)
    return kind(**values)


def _plain(value: Any) -> Any:
    return tuple(_plain(each) for each in value) if isinstance(value, list) else value


def with_setting(config: Settings, assignment: str) -> Settings:
    """Settings with one of them changed, given as `practise.num_envs=512`."""
    path, equals, text = assignment.partition("=")
    if not equals:
        raise ConfigurationError(
            f"A setting is written NAME=VALUE, as in practise.num_envs=512; {assignment!r} is not."
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
    """A value of the same kind as the old one."""
    try:
        if isinstance(old, bool):
            return {"true": True, "false": False}[text.lower()]
        return int(float(text)) if isinstance(old, int) else type(old)(text)
    except (ValueError, KeyError, OverflowError):
        raise ConfigurationError(f"{name} cannot be {text!r}; it must be like its default, {old!r}.") from None
