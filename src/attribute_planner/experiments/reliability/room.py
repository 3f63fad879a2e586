"""A small Gymnasium world without faults, with places at which a fault can be planted."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from attribute_planner.attributes import Attribute
from attribute_planner.environments.gymnasium_bridge import from_gymnasium
from attribute_planner.environments.interface import Environment

Result = Any
Spoil = Callable[["Room", Result], Result]
"""The world and what it would return → what it returns."""

ATTRIBUTES = (Attribute("place", range(4)), Attribute("lamp"))
EPISODE_STEPS = 8


class Room(gymnasium.Env):
    """Four places in a row, and a lamp that each visit to the first one switches.

    spoil: by operation, `reset` or `step`, what is done to its result.
    first: the episode and step from which on the fault occurs.
    space: the observation space; `observe` returns an element of it.
    """

    def __init__(
        self,
        spoil: dict[str, Spoil] | None = None,
        *,
        first: tuple[int, int] = (2, 3),
        space: spaces.Space | None = None,
        observe: Callable[["Room"], Any] | None = None,
        actions: spaces.Space | None = None,
    ) -> None:
        self.observation_space = space or spaces.Box(0, 8, (3,), np.float32)
        self.action_space = actions or spaces.Discrete(2)
        self._spoil, self._first, self._observe = spoil or {}, first, observe or _numbers
        self.episode = self.age = self.place = 0
        self.lamp = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.episode, self.age, self.lamp = self.episode + 1, 0, False
        self.place = int(self.np_random.integers(4))
        return self._returned("reset", (self._observe(self), {}))

    def step(self, action: Any) -> Any:
        self.age += 1
        before, self.place = self.place, int(np.clip(self.place + (1 if int(np.sum(action)) else -1), 0, 3))
        self.lamp ^= self.place == 0 and before != 0
        return self._returned("step", (self._observe(self), 0.0, False, False, {}))

    def _returned(self, operation: str, result: Any) -> Any:
        is_due = (self.episode, self.age) >= self._first or (operation == "reset" and self.episode >= self._first[0])
        return self._spoil[operation](self, result) if operation in self._spoil and is_due else result


def _numbers(room: Room) -> np.ndarray:
    return np.array([room.place, room.lamp, room.age], np.float32)


def describe(observation: Any, info: dict[str, Any], env: Any) -> dict[str, Any]:
    """The attributes of the room."""
    del observation, info
    return {"place": env.unwrapped.place, "lamp": env.unwrapped.lamp}


def room_environment() -> Environment:
    """The room without a fault, for a training."""
    return from_gymnasium(Room, attributes=ATTRIBUTES, describe=describe, episode_steps=20)
