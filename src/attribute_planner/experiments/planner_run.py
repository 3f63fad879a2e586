"""Runs of the planner: training, resumed if it was interrupted, and its metrics."""

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from attribute_planner.agent import Agent
from attribute_planner.configuration import TrainConfig
from attribute_planner.environments.interface import Environment
from attribute_planner.errors import ConfigurationError, RunDirectoryError
from attribute_planner.evaluation.evaluate import Evaluation, evaluate
from attribute_planner.experiments.records import Curve
from attribute_planner.experiments.runs import Measurement, Run, planner_config
from attribute_planner.experiments.trained import Evaluate, Trained, thinned
from attribute_planner.learning.reachers import LEARNERS, REACHERS
from attribute_planner.phases.detect import DetectConfig
from attribute_planner.phases.explore import ExploreConfig
from attribute_planner.phases.forward_model import ForwardModelConfig
from attribute_planner.phases.practise_config import PractiseConfig
from attribute_planner.storage.run_directory import CONFIG, RunDirectory
from attribute_planner.storage.settings import settings_from_json
from attribute_planner.training import train


def trained_planner(run: Run, run_dir: Path, say: Callable[[str], None]) -> Trained:
    """The run's agent: loaded, resumed or trained from the beginning."""
    wanted = planner_config(run)
    if not RunDirectory.exists(run_dir):
        say(f"{run.name}: training")
        train(run.environment(), seed=run.seed, run_dir=run_dir, config=wanted)
        return trained_of(RunDirectory(run_dir))
    directory = RunDirectory(run_dir)
    require_same(directory, run, wanted)
    if not directory.is_finished():
        say(f"{run.name}: training resumes")
        train(run.environment(), run_dir=run_dir, resume=True)
    return trained_of(directory)


def require_same(directory: RunDirectory, run: Run, wanted: TrainConfig) -> None:
    """An error unless an existing run directory has the settings, seed and environment of the run."""
    found = directory.description
    trained, asked = (found.seed, used_settings(found.config)), (run.seed, used_settings(wanted))
    if trained != asked or directory.environment() != run.environment():
        raise RunDirectoryError(
            f"{directory.path} was trained with other settings than run {run.name}; "
            "move it away, or give another --work."
        )


def is_planner_config(saved: dict[str, Any], run: Run) -> bool:
    """Whether saved settings equal those of the run, except where they have no effect."""
    try:
        return used_settings(settings_from_json(TrainConfig, saved)) == used_settings(planner_config(run))
    except (RunDirectoryError, ConfigurationError):  # settings that no longer exist or are no longer valid
        return False


def used_settings(config: TrainConfig) -> TrainConfig:
    """The settings, with those that have no effect reset to their defaults."""
    if not config.detect.learn:
        config = replace(config, detect=DetectConfig())
    settings = PractiseConfig()
    names = REACHERS.keys() & {each.name for each in fields(settings)}
    others = sorted(names - {config.practise.method})
    unused = {name: getattr(settings, name) for name in others}
    config = replace(config, practise=replace(config.practise, **unused))
    learners = LEARNERS if config.explore.policy == "random" else LEARNERS.keys() - {config.explore.learner}
    unused = {name: getattr(ExploreConfig(), name) for name in learners}
    config = replace(config, explore=replace(config.explore, **unused))
    if not config.forward_model.learn:
        config = replace(config, forward_model=ForwardModelConfig())
    return config


def trained_of(directory: RunDirectory, env: Environment | None = None) -> Trained:
    """The trained model of a finished run directory; `env` if its environment is not built in."""
    saved, metrics = json.loads((directory.path / CONFIG).read_text(encoding="utf-8")), directory.metrics()
    return Trained(
        configuration={"environment": saved["environment"], "config": saved["config"]},
        provenance=saved["provenance"],
        seconds=sum(_ends([line["seconds"] for line in metrics])),
        scalars=scalars_of(directory, env),
        curves=curves_of(metrics),
        evaluate=_evaluation_of(directory, env),
    )


def _evaluation_of(directory: RunDirectory, env: Environment | None) -> Evaluate:
    """A function that measures the agent of a run directory."""

    @cache
    def agent(model_edges: bool, estimator: str) -> Agent:
        return directory.agent(env, model_edges=model_edges).with_estimator(estimator)

    def measured(measurement: Measurement, episodes: int, seed: int) -> Evaluation:
        how = measurement.execution
        return evaluate(
            agent(how.model_edges, how.estimator),
            measurement.task,
            episodes=episodes,
            mode=how.mode,
            seed=seed,
            max_steps=how.max_steps,
        )

    return measured


def scalars_of(directory: RunDirectory, env: Environment | None = None) -> dict[str, float]:
    """Sizes of the table, and errors on held-out data."""
    seen, notes = directory.agent(env, model_edges=False).table, directory.notes()
    found: dict[str, float] = {"sets": seen.num_nodes, "edges": seen.num_edges}
    if "model_edges" in notes:
        found["edges with model-generated ones"] = directory.agent(env).table.num_edges
    if notes.get("detector"):
        found["detector error"] = notes["detector"]["full_set"]
        found["detector states"] = notes["detector"]["states"]
    if "forward_model" in notes:
        found["forward model error"] = notes["forward_model"]["error"]
    return found


def curves_of(metrics: list[dict[str, Any]]) -> dict[str, Curve]:
    """The recorded curves, by name."""
    curves = {
        name: [[line[x], line[y]] for line in metrics if line["phase"] == phase and y in line]
        for name, (phase, x, y) in CURVES.items()
    }
    return {name: thinned(points) for name, points in curves.items() if points}


CURVES = {
    "edges": ("explore", "steps", "edges"),
    "attempts that succeed": ("practise", "steps", "success"),
    "detector error": ("detect", "updates", "error_full_set"),
    "forward model error": ("forward_model", "updates", "error"),
}
"""For each curve: the phase whose metrics hold it, and the names of x and y there."""


def _ends(clock: list[float]) -> Iterator[float]:
    """The last value of a clock before each restart."""
    for now, later in pairwise([*clock, 0.0]):
        if later < now:
            yield now
