"""How long a cell will take, from rates that were measured."""

from dataclasses import dataclass
from typing import Any

import jax

from attribute_planner.baselines.inverse import InverseBaselineConfig
from attribute_planner.configuration import TrainConfig
from attribute_planner.experiments.baseline_trial import baseline_config
from attribute_planner.experiments.cells import Cell, planner_config


@dataclass(frozen=True)
class Rates:
    """How fast an environment's cells go.

    start: seconds for compiling all that training needs.
    explore, practise: environment steps per second, learning included.
    pictures: examples per second while a network is fitted to pictures.
    collect: random single steps per second.
    trials: environment steps per second while a baseline learns from trials.
    measure: seconds for compiling what a measurement needs.
    episodes: tasks per second.
    """

    start: float
    explore: float
    practise: float
    pictures: float = 1.0
    collect: float = 1.0
    trials: float = 1.0
    measure: float = 5.0
    episodes: float = 30.0


def seconds_of(cell: Cell) -> float:
    """About how long a cell takes to train and to measure, on the device at hand."""
    rates = RATES[_device()][_kind(cell.subject.environment)]
    measuring = len(cell.subject.measurements) * (rates.measure + cell.episodes / rates.episodes)
    if cell.subject.is_baseline:
        return baseline_seconds(baseline_config(cell), rates) + measuring
    return planner_seconds(planner_config(cell), rates) + measuring


def baseline_seconds(config: Any, rates: Rates) -> float:
    """About how long a baseline is trained."""
    if isinstance(config, InverseBaselineConfig):
        fit = config.learning.fit
        return rates.start + config.examples / rates.collect + fit.updates * fit.batch / rates.pictures
    return rates.start + config.school.steps / rates.trials


def planner_seconds(config: TrainConfig, rates: Rates) -> float:
    """About how long the planner is trained."""
    practising = config.practise.steps / rates.practise
    if config.practise.method != "inverse":
        return rates.start + config.explore.steps / rates.explore + practising
    fits = [config.inverse.fit]
    fits += [config.detect.fit] if config.detect.learn else []
    fits += [config.foresee.fit] if config.foresee.learn else []
    fitting = sum(fit.updates * fit.batch for fit in fits) / rates.pictures
    return rates.start + config.explore.steps / rates.collect + fitting + practising


def _device() -> str:
    return "cpu" if jax.default_backend() == "cpu" else "gpu"


def _kind(environment: str) -> str:
    return environment.partition("-")[0] if environment.startswith("starcraft") else environment


RATES: dict[str, dict[str, Rates]] = {
    "cpu": {
        "switches": Rates(start=30, explore=60e3, practise=43e3),
        "crafting": Rates(start=30, explore=60e3, practise=40e3),
        "blocks": Rates(start=60, explore=1, practise=500, pictures=100, collect=500),
        "blocks-continuous": Rates(start=60, explore=1, practise=200, pictures=100, collect=200),
        "starcraft": Rates(start=60, explore=2e3, practise=2e3),
    },
    "gpu": {
        "switches": Rates(start=30, explore=400e3, practise=800e3),
        "crafting": Rates(start=30, explore=400e3, practise=800e3),
        "blocks": Rates(start=30, explore=1, practise=100e3, pictures=100e3, collect=100e3),
        "blocks-continuous": Rates(start=30, explore=1, practise=1e3, pictures=100e3, collect=1e3),
        "starcraft": Rates(start=60, explore=100e3, practise=100e3),
    },
}
"""Two CPU cores (aarch64), and an H200."""
