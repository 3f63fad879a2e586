"""Frozen dataclasses from JSON, with the type of each field checked."""

import dataclasses
import math
import types
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from attribute_planner.errors import DamagedFileError

Data = TypeVar("Data")


def dataclass_from_json(kind: type[Data], saved: Any, *, name: str = "") -> Data:
    """A dataclass; fields that `saved` does not mention keep their defaults.

    name: what it is, for messages; by default the name of the class.
    """
    assert dataclasses.is_dataclass(kind)
    name = name or kind.__name__
    if not isinstance(saved, dict):
        raise DamagedFileError(f"The saved {name} must be an object, not {saved!r}.")
    hints, fields = get_type_hints(kind), [field.name for field in dataclasses.fields(kind) if field.init]
    unknown = sorted(set(saved) - set(fields))
    if unknown:
        raise DamagedFileError(f"The saved {name} has unknown settings: {', '.join(unknown)}.")
    return kind(**{field: typed(value, hints[field], f"{name}.{field}") for field, value in saved.items()})


def typed(value: Any, hint: Any, name: str) -> Any:
    """A value of the type that a field has; lists become tuples."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return value if isinstance(value, hint) else dataclass_from_json(hint, value, name=name)
    if get_origin(hint) in (Union, types.UnionType):
        return _one_of(value, get_args(hint), name)
    if get_origin(hint) is tuple or hint is tuple:
        return _tuple(value, get_args(hint), name)
    if get_origin(hint) is Literal and value in get_args(hint):
        return value
    if hint is float and type(value) in (int, float) and math.isfinite(value):
        return value
    if hint in (bool, int, str) and type(value) is hint:
        return value
    if hint is type(None) and value is None:
        return value
    raise DamagedFileError(f"The saved {name} is {value!r}; it must be of type {getattr(hint, '__name__', hint)}.")


def _tuple(value: Any, hints: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise DamagedFileError(f"The saved {name} is {value!r}; it must be a list.")
    if len(hints) == 2 and hints[1] is Ellipsis:
        hints = (hints[0],) * len(value)
    if len(hints) != len(value):
        raise DamagedFileError(f"The saved {name} has {len(value)} values; it must have {len(hints)}.")
    return tuple(
        typed(each, hint, f"{name}[{place}]") for place, (each, hint) in enumerate(zip(value, hints, strict=True))
    )


def _one_of(value: Any, hints: tuple[Any, ...], name: str) -> Any:
    for hint in hints:
        try:
            return typed(value, hint, name)
        except DamagedFileError:
            continue
    raise DamagedFileError(f"The saved {name} is {value!r}, which is none of {', '.join(map(str, hints))}.")
