"""Small environments for worker processes. This module imports no JAX: the processes import it."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

import attribute_planner as ap

LENGTH = 6
ATTRIBUTES = [ap.Attribute("half"), ap.Attribute("end")]


class Walk(gymnasium.Env):
    """A walk with a random drift; the episode ends at the last cell.

    folder: where episodes that fail are noted, so that they fail only once.
    fails: what happens at the third step of the first episodes: `dies`, `hangs`, `raises` or nothing.
    times: how many episodes fail.
    """

    observation_space = spaces.Box(-1.0, LENGTH, (3,), np.float32)
    action_space = spaces.Discrete(3)

    def __init__(self, folder: str = "", fails: str = "", times: int = 1) -> None:
        self.folder, self.fails, self.times, self.age = folder, fails, times, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.age = 0, 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.age += 1
        if self.fails and self.age == 3 and self._is_to_fail():
            self._fail()
        self.place = int(np.clip(self.place + int(action) - 1 + self.np_random.integers(-1, 2), 0, LENGTH - 1))
        return self._seen(), 0.0, self.place == LENGTH - 1, False, {}

    def _seen(self) -> np.ndarray:
        return np.array([self.place, self.age, self.np_random.normal()], np.float32)

    def _is_to_fail(self) -> bool:
        for number in range(self.times):
            with contextlib.suppress(FileExistsError):
                (Path(self.folder) / f"failed-{number}").touch(exist_ok=False)
                return True
        return False

    def _fail(self) -> None:
        if self.fails == "raises":
            raise RuntimeError("the floor gave way")
        if self.fails == "hangs":
            time.sleep(60)
        if self.fails == "dies":
            print("the simulator ran out of floor", file=sys.stderr, flush=True)
            os._exit(7)


def describe(observation: np.ndarray, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Any]:
    """The attributes. Another process than `LEARNER` must not have imported JAX."""
    if "jax" in sys.modules and os.environ.get("LEARNER", str(os.getpid())) != str(os.getpid()):
        raise RuntimeError("a worker process has imported jax")
    return {"half": observation[0] >= LENGTH // 2, "end": observation[0] == LENGTH - 1}


def walk(**parameters: Any) -> Any:
    return ap.from_gymnasium(
        lambda: Walk(**parameters), attributes=ATTRIBUTES, describe=describe, episode_steps=12, name="walk"
    )


class Careless(Walk):
    """Prints, starts a process, and needs more and more memory."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        print("careless")
        self.process = subprocess.Popen(["sleep", "600"])
        (Path(folder) / str(self.process.pid)).touch()
        self.kept: list[np.ndarray] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.kept.append(np.ones(2**23))
        return super().reset(seed=seed, options=options)


def careless(folder: Path) -> Any:
    return ap.from_gymnasium(
        lambda: Careless(str(folder)), attributes=ATTRIBUTES, describe=describe, episode_steps=12, name="careless"
    )


class Large(Walk):
    """Images of 27 MB."""

    observation_space = spaces.Box(0, 255, (3000, 3000, 3), np.uint8)

    def _seen(self) -> np.ndarray:
        return np.full((3000, 3000, 3), self.place, np.uint8)


def large() -> Any:
    return ap.from_gymnasium(
        Large,
        attributes=ATTRIBUTES,
        describe=lambda observation, info, env: {"half": observation[0, 0, 0] > 2, "end": False},
        episode_steps=12,
        name="large",
    )
