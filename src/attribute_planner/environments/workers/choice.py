"""Whether worker processes are worth it, and how many; measured when training begins."""

import os
import time

import jax
import numpy as np

from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import uniform_action
from attribute_planner.environments.workers.running import bridged
from attribute_planner.errors import ConfigurationError
from attribute_planner.ranges import COUNT_OR_ZERO, check_number

SHORTEST_STEP = 0.0002
"""Seconds. If a step takes less, passing it to another process saves too little."""

SHORTEST_SAVING = 10.0
"""Seconds of training time that worker processes must save, because starting them takes some."""

TIMED_STEPS, TIMED_SECONDS = 50, 0.5
"""How many steps are measured at most, and for how long."""


def choose_num_workers(env: Environment, wanted: int | None, *, num_envs: int, steps: int) -> int:
    """The number of worker processes for a training; 0 to run the environments in this process.

    wanted: the number that the user asked for; `None` for as many as there are cores, if that saves time.
    num_envs: environments that are stepped together; more workers would have nothing to do.
    steps: environment steps of the training.
    """
    if wanted is not None:
        check_number("num_workers", wanted, COUNT_OR_ZERO, whole=True)
    if wanted == 0:
        return 0
    base = bridged(env)
    if base is None or os.name != "posix":
        if wanted is None:
            return 0
        reason = f"{env.name} is not made by ap.from_gymnasium" if base is None else "they need Linux or macOS"
        raise ConfigurationError(f"num_workers={wanted}: worker processes are not available: {reason}.")
    if wanted is not None:
        return min(wanted, num_envs)
    from attribute_planner.environments.workers.sending import can_be_sent

    cores = min(num_cores(), num_envs)
    if cores < 2 or not can_be_sent(base.recipe):
        return 0
    seconds = step_seconds(base)
    saved = steps * seconds * (1 - 1 / cores)
    return cores if seconds >= SHORTEST_STEP and saved >= SHORTEST_SAVING else 0


def num_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def step_seconds(env: Environment) -> float:
    """Mean seconds of a random step of one environment, without its resets."""
    envs, taken, spent = env.vector_env(1), 0, 0.0
    actions = np.asarray(uniform_action(env.actions, (TIMED_STEPS, 1), key=jax.random.key(0)))
    try:
        over = envs.reset(jax.random.key(0)).over[0]
        for action in actions:
            if over:
                envs.reset(jax.random.key(taken))
            began = time.perf_counter()
            over = envs.step(action, jax.random.key(0)).over[0]
            taken, spent = taken + 1, spent + time.perf_counter() - began
            if spent > TIMED_SECONDS:
                break
    finally:
        envs.close()
    return spent / taken
