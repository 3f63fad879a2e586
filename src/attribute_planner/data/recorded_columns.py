"""The columns of recorded steps, read from arrays whose shapes, types and values are checked."""

from pathlib import Path
from typing import Any

import numpy as np

from attribute_planner.data.replay_rows import NO_GOAL, Columns
from attribute_planner.environments.spaces import (
    ABSENT,
    ActionSpace,
    Box,
    Discrete,
    MixedAction,
    ObservationSpec,
    UnitObservation,
    WordsSpec,
)
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.errors import DamagedFileError


def columns_of(arrays: dict[str, np.ndarray], spec: EnvironmentSpec, path: Path) -> Columns:
    """The columns of a shard.

    path: the file, for messages.
    """
    try:
        columns = Columns(
            observation=_column("observation", UnitObservation, arrays),
            values=arrays["attributes"],
            action=_column("action", MixedAction, arrays),
            next_values=arrays["next_attributes"],
            pursued=arrays["goal"],
            terminated=arrays["terminated"],
            over=arrays["terminated"] | arrays["truncated"],
        )
        _check(columns, spec)
    except (KeyError, ValueError, TypeError) as error:
        raise DamagedFileError(f"{path} cannot be read as recorded experience: {error!r}") from error
    return columns


def _column(name: str, structure: type, arrays: dict[str, np.ndarray]) -> Any:
    """An array, or a structure whose parts are arrays of their own."""
    if name in arrays:
        return arrays[name]
    return structure(**{field: arrays[f"{name}.{field}"] for field in structure._fields})


def _check(columns: Columns, spec: EnvironmentSpec) -> None:
    """A `ValueError` unless these may be steps of the environment."""
    steps = columns.over.shape
    _require(columns.over.dtype == bool and len(steps) == 2 and min(steps) > 0, "terminated and truncated")
    _check_values("attributes", columns.values, steps, spec, 0)
    _check_values("next_attributes", columns.next_values, steps, spec, 0)
    _check_values("goal", columns.pursued, steps, spec, NO_GOAL)
    _require(columns.values.shape == columns.next_values.shape == columns.pursued.shape, "goal")
    units = () if spec.num_units is None else (spec.num_units,)
    if spec.num_units is None:
        _check_observation(columns.observation, steps, spec.observation)
    else:
        _require(isinstance(columns.observation, UnitObservation), "observation")
        _check_observation(columns.observation.values, steps + units, spec.observation)
        active = columns.observation.active
        _require(active.dtype == bool and active.shape == steps + units, "observation.active")
    _check_action(columns.action, steps + units, spec.actions)


def _check_values(name: str, values: np.ndarray, steps: tuple[int, ...], spec: EnvironmentSpec, least: int) -> None:
    """Hidden attributes, which are binary, follow those of the specification."""
    _require(values.dtype.kind in "iu" and values.ndim == 3 and values.shape[:2] == steps, name)
    hidden = values.shape[2] - len(spec.attributes)
    _require(hidden >= 0, name)
    sizes = np.concatenate([spec.attributes.sizes, np.full(hidden, 2, np.int32)])
    _require(bool((values >= least).all() and (values < sizes).all()), name)


def _check_observation(seen: Any, steps: tuple[int, ...], spec: ObservationSpec) -> None:
    _require(isinstance(seen, np.ndarray) and seen.dtype == spec.dtype, "observation")
    _require(seen.shape == (*steps, *spec.shape) and _is_finite(seen), "observation")
    if isinstance(spec, WordsSpec):
        _require(bool((seen >= ABSENT).all() and (seen < spec.vocabulary).all()), "observation")


def _check_action(action: Any, steps: tuple[int, ...], space: ActionSpace) -> None:
    if isinstance(space, Discrete):
        _require(isinstance(action, np.ndarray) and action.dtype.kind in "iu" and action.shape == steps, "action")
        _require(bool((action >= 0).all() and (action < space.count).all()), "action")
    elif isinstance(space, Box):
        _require(isinstance(action, np.ndarray) and action.dtype.kind == "f", "action")
        _require(action.shape == (*steps, space.dimensions) and _is_finite(action), "action")
    else:
        _require(isinstance(action, MixedAction), "action")
        _check_action(action.choice, steps, space.choice)
        _check_action(action.point, steps, space.point)


def _is_finite(array: np.ndarray) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


def _require(holds: bool, name: str) -> None:
    if not holds:
        raise ValueError(f"the column {name} has another shape, type or range than the environment")
