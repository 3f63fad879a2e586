"""Row 7: settings out of range are refused, and a training stops at the first number that is not finite."""

import dataclasses
import math
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from attribute_planner.baselines.inverse import InverseBaselineConfig
from attribute_planner.baselines.option_critic import OptionCriticConfig
from attribute_planner.baselines.policy_gradient import PPOBaselineConfig, ReinforceBaselineConfig
from attribute_planner.configuration import TrainConfig
from attribute_planner.errors import ConfigurationError, NumericalError
from attribute_planner.experiments.reliability.glitches import Glitches
from attribute_planner.experiments.reliability.row import Row
from attribute_planner.files.array_file import read_arrays
from attribute_planner.learning.dqn import DQNConfig
from attribute_planner.learning.fitting import FitConfig
from attribute_planner.learning.inverse import InverseConfig
from attribute_planner.phases.detect import DetectConfig
from attribute_planner.phases.explore import ExploreConfig
from attribute_planner.phases.forward_model import ForwardModelConfig
from attribute_planner.phases.practise_config import PractiseConfig
from attribute_planner.storage.run_directory import AGENT
from attribute_planner.training import train

NUMBER = 7

ALL_SETTINGS = (
    TrainConfig(),
    OptionCriticConfig(),
    ReinforceBaselineConfig(),
    PPOBaselineConfig(),
    InverseBaselineConfig(),
)
"""Settings that hold every class of settings."""

WRONG = (math.nan, math.inf, -math.inf, 10**30, -(10**30), -2, "1", None, True)
"""Values that no number may have."""
ALSO_WRONG: dict[str, float] = {"hindsight": 7.0, "epsilon": -1.0, "visit_exponent": 11.0, "num_minibatches": 0}
"""Values that settings with these names may not have."""


def measure() -> Row:
    """Try wrong values for every setting, and train each learner on a sensor that fails."""
    began = time.monotonic()
    accepted, tried = accepted_values()
    stopped = {name: failing_training(name) for name in TRAININGS}
    wrong = [f"{name}: {fault}" for name, fault in stopped.items() if fault]
    measured = (
        f"{len(tried) - len(accepted)} of {len(tried)} wrong values refused in one line; "
        f"{len(stopped) - len(wrong)} of {len(stopped)} trainings with infinite observations stopped, "
        "with finite weights in the run directory"
    )
    measured += "".join(f"; {each}" for each in (*accepted[:3], *wrong))
    return Row("numbers", measured, not accepted and not wrong, time.monotonic() - began)


def accepted_values() -> tuple[list[str], list[str]]:
    """The wrong values that were accepted or refused in several lines, and all that were tried."""
    tried, accepted = [], []
    for settings in ALL_SETTINGS:
        for part, field in numeric_settings(settings):
            for value in wrong_values(field):
                tried.append(f"{type(part).__name__}.{field.name}={value!r}")
                if not is_refused(part, field.name, value):
                    accepted.append(f"accepted: {tried[-1]}")
    return accepted, tried


def wrong_values(field: dataclasses.Field) -> list[Any]:
    """Values that a setting may not have."""
    named = [ALSO_WRONG[field.name]] if field.name in ALSO_WRONG else []
    return [*WRONG, *([0.5] if field.type is int else []), *named]


def numeric_settings(settings: Any) -> Iterator[tuple[Any, dataclasses.Field]]:
    """Every number among nested settings, with the dataclass that holds it."""
    for field in dataclasses.fields(settings):
        if dataclasses.is_dataclass(value := getattr(settings, field.name)):
            yield from numeric_settings(value)
        elif field.type in (int, float):
            yield settings, field


def is_refused(settings: Any, name: str, value: Any) -> bool:
    """Whether a value raises a `ConfigurationError` of one line that names the setting."""
    try:
        replace(settings, **{name: value})
    except ConfigurationError as error:
        return name in str(error) and "\n" not in str(error)
    return False


FIT = FitConfig(updates=400, batch=64)
FAST = TrainConfig(
    detect=DetectConfig(num_labels=4096, fit=FIT, hidden_size=16),
    explore=ExploreConfig(
        steps=16_000, policy="random", num_envs=16, rollout_length=10, rollouts_per_epoch=5, hidden_size=16
    ),
    forward_model=ForwardModelConfig(fit=FIT, hidden_size=16),
    practise=PractiseConfig(
        steps=64_000,
        max_attempt_steps=4,
        num_envs=16,
        rollout_length=10,
        rollouts_per_epoch=5,
        hidden_size=16,
        inverse=InverseConfig(fit=FIT),
        dqn=DQNConfig(replay_ratio=16.0, batch_size=64),
        sac=DQNConfig(replay_ratio=16.0, batch_size=64),
    ),
)


def with_method(method: str) -> TrainConfig:
    """The settings with another learner."""
    return replace(FAST, practise=replace(FAST.practise, method=method))


TRAININGS: dict[str, TrainConfig] = {
    "ppo": with_method("ppo"),
    "reinforce": with_method("reinforce"),
    "dqn": with_method("dqn"),
    "sac": with_method("sac"),
    "inverse": with_method("inverse"),
    "exploration": replace(FAST, explore=replace(FAST.explore, policy="count-based")),
    "graph exploration": replace(FAST, explore=replace(FAST.explore, policy="graph")),
    "detector": replace(FAST, detect=replace(FAST.detect, learn=True)),
    "forward model": replace(with_method("inverse"), forward_model=replace(FAST.forward_model, learn=True)),
}


def failing_training(name: str) -> str:
    """What is wrong after a training on a sensor that fails; empty if it has stopped as it should."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        try:
            train(Glitches(continuous=name == "sac"), config=TRAININGS[name], run_dir=run)
        except NumericalError as error:
            if "\n" in str(error):
                return "several lines"
        else:
            return "not stopped"
        arrays = read_arrays(run / AGENT)[0] if (run / AGENT).exists() else {}
        spoilt = [each for each, array in arrays.items() if not np.isfinite(array).all()]
        return f"not finite: {', '.join(spoilt)}" if spoilt else ""
