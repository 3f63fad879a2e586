"""A point agent pushes two discs on a table. Actions are velocities in the plane."""

from typing import Any

import gymnasium
import numpy as np

from attribute_planner.attributes import Attribute, Value
from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment, from_gymnasium

QUADRANTS = ("bottom-left", "bottom-right", "top-left", "top-right")
DISCS = ("red", "blue")


class PushTable(gymnasium.Env):
    """A table of [−1, 1]² with a point agent and two discs. A step moves the agent by at most `STRIDE` in x and in y.

    The agent pushes a disc that it touches, and a disc pushes the other. Centres of discs stay `MARGIN` away from the
    edge, so that the agent can go round them. Nothing is random but the start.

    Observation: the positions of the agent and of both discs, `float32[6]`.
    """

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (6,), np.float32)
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)

    STRIDE = 0.1
    RADIUS = 0.15
    MARGIN = 0.25

    def __init__(self) -> None:
        self.agent, self.discs = np.zeros(2), np.zeros((2, 2))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Draw positions that do not overlap."""
        super().reset(seed=seed)
        edge = 1 - self.MARGIN
        while True:
            self.agent, *discs = self.np_random.uniform(-edge, edge, (3, 2))
            self.discs = np.stack(discs)
            gaps = np.linalg.norm([self.agent - discs[0], self.agent - discs[1], discs[0] - discs[1]], axis=1)
            if (gaps > 2 * self.RADIUS).all():
                return self._observation(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Move the agent, then what it touches."""
        velocity = np.clip(np.asarray(action, np.float64), -1, 1)
        self.agent = np.clip(self.agent + self.STRIDE * velocity, -1, 1)
        first = int(np.argmin(np.linalg.norm(self.discs - self.agent, axis=1)))
        for disc in (first, 1 - first):
            self.discs[disc] = self._on_table(_pushed(self.discs[disc], self.agent, self.RADIUS))
            other = 1 - disc
            self.discs[other] = self._on_table(_pushed(self.discs[other], self.discs[disc], 2 * self.RADIUS))
            self.discs[disc] = self._on_table(_pushed(self.discs[disc], self.discs[other], 2 * self.RADIUS))
        for disc in self.discs:  # a disc that cannot move stops the agent
            self.agent = np.clip(_pushed(self.agent, disc, self.RADIUS), -1, 1)
        return self._observation(), 0.0, False, False, {}

    def _on_table(self, position: np.ndarray) -> np.ndarray:
        return np.clip(position, self.MARGIN - 1, 1 - self.MARGIN)

    def _observation(self) -> np.ndarray:
        return np.concatenate([self.agent, *self.discs]).astype(np.float32)


def pushing() -> GymnasiumEnvironment:
    """The quadrant of each disc. The goal is one disc in each of two opposite quadrants."""

    def describe(observation: np.ndarray, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        places = zip(DISCS, observation[2:].reshape(2, 2), strict=True)
        return {disc: QUADRANTS[2 * int(y > 0) + int(x > 0)] for disc, (x, y) in places}

    return from_gymnasium(
        PushTable,
        attributes=[Attribute(disc, values=QUADRANTS) for disc in DISCS],
        describe=describe,
        tasks={"goal": {"red": "top-left", "blue": "bottom-right"}},
    )


def _pushed(position: np.ndarray, by: np.ndarray, distance: float) -> np.ndarray:
    """The position, moved away until it is `distance` from what pushes it."""
    apart = position - by
    gap = float(np.linalg.norm(apart))
    if gap >= distance:
        return position
    direction = apart / gap if gap > 0 else np.array([1.0, 0.0])
    return by + distance * direction
