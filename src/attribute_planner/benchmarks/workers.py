"""`benchmark workers`: steps per second of simulators on the host in worker processes, with a policy network acting."""

import importlib.util
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner import algorithm
from attribute_planner.benchmarks.busy_env import busy, minigrid
from attribute_planner.benchmarks.measuring import Measurement, rates, times
from attribute_planner.benchmarks.no_communication import separate_processes
from attribute_planner.benchmarks.train import EpochTimes
from attribute_planner.configuration import host_config
from attribute_planner.data.rollout import advance, start
from attribute_planner.environments.workers.choice import num_cores
from attribute_planner.environments.workers.cluster import LOCAL
from attribute_planner.environments.workers.running import cluster_workers, worker_processes
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.exploration_policies import ExplorationPolicy

NUM_ENVS = 16
"""Environments that are stepped together, as in the default settings."""

MILLISECONDS = (0.1, 1.0, 5.0)
SECONDS, REPEATS = 1.0, 3
"""Each rate is the median of some measurements of this length, taken in turn with those of the others."""

OVERLAP_MILLISECONDS, OVERLAP_STEPS = 5.0, 8_000

RAY_MILLISECONDS = (0.1, 1.0)
"""The difference to workers without Ray is a time per message, which does not depend on the simulator."""

ONE_PROCESS = "the same in one process"
SEPARATE = "processes without communication"
RAY = "the same as Ray actors on this machine"
ASYNC, SUBPROC = "Gymnasium's AsyncVectorEnv", "Stable-Baselines3's SubprocVecEnv"

ENVS_PER_WORKER, WEAK_MILLISECONDS = 8, 1.0
"""Weak scaling: each worker has as much to do, whatever their number."""

Play = Callable[[int], int]
"""Takes a number of steps in each environment, and returns the number of steps in all of them together."""


def measure() -> list[Measurement]:
    """Each simulator with one worker, two and so on up to the number of cores, against one process and two peers;
    then weak scaling, Ray, and learning while the simulator runs."""
    envs = [*(busy(each) for each in MILLISECONDS), *_installed(minigrid)]
    lines = [line for env in envs for line in measure_env(env)]
    lines += measure_weak_scaling(busy(WEAK_MILLISECONDS))
    lines += [line for milliseconds in RAY_MILLISECONDS for line in measure_ray(busy(milliseconds))]
    return [*lines, measure_overlap(busy(OVERLAP_MILLISECONDS))]


def measure_overlap(env: Any) -> Measurement:
    """Steps per second of practice by DQN that learns while the next steps are simulated, against one that waits."""
    cores = num_cores()
    with worker_processes(env, cores):
        overlapping, waiting = (practice_rate(env, overlap) for overlap in (True, False))
    name = f"{env.name}, {cores} workers, practice that overlaps with learning"
    return rates(name, overlapping, waiting, "steps/s", "the same without overlap")


def practice_rate(env: Any, overlap: bool) -> float:
    """Steps per second of practice with the default settings, its first epoch left out."""
    config, epochs = host_config(env.spec).with_steps(OVERLAP_STEPS), EpochTimes()
    practise = replace(config.practise, overlap=overlap, rollouts_per_epoch=3)
    algorithm.train(env, replace(config, practise=practise, rounds=1), key=jax.random.key(0), watch=epochs)
    return epochs.rate("practise")


def measure_env(env: Any) -> Iterator[Measurement]:
    """The lines of one simulator."""
    numbers = worker_numbers(num_cores())
    actor = _policy(env)
    contexts = {
        ONE_PROCESS: ours(env, actor, 0),
        **{str(number): ours(env, actor, number) for number in numbers},
        SEPARATE: lambda: separate_processes(env, numbers[-1], NUM_ENVS),
        ASYNC: peer(env, actor, _async_vector_env),
        SUBPROC: peer(env, actor, _subproc_vec_env),
    }
    found = measured_speeds(contexts)
    titles = {number: f"{env.name}, {number} worker{'s' if number > 1 else ''}" for number in numbers}
    last, best = titles[numbers[-1]], found[str(numbers[-1])]
    for number, title in titles.items():
        yield rates(title, found[str(number)].rate, found[ONE_PROCESS].rate, "steps/s", ONE_PROCESS)
    name = f"{env.name}, {numbers[-1]} {SEPARATE}"
    yield rates(name, found[SEPARATE].rate, found[ONE_PROCESS].rate, "steps/s", ONE_PROCESS)
    for against in (ASYNC, SUBPROC):
        yield rates(last, best.rate, found[against].rate if against in found else None, "steps/s", against)
    yield times(f"{last}, core time of the learner per step", best.learner, found[ASYNC].learner, "µs", ASYNC)


def measure_weak_scaling(env: Any) -> Iterator[Measurement]:
    """The speed with the same number of environments for each worker, against one worker."""
    actor, numbers = _policy(env), worker_numbers(num_cores())
    found = measured_speeds({str(each): ours(env, actor, each, ENVS_PER_WORKER * each) for each in numbers})
    one = found[str(numbers[0])].rate
    for number in numbers:
        name = f"{env.name}, {ENVS_PER_WORKER} environments for each of {number} worker{'s' if number > 1 else ''}"
        yield rates(name, found[str(number)].rate, one, "steps/s", "one worker")


