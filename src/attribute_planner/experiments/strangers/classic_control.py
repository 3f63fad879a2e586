"""Gymnasium's classic-control environments, with zones of what a goal is about: position, height or angle."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np

from attribute_planner.attributes import Attribute, Value
from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment, from_gymnasium

LEFT_END = -1.2
ZONES_BELOW_GOAL = 5

TIP_HEIGHTS = (-1.0, -0.5, 0.0, 0.5, 1.0)
"""Bounds of the zones of Acrobot's tip; its goal is above the last one."""

CART_ZONES = ("far-left", "left", "centre", "right", "far-right")
CART_BOUNDS = (-1.2, -0.4, 0.4, 1.2)
"""Bounds of the zones of CartPole's cart, in units of the track, which ends at ±2.4."""

SECTORS = ("up", "up-left", "left", "down-left", "down", "down-right", "right", "up-right")
SLOW = 1.0
"""Largest angular velocity of a pendulum that counts as slow, in rad/s; the fastest is 8."""


def mountain_car() -> GymnasiumEnvironment:
    """MountainCar with six zones of position, the last of which is its goal."""
    return _car("MountainCar-v0", goal_position=0.5)


def mountain_car_continuous() -> GymnasiumEnvironment:
    """MountainCarContinuous with six zones of position, the last of which is its goal."""
    return _car("MountainCarContinuous-v0", goal_position=0.45)


def _car(env_id: str, goal_position: float) -> GymnasiumEnvironment:
    bounds = np.linspace(LEFT_END, goal_position, ZONES_BELOW_GOAL + 1)[1:]

    def describe(observation: np.ndarray, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        return {"zone": _zone(float(observation[0]), bounds)}

    return from_gymnasium(
        lambda: gymnasium.make(env_id),
        attributes=[Attribute("zone", values=range(ZONES_BELOW_GOAL + 1))],
        describe=describe,
        tasks={"goal": {"zone": ZONES_BELOW_GOAL}},
    )


def acrobot() -> GymnasiumEnvironment:
    """Acrobot with six zones of the height of its tip, the last of which is its goal."""

    def describe(observation: np.ndarray, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        cos_1, sin_1, cos_2, sin_2 = observation[:4]
        height = -cos_1 - (cos_1 * cos_2 - sin_1 * sin_2)
        return {"height": _zone(float(height), TIP_HEIGHTS)}

    return from_gymnasium(
        lambda: gymnasium.make("Acrobot-v1"),
        attributes=[Attribute("height", values=range(len(TIP_HEIGHTS) + 1))],
        describe=describe,
        tasks={"goal": {"height": len(TIP_HEIGHTS)}},
    )


def cart_pole() -> GymnasiumEnvironment:
    """CartPole with five zones of the cart's position. The goal is the last one; on the way the pole must not fall."""

    def describe(observation: np.ndarray, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        return {"zone": CART_ZONES[_zone(float(observation[0]), CART_BOUNDS)]}

    return from_gymnasium(
        lambda: gymnasium.make("CartPole-v1"),
        attributes=[Attribute("zone", values=CART_ZONES)],
        describe=describe,
        tasks={"goal": {"zone": "far-right"}},
    )


def pendulum() -> GymnasiumEnvironment:
    """Pendulum with eight sectors of its angle, and whether it is slow. The goal is upright and slow."""

    def describe(observation: np.ndarray, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        cosine, sine, velocity = map(float, observation)
        sector = round(np.arctan2(sine, cosine) / (2 * np.pi / len(SECTORS))) % len(SECTORS)
        return {"angle": SECTORS[sector], "slow": abs(velocity) <= SLOW}

    return from_gymnasium(
        lambda: gymnasium.make("Pendulum-v1"),
        attributes=[Attribute("angle", values=SECTORS), Attribute("slow")],
        describe=describe,
        tasks={"goal": {"angle": "up", "slow": True}},
    )


def _zone(value: float, bounds: Sequence[float] | np.ndarray) -> int:
    """The number of bounds that the value has reached."""
    return int(np.searchsorted(bounds, value, side="right"))
