"""Estimated duration of a run, from measured rates."""

from dataclasses import dataclass, replace
from typing import Any

import jax

from attribute_planner.baselines.goal_cloning import GoalCloningConfig
from attribute_planner.baselines.hindsight_dqn import HindsightDQNConfig
from attribute_planner.baselines.inverse import InverseBaselineConfig
from attribute_planner.configuration import TrainConfig
from attribute_planner.experiments.baseline_run import baseline_config
from attribute_planner.experiments.runs import Run, planner_config


@dataclass(frozen=True)
class Rates:
    """Speed of the runs of an environment.

    start: seconds to compile everything that training needs.
    explore, practise: environment steps per second, including learning.
    images: examples per second while a network is fitted to images.
    collect: random single steps per second.
    tasks: environment steps per second while a baseline learns on tasks.
    measure: seconds to compile what a measurement needs.
    episodes: tasks per second in a measurement.
    image_size: the image size at which the rates were measured, if the observations are images.
    """

    start: float
    practise: float
    explore: float = 1.0
    images: float = 1.0
    collect: float = 1.0
    tasks: float = 1.0
    measure: float = 5.0
    episodes: float = 30.0
    image_size: int | None = None

    def for_images_of(self, size: int) -> "Rates":
        """The rates for another image size: the time of a network is proportional to the number of pixels."""
        if self.image_size is None:
            return self
        slower = (self.image_size / size) ** 2
        return replace(
            self,
            practise=self.practise * slower,
            images=self.images * slower,
            tasks=self.tasks * slower,
            episodes=self.episodes * slower,
            image_size=size,
        )


def seconds_of(run: Run) -> float:
    """Estimated seconds to train and measure a run on the present device."""
    rates = RATES[_device()][_kind(run.spec.environment)]
    rates = rates.for_images_of(getattr(run.environment(), "image_size", 0))
    measuring = len(run.spec.measurements) * (rates.measure + run.episodes / rates.episodes)
    if run.spec.is_baseline:
        return baseline_seconds(baseline_config(run), rates) + measuring
    return planner_seconds(planner_config(run), rates) + measuring


def baseline_seconds(config: Any, rates: Rates) -> float:
    """Estimated seconds to train a baseline."""
    if isinstance(config, InverseBaselineConfig):
        fit = config.learning.fit
        return rates.start + config.examples / rates.collect + fit.updates * fit.batch / rates.images
    replayed = config.replay.replay_ratio if isinstance(config, HindsightDQNConfig | GoalCloningConfig) else 0.0
    return rates.start + config.training.steps * (1 + replayed / REPLAYED_PER_STEP) / rates.tasks


REPLAYED_PER_STEP = 4
"""Replayed steps that take as long as a step on tasks with the update of PPO, which uses it four times."""


def planner_seconds(config: TrainConfig, rates: Rates) -> float:
    """Estimated seconds to train the planner."""
    practising = config.practise.steps / rates.practise
    if config.practise.method != "inverse":
        return rates.start + config.explore.steps / rates.explore + practising
    fits = [config.practise.inverse.fit]
    fits += [config.detect.fit] if config.detect.learn else []
    fits += [config.forward_model.fit] if config.forward_model.learn else []
    fitting = sum(fit.updates * fit.batch for fit in fits) / rates.images
    return rates.start + config.explore.steps / rates.collect + fitting + practising


def _device() -> str:
    return "cpu" if jax.default_backend() == "cpu" else "gpu"


def _kind(environment: str) -> str:
    return environment.partition("-")[0] if environment.startswith("starcraft") else environment


CPU = {
    "switches": Rates(start=25, explore=41e3, practise=43e3, tasks=40e3, measure=4, episodes=120),
    "crafting": Rates(start=25, explore=41e3, practise=38e3, tasks=38e3, measure=4, episodes=120),
    "blocks": Rates(start=25, practise=200, images=2e3, collect=3e3, tasks=1e3, measure=1, episodes=10, image_size=32),
    "blocks-continuous": Rates(
        start=35, practise=150, images=2e3, collect=350, tasks=200, measure=2, episodes=4, image_size=32
    ),
    "starcraft": Rates(start=45, explore=3.4e3, practise=3.3e3, tasks=3e3, measure=5, episodes=30),
}
"""Measured on two aarch64 cores, some of them under other load; the blocks with one process per core."""

GPU = {
    "switches": Rates(start=20, explore=400e3, practise=700e3, tasks=700e3),
    "crafting": Rates(start=20, explore=400e3, practise=700e3, tasks=700e3),
    "blocks": Rates(start=30, practise=100e3, images=350e3, collect=100e3, tasks=50e3, image_size=128),
    "blocks-continuous": Rates(start=30, practise=4e3, images=350e3, collect=4e3, tasks=4e3, image_size=128),
    "starcraft": Rates(start=25, explore=480e3, practise=450e3, tasks=450e3),
}
"""On an H200: measured on switches, blocks and StarCraft; the other rates, and all of `tasks`, are estimates."""

RATES = {"cpu": CPU, "gpu": GPU}
