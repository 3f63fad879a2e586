"""The notes of a checkpoint, scalars of each part, and their checks."""

import math
from collections.abc import Callable
from typing import Any

from attribute_planner.data.attempt_log import CUT_OFF, KEPT_ATTEMPTS
from attribute_planner.errors import DamagedFileError
from attribute_planner.files.array_file import Arrays
from attribute_planner.storage.conduct import CONDUCT_ARRAYS

Notes = dict[str, Any]
Check = Callable[[Any], bool]


def is_count(value: Any) -> bool:
    """A whole number that is not negative."""
    return type(value) is int and 0 <= value < 2**53


def is_fraction(value: Any) -> bool:
    """A number from 0 to 1."""
    return type(value) in (int, float) and 0 <= value <= 1


def is_number(value: Any) -> bool:
    """A number that is not huge."""
    return type(value) in (int, float) and math.isfinite(value) and abs(value) < 2**53


def is_fractions(value: Any) -> bool:
    """A list of numbers from 0 to 1."""
    return isinstance(value, list) and all(map(is_fraction, value))


def is_log_odds(value: Any) -> bool:
    """A difference of log odds: beyond a hundred, probabilities are 0 or 1."""
    return is_number(value) and abs(value) <= 100


def is_log_odds_by_goal(value: Any) -> bool:
    """Differences of log odds by the attributes that goals mention, as in `"0110"`."""
    return isinstance(value, dict) and all(is_log_odds(each) for each in value.values()) and all(map(_is_mask, value))


def _is_mask(text: str) -> bool:
    return set(text) <= set("01")


def is_slope(value: Any) -> bool:
    """A factor of log odds."""
    return is_number(value) and 0 < value <= 100


def is_factor(value: Any) -> bool:
    """A factor of log probabilities: beyond a million, the largest probability is 1."""
    return is_number(value) and 0 < value <= 1e6


PARTS: dict[str, dict[str, Check] | Check] = {
    "format": is_count,
    "agent_only": lambda value: value is True,
    "repeatable": is_fraction,
    "conduct": {
        "repeatable": is_fraction,
        "inverse_temperature": is_factor,
        "value_weight": is_slope,
        "aliasing": is_fraction,
    },
    "metrics": is_count,
    "model_edges": {},
    "detector": {"per_attribute": is_fractions, "full_set": is_fraction, "states": is_count},
    "exploration": {"epoch": is_count, "steps": is_count, "round_number": is_count},
    "forward_model": {"error": is_fraction, "fitted_on": is_count},
    "practice": {
        "epoch": is_count,
        "steps": is_count,
        "fitted_on": is_count,
        "round_number": is_count,
        "repeatable": is_fraction,
    },
    "calibration": {
        "log_odds": is_log_odds,
        "planned": is_fraction,
        "reached": is_fraction,
        "episodes": is_count,
        "slope": is_slope,
        "by_goal": is_log_odds_by_goal,
    },
    "experience": {"end": is_count, "rows": is_count, "pending": lambda value: is_number(value) and value >= 0},
}
"""What the notes of a checkpoint may hold, and which values are possible."""

NEEDED = {
    "exploration": {"epoch", "steps"},
    "practice": {"epoch", "steps"},
    "experience": {"end", "rows", "pending"},
    "calibration": {"log_odds"},
    "forward_model": {"error"},
}
"""The fields that a part must have; a detector has all of them or none."""


def check_notes(notes: Notes, num_attributes: int, source: str) -> None:
    """An error unless the notes are possible.

    source: the file, for the message.
    """
    for part, note in notes.items():
        if part not in PARTS:
            raise DamagedFileError(f"{source} has an unknown note {part!r}.")
        allowed = PARTS[part]
        if not isinstance(allowed, dict):
            _require(allowed(note), source, part, note)
            continue
        _require(isinstance(note, dict) and set(note) <= set(allowed), source, part, note)
        _require(set(note) >= NEEDED.get(part, set()), source, part, note)
        for name, value in note.items():
            _require(allowed[name](value), source, f"{part}.{name}", value)
    by_goal = notes.get("calibration", {}).get("by_goal", {})
    _require(all(len(mask) == num_attributes for mask in by_goal), source, "calibration.by_goal", by_goal)
    if detector := notes.get("detector"):
        errors = detector.get("per_attribute", [])
        _require(set(detector) == set(PARTS["detector"]), source, "detector", detector)  # pyright: ignore[reportArgumentType]
        _require(len(errors) == num_attributes, source, "detector.per_attribute", errors)


def _require(holds: bool, source: str, name: str, value: Any) -> None:
    if not holds:
        raise DamagedFileError(f"{source} has the note {name} = {value!r}, which is not possible.")


TREES = ("detector", "policy", "optimiser", "critic", "forward_model")
"""The beginnings of the names of arrays that are leaves of networks and optimisers."""
TABLES = ("table", "practice", "exploration", "exploration.tried", "practice.seen")
COLUMNS = ("words", "source", "degree", "target", "visits", "attempts", "successes", "spent")
OTHERS = ("table.quotient", "practice.attempt_log", *CONDUCT_ARRAYS)


def check_names(arrays: Arrays, source: str) -> None:
    """An error unless each array is one that a checkpoint may hold."""
    known = {*OTHERS, *(f"{table}.{column}" for table in TABLES for column in COLUMNS)}
    for name in arrays:
        leaf = name.removeprefix("exploration.")
        if name not in known and not any(leaf == tree or leaf.startswith((f"{tree}.", f"{tree}[")) for tree in TREES):
            raise DamagedFileError(f"{source} holds an unknown array {name!r}.")


def check_attempt_log(arrays: Arrays, name: str, source: str) -> None:
    """An error unless the attempts, if there are any, are positions in a replay buffer, in the order of their ends."""
    if name not in arrays:
        return
    rows = arrays[name]
    fits = rows.dtype == "int64" and rows.ndim == 2 and rows.shape[1] == 4 and len(rows) <= KEPT_ATTEMPTS
    if fits:
        first, last, env, outcome = rows.T
        fits = bool((rows >= 0).all() and (first <= last).all() and (outcome <= CUT_OFF).all() and (env < 2**31).all())
    if not fits:
        raise DamagedFileError(f"{source} holds attempts that are not possible.")
