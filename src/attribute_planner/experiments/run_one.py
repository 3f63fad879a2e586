"""A trial: one cell carried out. Train what is not trained yet, measure what is not measured yet, keep a record."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from attribute_planner.experiments.baseline_run import is_baseline_config, trained_baseline
from attribute_planner.experiments.planner_run import is_planner_config, trained_planner
from attribute_planner.experiments.records import Record, Result, read_record, write_record
from attribute_planner.experiments.runs import Cell, Measurement, command_of
from attribute_planner.experiments.trained import Trained
from attribute_planner.storage.provenance import provenance

Say = Callable[[str], None]


@dataclass(frozen=True)
class Folders:
    """Where things are kept.

    records: one JSON file per cell.
    work: one run directory per cell; what lies there trained is not trained again.
    """

    records: Path
    work: Path


def carry_out(cell: Cell, folders: Folders, say: Say, *, only_train: bool = False) -> Record:
    """Do what is left to do for a cell, or only its training. The record is kept after every measurement."""
    trained = train_subject(cell, folders.work / cell.name, say)
    record = read_record(folders.records, cell) or new_record(cell, trained)
    write_record(folders.records, record)
    for measurement in () if only_train else record.missing(cell):
        result = measure(trained, measurement, cell)
        say(f"{cell.name}: {measurement.task}, {measurement.execution.mode}: {result.success:.1%}")
        record = replace(record, results=[*record.results, result], evaluated=provenance())
        write_record(folders.records, record)
    return record


def train_subject(cell: Cell, run_dir: Path, say: Say) -> Trained:
    """The cell's subject, trained here or found trained."""
    train = trained_baseline if cell.subject.is_baseline else trained_planner
    return train(cell, run_dir, say)


def is_current(record: Record, cell: Cell) -> bool:
    """Whether the cell would still be trained with the settings that its record tells of."""
    trained = record.configuration["config"]
    return is_baseline_config(trained, cell) if cell.subject.is_baseline else is_planner_config(trained, cell)


def new_record(cell: Cell, trained: Trained) -> Record:
    """A record in which nothing is measured yet."""
    return Record(
        cell=cell.name,
        subject=cell.subject.name,
        seed=cell.seed,
        scale=cell.scale,
        command=command_of(cell),
        configuration=trained.configuration,
        trained=trained.provenance,
        evaluated=provenance(),
        training_seconds=round(trained.seconds, 1),
        scalars=trained.scalars,
        curves=trained.curves,
    )


def measure(trained: Trained, measurement: Measurement, cell: Cell) -> Result:
    """One measurement. Its tasks depend on the seed alone: all subjects are given the same."""
    started = time.monotonic()
    evaluation = trained.evaluate(measurement, cell.episodes, cell.seed)
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
    )


def _number(value: float) -> float | None:
    """JSON has no NaN, and more digits say nothing."""
    return None if value != value else round(value, 4)
