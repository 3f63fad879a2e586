"""`benchmark starcraft`: steps of the simulator per second, against the same rules in plain Python."""

import time

import jax
import numpy as np

from attribute_planner.benchmarks.env import acting_rate, alone_rate
from attribute_planner.benchmarks.measuring import Measurement, rates
from attribute_planner.environments.starcraft.environment import StarcraftBuild
from attribute_planner.environments.starcraft.reference import ReferenceGame

PEER = "the same rules in plain Python, one game at a time"
PEER_SECONDS = 3.0


def measure() -> list[Measurement]:
    """Both versions of the environment, alone and with the policy acting."""
    on_gpu, key = jax.default_backend() != "cpu", jax.random.key(0)
    lines = []
    for version in ("small", "large"):
        env = StarcraftBuild(version=version)
        peer = peer_rate(env)
        alone = alone_rate(env, 2**16 if on_gpu else 512, key)
        acting = acting_rate(env, 2**12 if on_gpu else 64, key)
        lines.append(rates(f"{version}, simulator alone", alone, peer, "steps/s", PEER))
        lines.append(rates(f"{version}, with the policy acting", acting, peer, "steps/s", PEER))
    return lines


def peer_rate(env: StarcraftBuild) -> float:
    """Random actions for whole episodes, creation of the games included."""
    random, steps, start = np.random.default_rng(0), 0, time.perf_counter()
    while (taken := time.perf_counter() - start) < PEER_SECONDS or steps == 0:
        game = ReferenceGame(env.rules)
        for actions in random.integers(0, env.actions.count, (env.episode_steps, env.unit_limit)).tolist():
            game.step(actions)
        steps += env.episode_steps
    return steps / taken
