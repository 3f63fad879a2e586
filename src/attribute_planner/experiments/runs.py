"""Cells: the independent pieces of work that fill the tables. A cell is one training, and all that is measured on it.

A cell is data: what is trained (a subject), with which seed, at which scale. Several tables may read one cell.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from attribute_planner.configuration import TrainConfig, default_config, paper_config
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.registry import make
from attribute_planner.storage.settings import with_setting

PLANNER = "planner"
"""The model that is not a baseline."""


@dataclass(frozen=True)
class Execution:
    """How a trained agent is put to the test.

    mode: as in `ExecutionConfig`; `reactive` for a baseline, which does not plan.
    estimator: how c_π is estimated.
    imagined: whether the table may hold transitions that were only imagined.
    """

    mode: str = "default"
    estimator: str = "posterior"
    model_edges: bool = True


PUBLISHED = Execution("paper", "ratio", model_edges=False)
WITHOUT_C_PI = Execution("paper", "visits", model_edges=False)
OURS = Execution()
REACTIVE = Execution("reactive", "", model_edges=False)


def ours_in(environment: str) -> Execution:
    """Our way, with the estimate of c_π that the environment's settings name."""
    return Execution(estimator=default_config(environment).estimator)


@dataclass(frozen=True)
class Measurement:
    """Success on a task, in one way of execution."""

    task: str
    execution: Execution


def measured(tasks: Iterable[str], *executions: Execution) -> tuple[Measurement, ...]:
    """Every task in every way of execution."""
    return tuple(Measurement(task, execution) for task in tasks for execution in executions)


@dataclass(frozen=True)
class Subject:
    """What is trained, once per seed.

    name: what its cells are called after.
    environment: name of a built-in environment.
    model: `PLANNER`, or the name of a baseline.
    regime: what a baseline is trained on; empty for the planner, which sees no tasks.
    preset: the planner's settings: `default`, or `paper` for those as published.
    settings: changes to them, as `NAME=VALUE`; small: further ones at the small scale.
    small_world: parameters of the environment at the small scale, by name.
    measurements: what is measured on it.
    """

    name: str
    environment: str
    measurements: tuple[Measurement, ...]
    model: str = PLANNER
    regime: str = ""
    preset: str = "default"
    settings: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    small_world: tuple[tuple[str, Any], ...] = ()

    @property
    def is_baseline(self) -> bool:
        return self.model != PLANNER


@dataclass(frozen=True)
class Scale:
    """How much is done.

    episodes: tasks per measurement.
    seeds: trainings of the planner; baseline_seeds: of a baseline.
    """

    episodes: int
    seeds: int
    baseline_seeds: int


SCALES = {"small": Scale(episodes=20, seeds=1, baseline_seeds=1), "paper": Scale(1000, seeds=5, baseline_seeds=3)}


@dataclass(frozen=True)
class Cell:
    """One training of a subject, and all that is measured on it."""

    subject: Subject
    seed: int
    scale: str

    @property
    def name(self) -> str:
        """What its record and its run directory are called."""
        return f"{self.scale}-{self.subject.name}-{self.seed}"

    @property
    def episodes(self) -> int:
        return SCALES[self.scale].episodes

    @property
    def assignments(self) -> tuple[str, ...]:
        """The settings that differ from the preset's."""
        return self.subject.settings + (self.subject.small if self.scale == "small" else ())

    def environment(self) -> Environment:
        """The world in which it is trained and measured."""
        return make(self.subject.environment, **dict(self.subject.small_world if self.scale == "small" else ()))


def cells_of(subjects: Iterable[Subject], scale: str, seeds: int | None = None) -> list[Cell]:
    """The cells of subjects; the scale's number of seeds if none is given."""
    return [Cell(subject, seed, scale) for subject in subjects for seed in range(seeds or _seeds(subject, scale))]


def _seeds(subject: Subject, scale: str) -> int:
    return SCALES[scale].baseline_seeds if subject.is_baseline else SCALES[scale].seeds


def planner_config(cell: Cell) -> TrainConfig:
    """All settings with which the planner of a cell is trained."""
    preset = paper_config if cell.subject.preset == "paper" else default_config
    return with_settings(preset(cell.subject.environment), cell.assignments)


def with_settings(config: Any, assignments: Iterable[str]) -> Any:
    """Settings with some of them changed."""
    return reduce(with_setting, assignments, config)


def command_of(cell: Cell) -> str:
    """The command that does what a cell does, and nothing else."""
    return f"attribute-planner reproduce --scale {cell.scale} --cells {cell.name}"
