"""Runs: one training each, with everything that is measured on it.

A run is data: a specification (`RunSpec`), a seed and a scale. Several tables may use one run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from attribute_planner.configuration import HOST, PRESETS, TrainConfig, default_config, paper_config
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.registry import make
from attribute_planner.errors import unknown_name
from attribute_planner.storage.settings import with_setting

PLANNER = "planner"
"""The model name of the agent that plans."""


@dataclass(frozen=True)
class Execution:
    """How a trained agent is executed in a measurement.

    mode: the name of an executor; `reactive` for a baseline, which does not plan.
    estimator: the estimator of c_π.
    model_edges: whether the table includes model-generated edges.
    max_steps: most environment steps of an episode; `None` for those of the task.
    """

    mode: str = "default"
    estimator: str = "posterior"
    model_edges: bool = True
    max_steps: int | None = None


PUBLISHED = Execution("paper", "ratio", model_edges=False)
WITHOUT_C_PI = Execution("paper", "visits", model_edges=False)
OURS = Execution()
REACTIVE = Execution("reactive", "", model_edges=False)


def ours_in(environment: str) -> Execution:
    """The default execution with the estimator of c_π that the environment's preset names, if it has one."""
    config = default_config(environment) if environment in PRESETS else HOST
    return Execution(estimator=config.estimator)


@dataclass(frozen=True)
class Measurement:
    """Success on a task with one kind of execution."""

    task: str
    execution: Execution


def measured(tasks: Iterable[str], *executions: Execution) -> tuple[Measurement, ...]:
    """Every task with every kind of execution."""
    return tuple(Measurement(task, execution) for task in tasks for execution in executions)


@dataclass(frozen=True)
class RunSpec:
    """What is trained and measured, once per seed.

    name: the first part of the names of its runs.
    environment: name of a built-in environment.
    measurements: what is measured after training.
    model: `PLANNER`, or the name of a baseline.
    training_distribution: the tasks that a baseline is trained on; empty for the planner, which is trained on none.
    preset: the planner's settings: `default`, or `paper` for the published ones.
    settings: changes to the preset, as `NAME=VALUE`; small: further changes at the small scale.
    small_env: parameters of the environment at the small scale, by name.
    """

    name: str
    environment: str
    measurements: tuple[Measurement, ...]
    model: str = PLANNER
    training_distribution: str = ""
    preset: str = "default"
    settings: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    small_env: tuple[tuple[str, Any], ...] = ()

    @property
    def is_baseline(self) -> bool:
        return self.model != PLANNER


@dataclass(frozen=True)
class Scale:
    """The size of an experiment.

    episodes: tasks per measurement.
    seeds: number of seeds of the planner; baseline_seeds: of a baseline.
    """

    episodes: int
    seeds: int
    baseline_seeds: int


SCALES = {"small": Scale(episodes=20, seeds=1, baseline_seeds=1), "paper": Scale(1000, seeds=5, baseline_seeds=3)}


@dataclass(frozen=True)
class Run:
    """One training of a `RunSpec`, with its measurements."""

    spec: RunSpec
    seed: int
    scale: str

    @property
    def name(self) -> str:
        """The name of its record and of its run directory."""
        return f"{self.scale}-{self.spec.name}-{self.seed}"

    @property
    def episodes(self) -> int:
        return SCALES[self.scale].episodes

    @property
    def assignments(self) -> tuple[str, ...]:
        """The settings that differ from the preset."""
        return self.spec.settings + (self.spec.small if self.scale == "small" else ())

    def environment(self) -> Environment:
        """The environment in which it is trained and measured."""
        return make(self.spec.environment, **dict(self.spec.small_env if self.scale == "small" else ()))


def runs_of(run_specs: Iterable[RunSpec], scale: str, seeds: int | None = None) -> list[Run]:
    """The runs of these specifications; with the scale's number of seeds if none is given."""
    return [Run(run_spec, seed, scale) for run_spec in run_specs for seed in range(seeds or _seeds(run_spec, scale))]


def _seeds(run_spec: RunSpec, scale: str) -> int:
    return SCALES[scale].baseline_seeds if run_spec.is_baseline else SCALES[scale].seeds


def named_runs(runs: Sequence[Run], names: Sequence[str]) -> list[Run]:
    """Those of the runs that are named, or have a prefix given, in `names`; all if there are no names.

    A complete name selects that run only, even if it is a prefix of other names.
    """
    everything = {run.name: run for run in runs}
    wanted = set() if names else set(everything)
    for name in names:
        found = {name} if name in everything else {each for each in everything if each.startswith(name)}
        if not found:
            raise unknown_name("run", name, list(everything))
        wanted |= found
    return [run for run in runs if run.name in wanted]


def runs_in(environments: Sequence[str], runs: Sequence[Run]) -> list[Run]:
    """Those of the runs that are in these environments; all if none is given."""
    known = list(dict.fromkeys(run.spec.environment for run in runs))
    for name in environments:
        if name not in known:
            raise unknown_name("environment", name, known)
    return [run for run in runs if not environments or run.spec.environment in environments]


def planner_config(run: Run) -> TrainConfig:
    """All settings of the planner of a run."""
    preset = paper_config if run.spec.preset == "paper" else default_config
    return with_settings(preset(run.spec.environment), run.assignments)


def with_settings(config: Any, assignments: Iterable[str]) -> Any:
    """Settings with some of them changed."""
    return reduce(with_setting, assignments, config)


def command_of(run: Run) -> str:
    """The command that does this run alone."""
    return f"attribute-planner reproduce --scale {run.scale} --runs {run.name}"
