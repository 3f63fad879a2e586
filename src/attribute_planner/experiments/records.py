"""Records: what came of a cell, one JSON file each, with all that is needed to make it again."""

import json
import re
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from attribute_planner.errors import AttributePlannerError
from attribute_planner.experiments.runs import Cell, Execution, Measurement
from attribute_planner.storage.arrays import write_bytes

FORMAT = 1

Curve = list[list[float]]
"""Points of a curve: `[x, y]` each."""


@dataclass(frozen=True)
class Result:
    """One measurement: success on fresh tasks.

    success: share of the episodes; interval: its 95 % interval.
    mean_steps: environment steps of the successful episodes; `None` if there were none.
    mean_replans, planned: replans per episode and mean probability that the plans promised; `None` for a baseline.
    seconds: how long it took to measure.
    """

    task: str
    mode: str
    estimator: str
    model_edges: bool
    episodes: int
    success: float
    interval: list[float]
    mean_steps: float | None
    mean_replans: float | None
    planned: float | None
    max_steps: int
    seconds: float

    @property
    def measurement(self) -> Measurement:
        """What was measured."""
        return Measurement(self.task, Execution(self.mode, self.estimator, self.model_edges))


@dataclass(frozen=True)
class Record:
    """What came of a cell.

    cell, subject, seed, scale: which one it is.
    command: what does it again.
    configuration: the environment's parameters, and all settings of the training.
    trained, evaluated: commit, versions and hardware of both, which may differ.
    training_seconds: how long training took, compiling included.
    results: what was measured, in that order.
    scalars: numbers that training left behind: transitions found, errors of detector and outlook.
    curves: how numbers went while training.
    """

    cell: str
    subject: str
    seed: int
    scale: str
    command: str
    configuration: dict[str, Any]
    trained: dict[str, Any]
    evaluated: dict[str, Any]
    training_seconds: float
    results: list[Result] = field(default_factory=list)
    scalars: dict[str, float] = field(default_factory=dict)
    curves: dict[str, Curve] = field(default_factory=dict)

    def result(self, measurement: Measurement) -> Result | None:
        """What came of a measurement, if it has been made."""
        return next((each for each in self.results if each.measurement == measurement), None)

    def missing(self, cell: Cell) -> list[Measurement]:
        """What is still to be measured on its cell."""
        return [each for each in cell.subject.measurements if self.result(each) is None]


def record_path(folder: Path, cell: Cell) -> Path:
    """Where the record of a cell lies."""
    return folder / f"{cell.name}.json"


def write_record(folder: Path, record: Record) -> None:
    """Keep a record: written beside the old one and put in its place, so that a kill leaves one of them whole."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"format": FORMAT, **asdict(record)}, indent=1, allow_nan=False)
    write_bytes(folder / f"{record.cell}.json", _short_lists_on_one_line(text).encode() + b"\n")


def read_record(folder: Path, cell: Cell) -> Record | None:
    """The record of a cell, as far as it has come; `None` if there is none."""
    path = record_path(folder, cell)
    return _read(path) if path.exists() else None


def read_records(folder: Path) -> list[Record]:
    """All records in a folder, by name."""
    return [_read(path) for path in sorted(folder.glob("*.json"))]


def _read(path: Path) -> Record:
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        if saved.pop("format") != FORMAT:
            raise AttributePlannerError(f"{path} is a record of another format than {FORMAT}.")
        unknown = set(saved) - {each.name for each in fields(Record)}
        if unknown:
            raise AttributePlannerError(f"{path} has fields that do not exist: {', '.join(sorted(unknown))}.")
        return Record(**saved | {"results": [Result(**each) for each in saved["results"]]})
    except (ValueError, LookupError, TypeError) as error:
        raise AttributePlannerError(f"{path} is not a record: {error!r}") from error


def _short_lists_on_one_line(text: str) -> str:
    """Points and intervals in a line each: people read these files, too, and look at what changed in them."""
    return re.sub(r"\[\s+(-?[\w.+-]+),\s+(-?[\w.+-]+)\s+\]", r"[\1, \2]", text)


def is_begun(folder: Path, cell: Cell) -> bool:
    """Whether a cell is trained, and perhaps measured in part."""
    return read_record(folder, cell) is not None


def is_recorded(folder: Path, cell: Cell) -> bool:
    """Whether nothing is left to do for a cell."""
    record = read_record(folder, cell)
    return record is not None and not record.missing(cell)
