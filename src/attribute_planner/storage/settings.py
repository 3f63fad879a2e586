"""Settings as JSON and back: nested frozen dataclasses of plain values."""

import dataclasses
from typing import Any, TypeVar, get_type_hints

from attribute_planner.errors import RunDirectoryError

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
