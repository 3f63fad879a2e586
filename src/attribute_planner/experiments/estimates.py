"""How long a cell will take, from rates that were measured."""

from dataclasses import dataclass, replace
from typing import Any

import jax

from attribute_planner.baselines.inverse import InverseBaselineConfig
from attribute_planner.configuration import TrainConfig
from attribute_planner.experiments.baseline_run import baseline_config
from attribute_planner.experiments.runs import Cell, planner_config


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
    image_size: for pictures of which size these were measured, where there are any.
    """

    start: float
    practise: float
    explore: float = 1.0
    pictures: float = 1.0
    collect: float = 1.0
    trials: float = 1.0
    measure: float = 5.0
    episodes: float = 30.0
    image_size: int | None = None

    def for_pictures_of(self, size: int) -> "Rates":
        """The rates for pictures of another size: networks take time for every pixel."""
        if self.image_size is None:
            return self
        slower = (self.image_size / size) ** 2
        return replace(
            self,
            practise=self.practise * slower,
            pictures=self.pictures * slower,
            trials=self.trials * slower,
            episodes=self.episodes * slower,
            image_size=size,
        )


def seconds_of(cell: Cell) -> float:
    """About how long a cell takes to train and to measure, on the device at hand."""
    rates = RATES[_device()][_kind(cell.subject.environment)]
    rates = rates.for_pictures_of(getattr(cell.environment(), "image_size", 0))
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
    fits += [config.forward_model.fit] if config.forward_model.learn else []
    fitting = sum(fit.updates * fit.batch for fit in fits) / rates.pictures
    return rates.start + config.explore.steps / rates.collect + fitting + practising


def _device() -> str:
    return "cpu" if jax.default_backend() == "cpu" else "gpu"


def _kind(environment: str) -> str:
    return environment.partition("-")[0] if environment.startswith("starcraft") else environment


CPU = {
    "switches": Rates(start=25, explore=41e3, practise=43e3, trials=40e3, measure=4, episodes=120),
    "crafting": Rates(start=25, explore=41e3, practise=38e3, trials=38e3, measure=4, episodes=120),
    "blocks": Rates(
        start=25, practise=200, pictures=2e3, collect=3e3, trials=1e3, measure=1, episodes=10, image_size=32
    ),
    "blocks-continuous": Rates(
        start=35, practise=150, pictures=2e3, collect=350, trials=200, measure=2, episodes=4, image_size=32
    ),
    "starcraft": Rates(start=45, explore=3.4e3, practise=3.3e3, trials=3e3, measure=5, episodes=30),
}
"""Measured on two aarch64 cores, with other work beside some of it; the blocks', with a process on each."""

GPU = {
    "switches": Rates(start=20, explore=400e3, practise=700e3, trials=700e3),
    "crafting": Rates(start=20, explore=400e3, practise=700e3, trials=700e3),
    "blocks": Rates(start=30, practise=100e3, pictures=350e3, collect=100e3, trials=50e3, image_size=128),
    "blocks-continuous": Rates(start=30, practise=4e3, pictures=350e3, collect=4e3, trials=4e3, image_size=128),
    "starcraft": Rates(start=25, explore=480e3, practise=450e3, trials=450e3),
}
"""On an H200. From trainings on the switches, the blocks and StarCraft; the others, and all trials, are guesses."""

RATES = {"cpu": CPU, "gpu": GPU}
