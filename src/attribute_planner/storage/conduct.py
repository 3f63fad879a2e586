"""What practice has measured about how to act, as arrays and a note of agent.safetensors."""

from typing import Any

import numpy as np

from attribute_planner.errors import DamagedFileError
from attribute_planner.files.array_file import Arrays
from attribute_planner.planning.executor import Conduct
from attribute_planner.planning.state_success import SuccessModel, log_odds
from attribute_planner.transitions.edge_numbers import EdgeNumbers

Notes = dict[str, Any]

CONDUCT = "conduct"
"""The note."""
WEIGHT = "value_weight"
"""The weight of a `SuccessModel`, in the note."""
USUAL, ARRIVAL = "success", "arrival"
"""The beginnings of the names of arrays: the usual log odds of values, and the mean steps of arrivals."""
COLUMNS = {USUAL: ("source", "target", "usual"), ARRIVAL: ("source", "target", "steps")}
CONDUCT_ARRAYS = tuple(f"{part}.{column}" for part, columns in COLUMNS.items() for column in columns)
GREATEST_LOG_ODDS = float(np.float32(log_odds(np.ones(1))[0]))
RANGES = {USUAL: (-GREATEST_LOG_ODDS, GREATEST_LOG_ODDS), ARRIVAL: (1.0, 2.0**31)}


def conduct_arrays(conduct: Conduct) -> tuple[Arrays, dict[str, float]]:
    """The arrays and the note."""
    note = {"repeatable": conduct.repeatable, "inverse_temperature": conduct.inverse_temperature}
    if conduct.aliasing is not None:
        note["aliasing"] = conduct.aliasing
    arrays: Arrays = {}
    if conduct.success is not None:
        note[WEIGHT] = conduct.success.weight
        arrays |= _arrays_of(USUAL, conduct.success.usual)
    if conduct.arrival_steps is not None:
        arrays |= _arrays_of(ARRIVAL, conduct.arrival_steps)
    return arrays, note


def load_conduct(arrays: Arrays, notes: Notes, num_words: int) -> Conduct:
    """The same from a file. Older files have one of its parts elsewhere, or none."""
    if CONDUCT not in notes:
        return Conduct(notes.get("repeatable", notes.get("practice", {}).get("repeatable", 1.0)))
    note = dict(notes[CONDUCT])
    weight = note.pop(WEIGHT, None)
    success = None if weight is None else SuccessModel(weight, _edge_numbers(USUAL, arrays, num_words))
    is_measured = any(f"{ARRIVAL}.{column}" in arrays for column in COLUMNS[ARRIVAL])
    arrival_steps = _edge_numbers(ARRIVAL, arrays, num_words) if is_measured else None
    return Conduct(**note, success=success, arrival_steps=arrival_steps)


def _arrays_of(part: str, measured: EdgeNumbers) -> Arrays:
    columns = (measured.source, measured.target, measured.number)
    return {f"{part}.{name}": column for name, column in zip(COLUMNS[part], columns, strict=True)}


def _edge_numbers(part: str, arrays: Arrays, num_words: int) -> EdgeNumbers:
    names = [f"{part}.{column}" for column in COLUMNS[part]]
    columns = [arrays[name] for name in names if name in arrays]
    if len(columns) < len(names) or not _fits(part, columns, num_words):
        raise DamagedFileError(f"The arrays {', '.join(names)} are missing or not possible.")
    return EdgeNumbers(*columns)


def _fits(part: str, columns: list[np.ndarray], num_words: int) -> bool:
    source, target, number = columns
    sets = (len(number), num_words) if number.ndim == 1 else ()
    words = all(each.dtype == np.uint32 and each.shape == sets for each in (source, target))
    least, greatest = RANGES[part]
    return words and number.dtype == np.float32 and bool(((least <= number) & (number <= greatest)).all())
