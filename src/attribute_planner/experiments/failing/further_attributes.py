"""Five environments with the wrong attributes, written after the findings: what is left out, noise, too coarse or fine.

Each is written as a user would: a Gymnasium environment, attributes and `describe`.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from attribute_planner.attributes import Attribute
from attribute_planner.environments.gymnasium_bridge import from_gymnasium
from attribute_planner.experiments.failing.case import FailingCase

STAGES = ("seed", "sprout", "flower")


class Greenhouse(gymnasium.Env):
    """Six pots of one plant. It only flowers in rich soil, which is as it is from the start."""

    observation_space = spaces.Dict(
        {
            "pot": spaces.Discrete(6),
            "soil": spaces.Discrete(3),
            "stage": spaces.Discrete(3),
            "water": spaces.Discrete(4),
        }
    )
    action_space = spaces.Discrete(4)  # previous pot, next pot, water, wait

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.pot, self.soil = int(self.np_random.integers(6)), int(self.np_random.integers(3))
        self.stage, self.water = 0, 0
        return self.observation(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.pot = (self.pot + (-1, 1, 0, 0)[action]) % 6
        if action == 2 and self.pot == 3:
            self.water += 1
        if self.water == 3:
            self.water = 0
            self.stage = max(self.stage, 1 if self.stage == 0 or self.soil < 2 else 2)
        return self.observation(), 0.0, False, False, {}

    def observation(self) -> dict[str, int]:
        return {"pot": self.pot, "soil": self.soil, "stage": self.stage, "water": self.water}


class Rover(gymnasium.Env):
    """A rover on a track of nine places. It climbs the hill at the end only while its battery is half full."""

    observation_space = spaces.Box(0.0, 1.0, (3,))
    action_space = spaces.Discrete(3)  # back, forward, climb or descend

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.charge, self.high = int(self.np_random.integers(9)), float(self.np_random.random()), False
        return self.observation(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if action == 2 and self.place == 8 and (self.high or self.charge > 0.5):
            self.high = not self.high
        if not self.high:
            self.place = int(np.clip(self.place + (-1, 1, 0)[action], 0, 8))
        self.charge = max(self.charge - 0.005, 0.0)
        return self.observation(), 0.0, False, False, {}

    def observation(self) -> np.ndarray:
        return np.array([self.place / 8, self.charge, self.high], np.float32)


class Garage(gymnasium.Env):
    """Four levels of three wings, between which there is no way. Only the last has the ramp to the upper levels."""

    observation_space = spaces.MultiDiscrete([4, 3, 5])
    action_space = spaces.Discrete(4)  # along the wing, back, up, down

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.level, self.wing, self.bay = 0, int(self.np_random.integers(3)), int(self.np_random.integers(5))
        return self.observation(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if action < 2:
            self.bay = int(np.clip(self.bay + (1, -1)[action], 0, 4))
        elif self.bay == 0 and action == 3:
            self.level = max(self.level - 1, 0)
        elif self.bay == 4 and (self.level == 0 or self.wing == 2):
            self.level = min(self.level + 1, 3)
        return self.observation(), 0.0, False, False, {}

    def observation(self) -> np.ndarray:
        return np.array([self.level, self.wing, self.bay])


class Harbour(gymnasium.Env):
    """A crane that loads a ship. The wind comes from anywhere, and matters to nothing."""

    observation_space = spaces.Box(-np.inf, np.inf, (5,))
    action_space = spaces.Discrete(5)  # left, right, grab, release, wait

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.x, self.holds, self.loaded, self.angle = int(self.np_random.integers(7)), False, False, 0.0
        return self.observation(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.x = int(np.clip(self.x + (-1, 1, 0, 0, 0)[action], 0, 6))
        if action == 2 and self.x == 0 and not self.loaded:
            self.holds = True
        if action == 3 and self.holds:
            self.holds, self.loaded = False, self.x == 6
        self.angle += float(self.np_random.normal(scale=0.6))
        return self.observation(), 0.0, False, False, {}

    def observation(self) -> np.ndarray:
        return np.array([self.x, self.holds, self.loaded, np.sin(self.angle), np.cos(self.angle)], np.float32)


class Field(gymnasium.Env):
    """A field of 13 × 13 places with a lamp in its middle, whose switch is in a corner."""

    observation_space = spaces.Box(0.0, 12.0, (3,))
    action_space = spaces.Discrete(5)  # west, east, north, south, switch

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.lamp = self.np_random.integers(13, size=2), False
        return self.observation(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if action == 4 and (self.place == 12).all():
            self.lamp = not self.lamp
        move = ((-1, 0), (1, 0), (0, 1), (0, -1), (0, 0))[action]
        self.place = np.clip(self.place + move, 0, 12)
        return self.observation(), 0.0, False, False, {}

    def observation(self) -> np.ndarray:
        return np.array([*self.place, self.lamp], np.float32)


def soil_left_out() -> FailingCase:
    """A plant that flowers in some episodes only."""
    env = from_gymnasium(
        Greenhouse,
        attributes=[Attribute("stage", STAGES)],
        describe=lambda observation, info, env: {"stage": STAGES[observation["stage"]]},
        tasks={"flower": {"stage": "flower"}},
        episode_steps=60,
    )
    return FailingCase(
        "soil-left-out", "whether the soil is rich is no attribute", ("aliasing",), ("soil",), env, 6_000
    )


def charge_left_out() -> FailingCase:
    """What is left out changes during the episode."""
    env = from_gymnasium(
        Rover,
        attributes=[Attribute("high")],
        describe=lambda observation, info, env: {"high": observation[2] > 0.5},
        tasks={"climb": {"high": True}},
        episode_steps=50,
    )
    return FailingCase("charge-left-out", "the charge is no attribute", ("aliasing",), ("observation[1]",), env, 6_000)


def coarse_level() -> FailingCase:
    """The level does not tell the wing."""
    env = from_gymnasium(
        Garage,
        attributes=[Attribute("level", range(4))],
        describe=lambda observation, info, env: {"level": int(observation[0])},
        tasks={"roof": {"level": 3}},
        episode_steps=60,
    )
    return FailingCase(
        "coarse-level",
        "the level is too coarse: only one wing has the ramp",
        ("aliasing",),
        ("observation[1]",),
        env,
        6_000,
    )


def wind() -> FailingCase:
    """The direction of the wind is an attribute."""
    quarters = ("east", "north", "west", "south")

    def describe(observation: Any, info: Any, env: Any) -> dict[str, Any]:
        x, holds, loaded, sine, cosine = observation
        quarter = quarters[int(np.arctan2(sine, cosine) / (np.pi / 2)) % 4]
        return {"side": "ship" if x > 3 else "quay", "holds": bool(holds), "loaded": bool(loaded), "wind": quarter}

    env = from_gymnasium(
        Harbour,
        attributes=[
            Attribute("side", ("quay", "ship")),
            Attribute("holds"),
            Attribute("loaded"),
            Attribute("wind", quarters),
        ],
        describe=describe,
        tasks={"load": {"loaded": True}},
        episode_steps=60,
    )
    return FailingCase(
        "wind", "the wind is noise", ("noise", "weak-edge"), ("wind changes", "wind matters to no task"), env, 6_000
    )


def fine_map() -> FailingCase:
    """The exact place is two attributes, with as many sets as places, and little training."""
    env = from_gymnasium(
        Field,
        attributes=[Attribute("x", range(13)), Attribute("y", range(13)), Attribute("lamp")],
        describe=lambda observation, info, env: dict(zip(("x", "y", "lamp"), observation.astype(int), strict=True)),
        tasks={"light": {"lamp": True}},
        episode_steps=80,
    )
    return FailingCase(
        "fine-map", "places are too fine as attributes", ("weak-edge", "noise"), ("Leave", "leave"), env, 4_000
    )
