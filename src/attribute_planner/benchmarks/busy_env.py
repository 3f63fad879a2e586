"""Environments of `benchmark workers`: a simulator of a given duration, and MiniGrid. Their workers import no JAX."""

import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

import attribute_planner as ap

EPISODE_STEPS = 200
CALIBRATION = 2_000_000
"""Iterations of the empty loop that are timed."""


class BusyEnv(gymnasium.Env):
    """A counter whose step runs an empty loop of `iterations`: it takes time of a core, also if cores are shared."""

    observation_space = spaces.Box(0.0, 1.0, (8,), np.float32)
    action_space = spaces.Discrete(4)

    def __init__(self, iterations: int) -> None:
        self.iterations = iterations

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.age = 0
        return self.np_random.random(8, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        for _ in range(self.iterations):
            pass
        self.age += 1
        return self.np_random.random(8, np.float32), 0.0, False, self.age >= EPISODE_STEPS, {}


def iterations_for(milliseconds: float) -> int:
    """The length of a loop that takes this time on a core of this machine: the shortest of five measurements."""
    taken = []
    for _ in range(5):
        began = time.process_time()
        for _ in range(CALIBRATION):
            pass
        taken.append(time.process_time() - began)
    return round(CALIBRATION * milliseconds / 1000 / min(taken))


def busy(milliseconds: float) -> Any:
    """A simulator whose step takes about this time, as an environment."""
    iterations = iterations_for(milliseconds)
    return ap.from_gymnasium(
        lambda: BusyEnv(iterations),
        attributes=[ap.Attribute("high")],
        describe=lambda observation, info, env: {"high": observation[0] > 0.5},
        episode_steps=EPISODE_STEPS,
        name=f"{milliseconds:g} ms",
    )


def minigrid() -> Any:
    """MiniGrid's DoorKey 8×8 as it is; its observation is the agent's view."""
    return ap.from_gymnasium(
        make_door_key,
        attributes=[ap.Attribute("carries_key")],
        describe=lambda observation, info, env: {"carries_key": env.unwrapped.carrying is not None},
        name="MiniGrid",
    )


def make_door_key() -> gymnasium.Env:
    """The environment, without the text of its mission."""
    from minigrid.wrappers import ImgObsWrapper

    return ImgObsWrapper(gymnasium.make("MiniGrid-DoorKey-8x8-v0"))
