"""Row 12: long runs need no more memory with time, and compile nothing more after their beginning."""

import gc
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attribute_planner.configuration import TrainConfig, config_for
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.registry import make
from attribute_planner.experiments.reliability.row import Row
from attribute_planner.learning.dqn import DQNConfig
from attribute_planner.training import train

NUMBER = 12
MAX_MIB = 1.0
"""Growth per 100,000 steps."""
BEGINNING = 0.4
"""The fraction of the steps after which nothing more is compiled, and memory is measured."""
MODULE = "attribute_planner.experiments.reliability.long_runs"
COMPILED = "/jax/core/compile/backend_compile_duration"
"""The event with which JAX reports a compilation."""


class Usage(NamedTuple):
    """What a training has used.

    growth: MiB per 100,000 steps, after the beginning.
    compiled: functions compiled after the beginning.
    steps: all steps.
    seconds: the duration.
    """

    growth: float
    compiled: int
    steps: int
    seconds: float


def measure() -> Row:
    """Train on a compiled world and on a Gymnasium world, each in a process of its own."""
    began = time.monotonic()
    usages = {name: usage_of(name) for name in RUNS}
    measured = "; ".join(
        f"{name}: {usage.growth:+.2f} MiB per 100,000 steps, {usage.compiled} functions compiled after the first "
        f"{BEGINNING:.0%} of {usage.steps:,} steps"
        for name, usage in usages.items()
    )
    passed = all(usage.growth <= MAX_MIB and usage.compiled == 0 for usage in usages.values())
    return Row("long runs", measured, passed, time.monotonic() - began)


def usage_of(name: str) -> Usage:
    """What a training uses in a new process."""
    command = [sys.executable, "-c", f"import {MODULE} as runs; runs.print_usage({name!r})"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Usage(**json.loads(done.stdout.splitlines()[-1]))


def print_usage(name: str) -> None:
    """Train and print what it has used."""
    import jax

    env, config = RUNS[name]()
    compiled: list[float] = []
    readings: list[tuple[float, float, float]] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, *_, **__: compiled.append(time.monotonic()) if event == COMPILED else None
    )
    began = time.monotonic()
    train(env, config=config, num_workers=0, logger=lambda numbers: read(readings, numbers, config))
    print(json.dumps(usage(readings, compiled, config.steps, time.monotonic() - began)._asdict()))


def read(readings: list[tuple[float, float, float]], numbers: dict[str, float], config: TrainConfig) -> None:
    """Note the time, the steps of practice so far, and the memory of the process in MiB."""
    if "practise/steps" in numbers:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        readings.append((time.monotonic(), numbers["practise/steps"], pages * PAGE_MIB))


PAGE_MIB = 4096 / 2**20


def usage(readings: Sequence[tuple[Any, Any, Any]], compiled: Sequence[float], steps: int, seconds: float) -> Usage:
    """The growth by a line through the readings after the beginning, and what was compiled after it.

    What follows practice (calibration, the report) is compiled once, and does not count.
    """
    moment, done, memory = np.array(readings).T
    late = done >= BEGINNING * done[-1]
    slope = float(np.polyfit(done[late], memory[late], 1)[0])
    between = [each for each in compiled if moment[late][0] < each < moment[-1]]
    return Usage(slope * 100_000, len(between), steps, seconds)


def compiled_world() -> tuple[Environment, TrainConfig]:
    """The switches, in compiled epochs of PPO."""
    config = config_for(make("switches"))
    explore = replace(config.explore, policy="random", steps=64_000, num_envs=64, hidden_size=16)
    practise = replace(config.practise, steps=3_000_000, num_envs=128, hidden_size=16, rollouts_per_epoch=10)
    return make("switches"), replace(config, explore=explore, practise=practise)


def gymnasium_world() -> tuple[Environment, TrainConfig]:
    """A small Gymnasium world, by DQN from a replay buffer that is soon full."""
    from attribute_planner.experiments.reliability.room import room_environment

    env = room_environment()
    config = config_for(env)
    dqn = DQNConfig(replay_ratio=1.0, capacity=8_000, batch_size=64)
    explore = replace(config.explore, policy="random", steps=16_000, hidden_size=16)
    practise = replace(config.practise, steps=200_000, dqn=dqn, hidden_size=16)
    return env, replace(config, explore=explore, practise=practise, rounds=1)


RUNS = {"compiled world": compiled_world, "Gymnasium world": gymnasium_world}
