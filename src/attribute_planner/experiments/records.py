"""Records: the results of a run, one JSON file each, with everything that is needed to repeat it."""

import json
import re
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from attribute_planner.errors import AttributePlannerError
from attribute_planner.experiments.runs import Execution, Measurement, Run
from attribute_planner.files.writing import write_bytes

FORMAT = 2

Curve = list[list[float]]
"""Points of a curve: `[x, y]` each."""


@dataclass(frozen=True)
class Result:
    """One measurement: success on new tasks.

    success: fraction of the episodes; interval: its 95 % interval.
    mean_steps: environment steps of the successful episodes; `None` if there were none.
    mean_replans, planned: replans per episode, and mean probability of the first plans; `None` for a baseline.
    seconds: duration of the measurement.
    limit: the step limit of the measurement, if it is not that of the task.
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
    limit: int | None = None

    @property
    def measurement(self) -> Measurement:
        """What was measured."""
        return Measurement(self.task, Execution(self.mode, self.estimator, self.model_edges, self.limit))


@dataclass(frozen=True)
class Record:
    """The results of a run.

    run, run_spec, seed, scale: which run it is.
    command: repeats the run.
    configuration: the environment's parameters, and all settings of the training.
    trained, evaluated: version, commit and hardware of the training and of the latest measurement.
    training_seconds: duration of the training, including compilation.
    results: the measurements in the order in which they were made.
    scalars: metrics at the end of training: size of the table, errors of detector and forward model.
    curves: metrics over training.
    """

    run: str
    run_spec: str
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
        """The result of a measurement, if there is one."""
        return next((each for each in self.results if each.measurement == measurement), None)

    def missing(self, run: Run) -> list[Measurement]:
        """The measurements of the run that have no result yet."""
        return [each for each in run.spec.measurements if self.result(each) is None]


def record_path(folder: Path, run: Run) -> Path:
    """The path of the record of a run."""
    return folder / f"{run.name}.json"


def write_record(folder: Path, record: Record) -> None:
    """Write a record atomically: an interruption leaves the old or the new one."""
    folder.mkdir(parents=True, exist_ok=True)
    saved = asdict(record) | {"results": [_without_none(asdict(result), "limit") for result in record.results]}
    text = json.dumps({"format": FORMAT, **saved}, indent=1, allow_nan=False)
    write_bytes(folder / f"{record.run}.json", _short_lists_on_one_line(text).encode() + b"\n")


def _without_none(saved: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in saved.items() if key != name or value is not None}


def read_record(folder: Path, run: Run) -> Record | None:
    """The record of a run, complete or not; `None` if there is none."""
    path = record_path(folder, run)
    return _read(path) if path.exists() else None


def read_records(folder: Path) -> list[Record]:
    """All records in a folder, sorted by name."""
    return [_read(path) for path in sorted(folder.glob("*.json"))]


def _read(path: Path) -> Record:
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        if saved.pop("format") != FORMAT:
            raise AttributePlannerError(f"{path} is not a record of format {FORMAT}.")
        unknown = set(saved) - {each.name for each in fields(Record)}
        if unknown:
            raise AttributePlannerError(f"{path} has unknown fields: {', '.join(sorted(unknown))}.")
        return Record(**saved | {"results": [Result(**each) for each in saved["results"]]})
    except (ValueError, LookupError, TypeError) as error:
        raise AttributePlannerError(f"{path} is not a record: {error!r}") from error


def _short_lists_on_one_line(text: str) -> str:
    """Points and intervals on one line each, which keeps files and their diffs readable."""
    return re.sub(r"\[\s+(-?[\w.+-]+),\s+(-?[\w.+-]+)\s+\]", r"[\1, \2]", text)


def is_recorded(folder: Path, run: Run) -> bool:
    """Whether the record of a run is complete."""
    record = read_record(folder, run)
    return record is not None and not record.missing(run)
