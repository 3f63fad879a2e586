"""One run: train what is not trained yet, measure what is not measured yet, write a record."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attribute_planner.errors import AttributePlannerError
from attribute_planner.experiments.baseline_run import is_baseline_config, trained_baseline
from attribute_planner.experiments.planner_run import is_planner_config, trained_planner
from attribute_planner.experiments.records import Record, Result, read_record, record_path, write_record
from attribute_planner.experiments.runs import Measurement, Run, command_of
from attribute_planner.experiments.trained import Trained
from attribute_planner.storage.provenance import provenance

Say = Callable[[str], None]


@dataclass(frozen=True)
class Folders:
    """Where files are written.

    records: one JSON file per run.
    work: one run directory per run; a model that is trained there is not trained again.
    """

    records: Path
    work: Path


def run_one(run: Run, folders: Folders, say: Say, *, only_train: bool = False) -> Record:
    """Complete a run, or only its training. The record is written after every measurement."""
    record = read_record(folders.records, run)
    if record is not None and not is_current(record, run):
        raise _other_settings(run, folders)
    trained = train_or_load(run, folders.work / run.name, say)
    if record is None:
        record = new_record(run, trained, command_of(run))
        write_record(folders.records, record)
    elif (record.configuration, record.trained) != (trained.configuration, trained.provenance):
        raise _other_settings(run, folders)
    for measurement in () if only_train else record.missing(run):
        result = measure(trained, measurement, run.episodes, run.seed)
        say(f"{run.name}: {measurement.task}, {measurement.execution.mode}: {result.success:.1%}")
        record = replace(record, results=[*record.results, result], evaluated=provenance())
        write_record(folders.records, record)
    return record


def train_or_load(run: Run, run_dir: Path, say: Say) -> Trained:
    """The trained model of a run, loaded from its run directory if it is there."""
    train = trained_baseline if run.spec.is_baseline else trained_planner
    return train(run, run_dir, say)


def is_current(record: Record, run: Run) -> bool:
    """Whether the record was made with the settings that the run has today."""
    return has_settings(record.configuration["config"], run)


def has_settings(saved: dict[str, Any], run: Run) -> bool:
    """Whether saved settings are those that the run has today."""
    return is_baseline_config(saved, run) if run.spec.is_baseline else is_planner_config(saved, run)


def _other_settings(run: Run, folders: Folders) -> AttributePlannerError:
    """Results of two trainings must not end up in one record."""
    path = record_path(folders.records, run)
    return AttributePlannerError(
        f"{path} was begun with another training (other settings, version or machine); "
        "move it away, or give another --records."
    )


def new_record(run: Run, trained: Trained, command: str) -> Record:
    """A record without results."""
    return Record(
        run=run.name,
        run_spec=run.spec.name,
        seed=run.seed,
        scale=run.scale,
        command=command,
        configuration=trained.configuration,
        trained=trained.provenance,
        evaluated=provenance(),
        training_seconds=round(trained.seconds, 1),
        scalars=trained.scalars,
        curves=trained.curves,
    )


def measure(trained: Trained, measurement: Measurement, episodes: int, seed: int) -> Result:
    """One measurement. Its tasks depend on the seed alone: all models are measured on the same tasks."""
    started = time.monotonic()
    evaluation = trained.evaluate(measurement, episodes, seed)
    return Result(
        task=measurement.task,
        mode=measurement.execution.mode,
        estimator=measurement.execution.estimator,
        model_edges=measurement.execution.model_edges,
        episodes=evaluation.episodes,
        success=evaluation.success,
        interval=[round(evaluation.interval.low, 4), round(evaluation.interval.high, 4)],
        mean_steps=_number(evaluation.mean_steps),
        mean_replans=_number(evaluation.mean_replans),
        planned=_number(evaluation.planned),
        max_steps=evaluation.max_steps,
        seconds=round(time.monotonic() - started, 1),
        limit=measurement.execution.max_steps,
    )


def _number(value: float) -> float | None:
    """Rounded to four digits; `None` for NaN, which JSON does not have."""
    return None if value != value else round(value, 4)