def measure_ray(env: Any) -> Iterator[Measurement]:
    """The duration of a step, and the core time of the learner in it, without Ray and with it."""
    number, actor = num_cores(), _policy(env)
    contexts = {"here": ours(env, actor, number), **({RAY: on_ray(env, actor, number)} if _has_ray() else {})}
    found = measured_speeds(contexts)
    here, there = found["here"], found.get(RAY)
    name = f"{env.name}, {number} workers"
    yield times(f"{name}, time per step", 1e6 / here.rate, there and 1e6 / there.rate, "µs", RAY)
    yield times(f"{name}, core time of the learner per step", here.learner, there and there.learner, "µs", RAY)


def _has_ray() -> bool:
    return importlib.util.find_spec("ray") is not None


def _policy(env: Any) -> ExplorationPolicy:
    return ExplorationPolicy(GoalPolicy(env.spec, hidden_size=100, key=jax.random.key(0)))


def worker_numbers(cores: int) -> list[int]:
    """1, 2, 4, … up to the number of cores, which is the last."""
    powers = [2**power for power in range(cores.bit_length()) if 2**power < cores]
    return [*powers, cores]


class Speed(NamedTuple):
    """Steps per second, and the time that the process of the learner has a core for a step, in microseconds."""

    rate: float
    learner: float


def measured_speeds(contexts: dict[str, Any]) -> dict[str, Speed]:
    """The speed of each way to play, measured in turn; those that are not installed are left out."""
    with ExitStack() as stack:
        opened = {name: stack.enter_context(context()) for name, context in contexts.items()}
        plays = {name: play for name, play in opened.items() if play is not None}
        lengths = {name: _length_for(play) for name, play in plays.items()}
        found = [{name: _speed(play, lengths[name]) for name, play in plays.items()} for _ in range(REPEATS)]
    return {name: Speed(*np.median([each[name] for each in found], axis=0).tolist()) for name in plays}


def _speed(play: Play, length: int) -> Speed:
    began, began_core = time.perf_counter(), time.process_time()
    steps = play(length)
    return Speed(steps / (time.perf_counter() - began), 1e6 * (time.process_time() - began_core) / steps)


def _length_for(play: Play) -> int:
    """The number of steps that take about `SECONDS`."""
    play(5)
    began = time.perf_counter()
    play(10)
    return max(round(10 * SECONDS / (time.perf_counter() - began)), 10)


def ours(env: Any, actor: ExplorationPolicy, num_workers: int, num_envs: int = NUM_ENVS) -> Any:
    """A rollout, which also records the steps with their attributes."""
    return _playing(env, actor, lambda: worker_processes(env, num_workers), num_envs)


def on_ray(env: Any, actor: ExplorationPolicy, num_workers: int) -> Any:
    """The same with Ray actors on this machine."""
    return _playing(env, actor, lambda: cluster_workers(env, LOCAL, num_workers, NUM_ENVS), NUM_ENVS)


def _playing(env: Any, actor: ExplorationPolicy, workers: Callable[[], Any], num_envs: int) -> Any:
    @contextmanager
    def playing() -> Iterator[Play]:
        with workers():
            envs, key = env.vector_env(num_envs), jax.random.key(1)
            episodes = start(actor, envs, key=key)

            def play(length: int) -> int:
                nonlocal episodes
                episodes, _ = advance(actor, envs, episodes, length, space=env.attributes, key=key)
                return num_envs * length

            try:
                yield play
            finally:
                envs.close()

    return playing


def peer(env: Any, actor: ExplorationPolicy, make: Callable[[Any], Any]) -> Any:
    """The same environments and network, in a vector environment of another package."""

    @contextmanager
    def playing() -> Iterator[Play | None]:
        found = next(_installed(make, env.recipe.make), None)
        if found is None:
            yield None
            return
        envs, reset, step = found
        values = jnp.zeros((NUM_ENVS, len(env.attributes)), jnp.int32)
        act = jax.jit(lambda observation, key: actor.act(None, observation, values, key=key)[1])
        observation = reset()

        def play(length: int) -> int:
            nonlocal observation
            for number in range(length):
                flat = np.asarray(observation).reshape(NUM_ENVS, -1).astype(env.observation.dtype)
                observation = step(np.asarray(act(flat, jax.random.key(number))))
            return NUM_ENVS * length

        try:
            yield play
        finally:
            envs.close()

    return playing


def _async_vector_env(make: Any) -> tuple[Any, Any, Any]:
    import gymnasium

    # Forked processes of a program that uses JAX may hang.
    envs = gymnasium.vector.AsyncVectorEnv([make] * NUM_ENVS, context="forkserver")
    return envs, lambda: envs.reset(seed=0)[0], lambda action: envs.step(action)[0]


def _subproc_vec_env(make: Any) -> tuple[Any, Any, Any]:
    from stable_baselines3.common.vec_env import SubprocVecEnv  # pyright: ignore[reportMissingImports]

    envs = SubprocVecEnv([make] * NUM_ENVS, start_method="forkserver")
    return envs, envs.reset, lambda action: envs.step(action)[0]


def _installed(make: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
    """What a function makes, unless a package that it needs is missing."""
    try:
        yield make(*arguments)
    except ImportError:
        return
