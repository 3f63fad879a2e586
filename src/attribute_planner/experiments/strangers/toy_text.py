"""Gymnasium's toy-text environments: FrozenLake, CliffWalking and Taxi. An observation is the number of a state."""

from typing import Any

import gymnasium
import numpy as np

from attribute_planner.attributes import Attribute, Value
from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment, from_gymnasium

LAKE, LAKE_SIZE = "FrozenLake8x8-v1", 8
LAKE_GOAL = (7, 7)
BLOCK = 2
BLOCKS = LAKE_SIZE // BLOCK
QUADRANTS = ("top-left", "top-right", "bottom-left", "bottom-right")

CLIFF_COLUMNS, COLUMNS_PER_ZONE = 12, 3
CLIFF_GOAL = 47

STOPS = ("R", "G", "Y", "B")
PLACES = (*STOPS, "taxi")


def frozen_lake_quadrants() -> GymnasiumEnvironment:
    """FrozenLake 8×8, not slippery, with few attributes: the quadrant, near the goal, at the goal."""

    def describe(observation: int, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        row, column = divmod(int(observation), LAKE_SIZE)
        distance = abs(row - LAKE_GOAL[0]) + abs(column - LAKE_GOAL[1])
        half = LAKE_SIZE // 2
        return {
            "quadrant": QUADRANTS[row // half * 2 + column // half],
            "near_goal": distance <= 2,
            "at_goal": distance == 0,
        }

    return from_gymnasium(
        lambda: gymnasium.make(LAKE, is_slippery=False),
        attributes=[
            Attribute("quadrant", values=QUADRANTS),
            Attribute("near_goal"),
            Attribute("at_goal"),
        ],
        describe=describe,
        tasks={"goal": {"at_goal": True}},
    )


def frozen_lake_blocks() -> GymnasiumEnvironment:
    """FrozenLake 8×8, not slippery, with the agent's block of 2×2 cells, and whether it is at the goal."""
    return _lake_in_blocks(is_slippery=False)


def frozen_lake_slippery() -> GymnasiumEnvironment:
    """The same attributes, but a step goes to one of both sides with probability 2/3."""
    return _lake_in_blocks(is_slippery=True)


def best_success_when_slippery() -> float:
    """The probability of reaching the goal of the slippery lake within its time limit, with the best policy.

    Value iteration over the steps that are left, with the transition probabilities of the environment.
    """
    env = gymnasium.make(LAKE, is_slippery=True)
    transitions: Any = env.unwrapped
    assert env.spec is not None and env.spec.max_episode_steps is not None
    goal = LAKE_GOAL[0] * LAKE_SIZE + LAKE_GOAL[1]
    values = np.zeros(LAKE_SIZE**2)
    for _ in range(env.spec.max_episode_steps):
        values = np.array(
            [
                max(
                    sum(p * (float(after == goal) if over else values[after]) for p, after, _, over in outcomes)
                    for outcomes in transitions.P[state].values()
                )
                for state in range(LAKE_SIZE**2)
            ]
        )
    return float(values[0])


def _lake_in_blocks(*, is_slippery: bool) -> GymnasiumEnvironment:
    def describe(observation: int, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        row, column = divmod(int(observation), LAKE_SIZE)
        return {"block": row // BLOCK * BLOCKS + column // BLOCK, "at_goal": (row, column) == LAKE_GOAL}

    return from_gymnasium(
        lambda: gymnasium.make(LAKE, is_slippery=is_slippery),
        attributes=[Attribute("block", values=range(BLOCKS**2)), Attribute("at_goal")],
        describe=describe,
        tasks={"goal": {"at_goal": True}},
    )


def cliff_walking() -> GymnasiumEnvironment:
    """CliffWalking with a zone of three columns, and whether the agent is at the goal. A fall leads to the start."""

    def describe(observation: int, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        column = int(observation) % CLIFF_COLUMNS
        return {"zone": column // COLUMNS_PER_ZONE, "at_goal": int(observation) == CLIFF_GOAL}

    return from_gymnasium(
        lambda: gymnasium.make("CliffWalking-v1"),
        attributes=[Attribute("zone", values=range(CLIFF_COLUMNS // COLUMNS_PER_ZONE)), Attribute("at_goal")],
        describe=describe,
        tasks={"goal": {"at_goal": True}},
    )


def taxi() -> GymnasiumEnvironment:
    """Taxi with the passenger's place, the destination, and whether the passenger is there."""

    def describe(observation: int, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        passenger, destination = _passenger_and_destination(observation, env)
        return {
            "passenger": PLACES[passenger],
            "destination": STOPS[destination],
            "at_goal": passenger == destination,
        }

    return from_gymnasium(
        lambda: gymnasium.make("Taxi-v4"),
        attributes=[
            Attribute("passenger", values=PLACES),
            Attribute("destination", values=STOPS),
            Attribute("at_goal"),
        ],
        describe=describe,
        tasks={"goal": {"at_goal": True}},
    )


def taxi_without_destination() -> GymnasiumEnvironment:
    """Taxi without the destination as an attribute: where the passenger may get out is only in the observation."""

    def describe(observation: int, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        passenger, destination = _passenger_and_destination(observation, env)
        return {"passenger": PLACES[passenger], "at_goal": passenger == destination}

    return from_gymnasium(
        lambda: gymnasium.make("Taxi-v4"),
        attributes=[Attribute("passenger", values=PLACES), Attribute("at_goal")],
        describe=describe,
        tasks={"goal": {"at_goal": True}},
    )


def _passenger_and_destination(observation: int, env: gymnasium.Env) -> tuple[int, int]:
    """Indices of the passenger's place and of the destination."""
    simulator: Any = env.unwrapped
    _, _, passenger, destination = simulator.decode(int(observation))
    return passenger, destination
