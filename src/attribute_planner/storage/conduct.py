"""What practice has measured about how to act, as arrays and a note of agent.safetensors."""

from typing import Any

import numpy as np

from attribute_planner.errors import DamagedFileError
from attribute_planner.files.array_file import Arrays
from attribute_planner.planning.executor import Conduct
from attribute_planner.planning.state_success import SuccessModel, log_odds

Notes = dict[str, Any]

CONDUCT = "conduct"
"""The note."""
SOURCE, TARGET, USUAL = SUCCESS_ARRAYS = ("success.source", "success.target", "success.usual")
"""The arrays of a `SuccessModel`; its weight is in the note."""
WEIGHT = "value_weight"


def conduct_arrays(conduct: Conduct) -> tuple[Arrays, dict[str, float]]:
    """The arrays and the note."""
    note = {"repeatable": conduct.repeatable, "inverse_temperature": conduct.inverse_temperature}
    measured = {"aliasing": conduct.aliasing, "arrival_steps": conduct.arrival_steps}
    note |= {name: value for name, value in measured.items() if value is not None}
    model = conduct.success
    if model is None:
        return {}, note
    arrays = {SOURCE: model.source, TARGET: model.target, USUAL: model.usual}
    return arrays, {**note, WEIGHT: model.weight}


def load_conduct(arrays: Arrays, notes: Notes, num_words: int) -> Conduct:
    """The same from a file. Older files have one of its parts elsewhere, or none."""
    if CONDUCT not in notes:
        return Conduct(notes.get("repeatable", notes.get("practice", {}).get("repeatable", 1.0)))
    note = dict(notes[CONDUCT])
    weight = note.pop(WEIGHT, None)
    if weight is None:
        return Conduct(**note)
    if not _fits(arrays, num_words):
        raise DamagedFileError(f"The arrays {', '.join(SUCCESS_ARRAYS)} are missing or not possible.")
    return Conduct(**note, success=SuccessModel(weight, *(arrays[name] for name in SUCCESS_ARRAYS)))


def _fits(arrays: Arrays, num_words: int) -> bool:
    if not all(name in arrays for name in SUCCESS_ARRAYS):
        return False
    source, target, usual = (arrays[name] for name in SUCCESS_ARRAYS)
    sets = (len(usual), num_words) if usual.ndim == 1 else ()
    words = all(each.dtype == np.uint32 and each.shape == sets for each in (source, target))
    greatest = np.float32(log_odds(np.ones(1))[0])
    return words and usual.dtype == np.float32 and bool((np.abs(usual) <= greatest).all())
