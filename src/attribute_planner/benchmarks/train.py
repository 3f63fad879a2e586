"""`benchmark train`: the trainings that users run, at the presets' settings, against PPO from rejax; seeds together."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import jax
import numpy as np

from attribute_planner import algorithm
from attribute_planner.agent import Agent
from attribute_planner.benchmarks.env import explored_table
from attribute_planner.benchmarks.measuring import Measurement, rates, seconds_in_turn, times
from attribute_planner.configuration import PRESETS, TrainConfig, default_config
from attribute_planner.data.seeds import Together
from attribute_planner.environments.gridworld.crafting import Crafting
from attribute_planner.environments.gridworld.switches import ColoredSwitches
from attribute_planner.environments.registry import make
from attribute_planner.evaluation.evaluate import evaluate
from attribute_planner.phases.device_graph import device_graph
from attribute_planner.phases.practise import Practised, practise_epoch
from attribute_planner.training import announce

PEER = "PPO from rejax: same environment, number of environments, rollout length and network size"
SAME_STEPS = "PPO from rejax, for the same number of steps at its measured rate; its success is not measured"

TARGETS = {"switches": 0.995, "crafting": 1.0}
"""The success on the main task that a training must lead to."""
ATTEMPTS_TARGET = 0.995
"""The success rate of attempts up to which training is timed."""
TASKS = 500


def measure() -> list[Measurement]:
    """Each environment of `TARGETS`, trained from scratch on the current device."""
    lines = [line for name in TARGETS for line in measure_training(name, default_config(name))]
    return [*lines, measure_seeds()]


def measure_training(name: str, config: TrainConfig) -> list[Measurement]:
    """Rates of both phases, seconds of the training and of its compilation, and the success that it leads to."""
    env, epochs = make(name), EpochTimes()
    assert isinstance(env, ColoredSwitches | Crafting)
    train_key, peer_key = jax.random.split(jax.random.key(0))
    agent = algorithm.train(env, config, key=train_key, watch=epochs)
    total = time.perf_counter() - epochs.started
    peer = _peer(env, config, key=peer_key)
    rate, compilation = (None, None) if peer is None else peer
    seconds = epochs.seconds("explore") + epochs.seconds("practise")
    return [
        rates(f"{name}, exploring", epochs.rate("explore"), rate, "steps/s", PEER),
        rates(f"{name}, practising", epochs.rate("practise"), rate, "steps/s", PEER),
        times(f"{name}, compilation and start-up", total - seconds, compilation, "s", PEER),
        times(f"{name}, training", seconds, None if rate is None else config.steps / rate, "s", SAME_STEPS),
        *_until_attempts_succeed(name, epochs, rate),
        _tasks_solved(name, agent),
    ]


def measure_seeds(num_envs: int = 64, num_seeds: int = 4) -> Measurement:
    """Steps per second of an epoch of practice of seeds together, against one seed alone; both in turn."""
    env, (explore_key, *keys) = ColoredSwitches(), jax.random.split(jax.random.key(0), 1 + num_seeds)
    table = explored_table(env, explore_key)
    config = replace(PRESETS["switches"].practise, num_envs=num_envs, rollouts_per_epoch=5)
    graph, steps = device_graph(table), num_envs * config.rollout_length * config.rollouts_per_epoch

    def epoch(key: jax.Array) -> Practised:
        policy = config.reacher.new_policy(env.spec, config.hidden_size, key=key)
        practised = Practised(config.reacher.train_state(policy, env.spec, key=key), table, epoch=0, steps=0)
        return practise_epoch(env, None, graph, None, config, practised, key=key)[0]

    def together() -> list[Practised]:
        outcomes = Together(announce).run([partial(epoch, key) for key in keys])
        return [each for each in outcomes if isinstance(each, Practised)]

    assert len(together()) == num_seeds
    several, one = seconds_in_turn(together, partial(epoch, keys[0]))
    title = f"switches, practising in {num_envs} environments, {num_seeds} seeds together"
    return rates(title, num_seeds * steps / several, steps / one, "steps/s", "one seed alone")


def _until_attempts_succeed(name: str, epochs: "EpochTimes", peer_rate: float | None) -> Iterator[Measurement]:
    """The time to `ATTEMPTS_TARGET`, if any epoch of practice reached it."""
    enough = [epoch for epoch in epochs.of("practise") if epoch.success >= ATTEMPTS_TARGET]
    if enough:
        seconds = epochs.seconds("explore") + enough[0].steps / epochs.rate("practise")
        steps = epochs.of("explore")[-1].steps + enough[0].steps
        title = f"{name}, training until {ATTEMPTS_TARGET:.1%} of an epoch's attempts succeed"
        yield times(title, seconds, None if peer_rate is None else steps / peer_rate, "s", SAME_STEPS)


def _tasks_solved(name: str, agent: Agent) -> Measurement:
    success = evaluate(agent, episodes=TASKS).success
    title = f"{name}, {agent.task(None).name} tasks solved after that training"
    return rates(title, 100 * success, 100 * TARGETS[name], "%", "the target")


def _peer(env: ColoredSwitches | Crafting, config: TrainConfig, *, key: jax.Array) -> tuple[float, float] | None:
    """Steps per second and seconds of compilation of the peer; `None` where it is not installed."""
    try:
        from attribute_planner.benchmarks.rejax_ppo import speed
    except ImportError:
        return None
    return speed(env, config.practise, key=key)


@dataclass(frozen=True)
class Epoch:
    """The end of one epoch: its phase, the environment steps so far, the time, and the success of its attempts."""

    phase: str
    steps: int
    time: float
    success: float


@dataclass
class EpochTimes:
    """Records when each epoch of a training ends. The first epoch of a phase compiles; it is left out of the rates."""

    started: float = field(default_factory=time.perf_counter)
    epochs: list[Epoch] = field(default_factory=list)

    def __call__(self, phase: str, done: float, metrics: dict[str, Any], so_far: Any) -> None:
        del done, so_far
        now = time.perf_counter()
        self.epochs.append(Epoch(phase, int(metrics.get("steps", 0)), now, float(metrics.get("success", np.nan))))

    def of(self, phase: str) -> list[Epoch]:
        """The epochs of a phase."""
        return [epoch for epoch in self.epochs if epoch.phase == phase]

    def rate(self, phase: str) -> float:
        """Environment steps per second of a phase, its first epoch left out."""
        epochs = self.of(phase)
        return (epochs[-1].steps - epochs[0].steps) / (epochs[-1].time - epochs[0].time)

    def seconds(self, phase: str) -> float:
        """How long the phase takes without compilation: all of its steps at its rate."""
        return self.of(phase)[-1].steps / self.rate(phase)
