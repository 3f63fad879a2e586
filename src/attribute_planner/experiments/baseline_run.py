"""A baseline's part in a trial: its training, and keeping the player that comes out.

A run directory of a baseline holds config.json, player.safetensors and metrics.jsonl. Training that was broken off
begins anew; a player that is there is not trained again.
"""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax

from attribute_planner.baselines import BASELINES
from attribute_planner.baselines.option_critic import OptionCriticConfig, OptionPlayer
from attribute_planner.baselines.options import OptionPolicy
from attribute_planner.baselines.reactive_policy import Player, PolicyPlayer
from attribute_planner.environments.interface import Environment
from attribute_planner.errors import ConfigurationError, RunDirectoryError
from attribute_planner.evaluation.evaluate import Evaluation
from attribute_planner.evaluation.evaluate_policy import evaluate_player
from attribute_planner.experiments.baseline_configs import fair_config
from attribute_planner.experiments.runs import Cell, Measurement, with_settings
from attribute_planner.experiments.trained import Trained, thinned
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.storage.arrays import arrays_of, fill, read_arrays, write_arrays, write_bytes
from attribute_planner.storage.provenance import provenance
from attribute_planner.storage.run_directory import CONFIG, METRICS, parameters_of
from attribute_planner.storage.settings import settings_from_json, settings_to_json

PLAYER = "player.safetensors"


def baseline_config(cell: Cell) -> Any:
    """All settings with which the baseline of a cell is trained."""
    return with_settings(fair_config(cell.subject.model, cell.subject.environment), cell.assignments)


def is_baseline_config(saved: dict[str, Any], cell: Cell) -> bool:
    """Whether saved settings are those with which the cell is trained."""
    wanted = baseline_config(cell)
    try:
        return settings_from_json(type(wanted), saved) == wanted
    except (RunDirectoryError, ConfigurationError):  # settings that no longer exist, or are no longer allowed
        return False


def trained_baseline(cell: Cell, run_dir: Path, say: Callable[[str], None]) -> Trained:
    """The cell's player: found trained, or trained from nothing."""
    env, config = cell.environment(), baseline_config(cell)
    if not (run_dir / PLAYER).exists():
        say(f"{cell.name}: training")
        _train(cell, env, config, run_dir)
    saved = json.loads((run_dir / CONFIG).read_text(encoding="utf-8"))
    if saved["cell"] != _description(cell, env, config):
        raise RunDirectoryError(
            f"{run_dir} was not trained as cell {cell.name} is to be; move it away, or give another --work."
        )
    arrays, notes = read_arrays(run_dir / PLAYER)
    player = fill("player", untrained(env, config), arrays)

    def evaluate(measurement: Measurement, episodes: int, seed: int) -> Evaluation:
        return evaluate_player(env, player, measurement.task, episodes=episodes, seed=seed)

    lines = [json.loads(line) for line in (run_dir / METRICS).read_text(encoding="utf-8").splitlines()]
    curve = [[line["steps"], line["success"]] for line in lines if "success" in line]
    return Trained(
        configuration=saved["cell"],
        provenance=saved["provenance"],
        seconds=notes["seconds"],
        scalars={},
        curves={"trials that succeed": thinned(curve)} if curve else {},
        evaluate=evaluate,
    )


def _train(cell: Cell, env: Environment, config: Any, run_dir: Path) -> None:
    """Train a player into a fresh run directory; it is there only when it is whole."""
    shutil.rmtree(run_dir, ignore_errors=True)
    run_dir.mkdir(parents=True)
    description = {"cell": _description(cell, env, config), "provenance": provenance()}
    write_bytes(run_dir / CONFIG, json.dumps(description, indent=2).encode())
    started = time.monotonic()
    with open(run_dir / METRICS, "w", encoding="utf-8", buffering=1) as metrics:  # a line at a time, to be watched

        def watch(phase: str, done: float, shown: dict[str, Any], so_far: Any) -> None:
            seconds = round(time.monotonic() - started, 3)
            metrics.write(json.dumps({"phase": phase, "seconds": seconds, **shown}) + "\n")

        train = BASELINES[cell.subject.model].train
        player = train(env, cell.subject.regime, config, key=jax.random.key(cell.seed), watch=watch)
    arrays = arrays_of("player", player)
    write_arrays(run_dir / PLAYER, arrays, {"seconds": round(time.monotonic() - started, 3)})


def _description(cell: Cell, env: Environment, config: Any) -> dict[str, Any]:
    described = {
        "environment": {"name": env.name, "parameters": parameters_of(env)},
        "model": cell.subject.model,
        "regime": cell.subject.regime,
        "seed": cell.seed,
        "config": settings_to_json(config),
    }
    return json.loads(json.dumps(described))


def untrained(env: Environment, config: Any) -> Player:
    """A player of these settings without weights, to be filled."""

    def player() -> Player:
        key = jax.random.key(0)
        if isinstance(config, OptionCriticConfig):
            policy = OptionPolicy(env.spec, config.school.hidden_size, config.options, key=key)
            return OptionPlayer(policy, deterministic=config.school.deterministic)
        school = getattr(config, "school", config)
        return PolicyPlayer(GoalPolicy(env.spec, school.hidden_size, key=key), school.deterministic)

    return eqx.filter_eval_shape(player)
