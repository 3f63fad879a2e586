"""Runs of baselines: training, and storing the trained policy.

A run directory of a baseline holds config.json, policy.safetensors and metrics.jsonl. An interrupted training starts
again from the beginning; a stored policy is not trained again.
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
from attribute_planner.baselines.option_critic import OptionActor, OptionCriticConfig
from attribute_planner.baselines.options import OptionPolicy
from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.data.trajectories import Actor
from attribute_planner.environments.interface import Environment
from attribute_planner.errors import ConfigurationError, RunDirectoryError
from attribute_planner.evaluation.evaluate import Evaluation
from attribute_planner.evaluation.evaluate_policy import evaluate_policy
from attribute_planner.experiments.baseline_configs import baseline_preset
from attribute_planner.experiments.runs import Measurement, Run, with_settings
from attribute_planner.experiments.trained import Trained, thinned
from attribute_planner.files.array_file import read_arrays, write_arrays
from attribute_planner.files.writing import write_bytes
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.storage.arrays import arrays_of, fill
from attribute_planner.storage.description import parameters_of
from attribute_planner.storage.metrics import METRICS
from attribute_planner.storage.provenance import provenance
from attribute_planner.storage.run_directory import CONFIG
from attribute_planner.storage.settings import settings_from_json, settings_to_json

POLICY = "policy.safetensors"


def baseline_config(run: Run) -> Any:
    """All settings of the baseline of a run."""
    return with_settings(baseline_preset(run.spec.model, run.spec.environment), run.assignments)


def is_baseline_config(saved: dict[str, Any], run: Run) -> bool:
    """Whether saved settings equal those of the run."""
    wanted = baseline_config(run)
    try:
        return settings_from_json(type(wanted), saved) == wanted
    except (RunDirectoryError, ConfigurationError):  # settings that no longer exist or are no longer valid
        return False


def trained_baseline(run: Run, run_dir: Path, say: Callable[[str], None]) -> Trained:
    """The run's policy, loaded from its run directory or trained."""
    env, config = run.environment(), baseline_config(run)
    if not (run_dir / POLICY).exists():
        say(f"{run.name}: training")
        _train(run, env, config, run_dir)
    saved = json.loads((run_dir / CONFIG).read_text(encoding="utf-8"))
    if saved["run"] != _description(run, env, config):
        raise RunDirectoryError(
            f"{run_dir} was trained with other settings than run {run.name}; move it away, or give another --work."
        )
    arrays, notes = read_arrays(run_dir / POLICY)
    policy = fill("policy", untrained(env, config), arrays)

    def evaluate(measurement: Measurement, episodes: int, seed: int) -> Evaluation:
        return evaluate_policy(env, policy, measurement.task, episodes=episodes, seed=seed)

    lines = [json.loads(line) for line in (run_dir / METRICS).read_text(encoding="utf-8").splitlines()]
    curve = [[line["steps"], line["success"]] for line in lines if "success" in line]
    return Trained(
        configuration=saved["run"],
        provenance=saved["provenance"],
        seconds=notes["seconds"],
        scalars={},
        curves={"episodes that succeed": thinned(curve)} if curve else {},
        evaluate=evaluate,
    )


def _train(run: Run, env: Environment, config: Any, run_dir: Path) -> None:
    """Train a policy in a new run directory; the policy file is written last."""
    shutil.rmtree(run_dir, ignore_errors=True)
    run_dir.mkdir(parents=True)
    description = {"run": _description(run, env, config), "provenance": provenance()}
    write_bytes(run_dir / CONFIG, json.dumps(description, indent=2).encode())
    started = time.monotonic()
    with open(run_dir / METRICS, "w", encoding="utf-8", buffering=1) as metrics:  # flushed line by line

        def watch(phase: str, done: float, shown: dict[str, Any], so_far: Any) -> None:
            seconds = round(time.monotonic() - started, 3)
            metrics.write(json.dumps({"phase": phase, "seconds": seconds, **shown}) + "\n")

        train = BASELINES[run.spec.model].train
        policy = train(env, run.spec.training_distribution, config, key=jax.random.key(run.seed), watch=watch)
    arrays = arrays_of("policy", policy)
    write_arrays(run_dir / POLICY, arrays, {"seconds": round(time.monotonic() - started, 3)})


def _description(run: Run, env: Environment, config: Any) -> dict[str, Any]:
    described = {
        "environment": {"name": env.name, "parameters": parameters_of(env)},
        "model": run.spec.model,
        "training_distribution": run.spec.training_distribution,
        "seed": run.seed,
        "config": settings_to_json(config),
    }
    return json.loads(json.dumps(described))


def untrained(env: Environment, config: Any) -> Actor:
    """A policy of these settings with shapes in place of weights."""

    def policy() -> Actor:
        key = jax.random.key(0)
        if isinstance(config, OptionCriticConfig):
            policy = OptionPolicy(env.spec, config.training.hidden_size, config.options, key=key)
            return OptionActor(policy, deterministic=config.training.deterministic)
        training, temperature = getattr(config, "training", config), getattr(config, "temperature", None)
        policy = GoalPolicy(env.spec, training.hidden_size, key=key, temperature=temperature)
        return ReactivePolicy(policy, training.deterministic)

    return eqx.filter_eval_shape(policy)
