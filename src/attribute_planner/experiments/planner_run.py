"""The planner's part in a trial: its training, taken up where it stopped, and what can be read off it."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from attribute_planner.agent import Agent
from attribute_planner.configuration import TrainConfig
from attribute_planner.errors import ConfigurationError, RunDirectoryError
from attribute_planner.evaluation.evaluate import Evaluation, evaluate
from attribute_planner.experiments.records import Curve
from attribute_planner.experiments.runs import Cell, Measurement, planner_config
from attribute_planner.experiments.trained import Evaluate, Trained, thinned
from attribute_planner.learning.inverse import InverseConfig
from attribute_planner.phases.detect import DetectConfig
from attribute_planner.phases.forward_model import ForwardModelConfig
from attribute_planner.storage.run_directory import CONFIG, RunDirectory
from attribute_planner.storage.settings import settings_from_json
from attribute_planner.training import train


def trained_planner(cell: Cell, run_dir: Path, say: Callable[[str], None]) -> Trained:
    """The cell's agent: found trained, trained on where it stopped, or trained from nothing."""
    wanted = planner_config(cell)
    if not (run_dir / CONFIG).exists():
        say(f"{cell.name}: training")
        train(cell.environment(), seed=cell.seed, run_dir=run_dir, config=wanted)
        return _trained(RunDirectory(run_dir))
    run = RunDirectory(run_dir)
    require_same(run, cell, wanted)
    if not run.is_finished():
        say(f"{cell.name}: training goes on")
        train(cell.environment(), run_dir=run_dir, resume=True)
    return _trained(run)


def require_same(run: RunDirectory, cell: Cell, wanted: TrainConfig) -> None:
    """An error unless a run that is there already is the one that the cell would train."""
    found = run.description
    trained, asked = (found.seed, used_settings(found.config)), (cell.seed, used_settings(wanted))
    if trained != asked or run.environment() != cell.environment():
        raise RunDirectoryError(
            f"{run.path} was not trained as cell {cell.name} is to be; move it away, or give another --work."
        )


def is_planner_config(saved: dict[str, Any], cell: Cell) -> bool:
    """Whether saved settings are those with which the cell is trained, as far as they have an effect."""
    try:
        return used_settings(settings_from_json(TrainConfig, saved)) == used_settings(planner_config(cell))
    except (RunDirectoryError, ConfigurationError):  # settings that no longer exist, or are no longer allowed
        return False


def used_settings(config: TrainConfig) -> TrainConfig:
    """The settings with those reset that have no effect."""
    if not config.detect.learn:
        config = replace(config, detect=DetectConfig())
    if config.practise.method != "inverse":
        config = replace(config, inverse=InverseConfig())
    if not config.forward_model.learn:
        config = replace(config, forward_model=ForwardModelConfig())
    return config


def _trained(run: RunDirectory) -> Trained:
    """What a finished run has to say."""
    saved, metrics = json.loads((run.path / CONFIG).read_text(encoding="utf-8")), run.metrics()
    return Trained(
        configuration={"environment": saved["environment"], "config": saved["config"]},
        provenance=saved["provenance"],
        seconds=sum(_ends([line["seconds"] for line in metrics])),
        scalars=scalars_of(run),
        curves=curves_of(metrics),
        evaluate=_evaluation_of(run),
    )


def _evaluation_of(run: RunDirectory) -> Evaluate:
    """Measures the agent of a run."""

    @cache
    def agent(model_edges: bool, estimator: str) -> Agent:
        return run.agent(model_edges=model_edges).with_estimator(estimator)

    def measured(measurement: Measurement, episodes: int, seed: int) -> Evaluation:
        how = measurement.execution
        return evaluate(
            agent(how.model_edges, how.estimator), measurement.task, episodes=episodes, mode=how.mode, seed=seed
        )

    return measured


def scalars_of(run: RunDirectory) -> dict[str, float]:
    """Transitions that were found, and errors on what was held out."""
    seen, notes = run.agent(model_edges=False).table, run.notes()
    found: dict[str, float] = {"sets": seen.num_nodes, "edges": seen.num_edges}
    if "model_edges" in notes:
        found["edges with model-generated ones"] = run.agent().table.num_edges
    if notes.get("detector"):
        found["detector error"] = notes["detector"]["full_set"]
        found["detector states"] = notes["detector"]["states"]
    if "forward_model" in notes:
        found["forward model error"] = notes["forward_model"]["error"]
    return found


def curves_of(metrics: list[dict[str, Any]]) -> dict[str, Curve]:
    """Transitions over steps of exploring; success of attempts over steps of practising; and so on."""
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
"""Curves by name: the phase whose metrics hold them, and the names of x and y there."""


def _ends(clock: list[float]) -> Iterator[float]:
    """The last reading of a clock before each time that it began anew."""
    for now, later in pairwise([*clock, 0.0]):
        if later < now:
            yield now
