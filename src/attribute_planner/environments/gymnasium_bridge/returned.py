"""Checks of what `reset` and `step` of a Gymnasium environment return."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attribute_planner.environments.faults import shown
from attribute_planner.errors import EnvironmentFaultError

RESET = ("observation", "info")
STEP = ("observation", "reward", "terminated", "truncated", "info")


def parts_of(result: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """The parts of what was returned, one for each name."""
    if not isinstance(result, tuple | list) or len(result) != len(names):
        size = f" of {len(result)}" if isinstance(result, tuple | list) else ""
        raise EnvironmentFaultError(
            f"it returned a {type(result).__name__}{size}; it must return {len(names)} values: {', '.join(names)}."
        )
    return tuple(result)


def checked_flag(name: str, value: Any) -> bool:
    """The value of `terminated` or `truncated`, which must be a bool, or 0 or 1."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    array = np.asarray(value) if hasattr(value, "dtype") or isinstance(value, int) else np.asarray(None)
    if array.shape != () or array.dtype.kind not in "biu" or array not in (0, 1):
        raise EnvironmentFaultError(f"{name} is {shown(value)}; it must be a bool.")
    return bool(array)


def checked_info(info: Any) -> dict[str, Any]:
    """The `info`, which must be a dictionary."""
    if not isinstance(info, Mapping):
        raise EnvironmentFaultError(f"info is {shown(info)}; it must be a dictionary.")
    return info  # pyright: ignore[reportReturnType]
