"""MiniGrid: keys, doors and objects. The agent sees the 7×7 cells in front of it, as MiniGrid's codes.

The time limit of each is MiniGrid's own, which is not in its registration and therefore given as `episode_steps`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import gymnasium

from attribute_planner.attributes import Attribute, Value
from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment, from_gymnasium

SIDES = ("left", "middle", "right")
"""The columns of rooms of KeyCorridor."""


def door_key() -> GymnasiumEnvironment:
    """DoorKey 8×8: get the key, open the door, go to the goal square."""

    def describe(observation: Any, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        simulator: Any = env.unwrapped
        underfoot = simulator.grid.get(*simulator.agent_pos)
        return {
            "carries_key": simulator.carrying is not None,
            "door_open": _door(simulator).is_open,
            "at_goal": underfoot is not None and underfoot.type == "goal",
        }

    attributes = [Attribute("carries_key"), Attribute("door_open"), Attribute("at_goal")]
    return _world("DoorKey-8x8", attributes, describe, {"goal": {"at_goal": True}})


def unlock() -> GymnasiumEnvironment:
    """Unlock: get the key and open the door."""

    def describe(observation: Any, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        simulator: Any = env.unwrapped
        return {"carries_key": simulator.carrying is not None, "door_open": _door(simulator).is_open}

    attributes = [Attribute("carries_key"), Attribute("door_open")]
    return _world("Unlock", attributes, describe, {"goal": {"door_open": True}})


def unlock_pickup() -> GymnasiumEnvironment:
    """UnlockPickup: open the door with the key, put the key down, pick up the box behind the door."""

    def describe(observation: Any, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        simulator: Any = env.unwrapped
        return {"carrying": _carried(simulator), "door_open": _door(simulator).is_open}

    attributes = [Attribute("carrying", values=("nothing", "key", "box")), Attribute("door_open")]
    return _world("UnlockPickup", attributes, describe, {"goal": {"carrying": "box"}})


def blocked_unlock_pickup() -> GymnasiumEnvironment:
    """BlockedUnlockPickup: a ball in front of the door must be moved away first."""

    def describe(observation: Any, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        simulator: Any = env.unwrapped
        x, y = next(position for position, thing in _things(simulator) if thing.type == "door")
        in_front = simulator.grid.get(x - 1, y)
        return {
            "carrying": _carried(simulator),
            "door_blocked": in_front is not None,
            "door_open": simulator.grid.get(x, y).is_open,
        }

    attributes = [
        Attribute("carrying", values=("nothing", "ball", "key", "box")),
        Attribute("door_blocked"),
        Attribute("door_open"),
    ]
    return _world("BlockedUnlockPickup", attributes, describe, {"goal": {"carrying": "box"}})


def key_corridor_r1() -> GymnasiumEnvironment:
    """KeyCorridorS3R1: one row of three rooms."""
    return _key_corridor("KeyCorridorS3R1", num_rows=1)


def key_corridor_r2() -> GymnasiumEnvironment:
    """KeyCorridorS3R2: two rows of rooms."""
    return _key_corridor("KeyCorridorS3R2", num_rows=2)


def key_corridor_r3() -> GymnasiumEnvironment:
    """KeyCorridorS3R3: three rows of rooms."""
    return _key_corridor("KeyCorridorS3R3", num_rows=3)


def _key_corridor(env_id: str, num_rows: int) -> GymnasiumEnvironment:
    """The key is in a room on the left, the ball in a locked room on the right, the agent starts in between."""

    def describe(observation: Any, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        simulator: Any = env.unwrapped
        x, y = (int(coordinate) // (simulator.room_size - 1) for coordinate in simulator.agent_pos)
        locked_room = simulator.room_from_pos(*simulator.obj.init_pos)
        return {
            "room": f"{SIDES[x]}-{y}",
            "carrying": _carried(simulator),
            "door_open": locked_room.doors[LEFT_WALL].is_open,
        }

    attributes = [
        Attribute("room", values=[f"{side}-{row}" for side in SIDES for row in range(num_rows)]),
        Attribute("carrying", values=("nothing", "key", "ball")),
        Attribute("door_open"),
    ]
    return _world(env_id, attributes, describe, {"goal": {"carrying": "ball"}})


LEFT_WALL = 2
"""MiniGrid's number of the left wall of a room."""


def obstructed_maze() -> GymnasiumEnvironment:
    """ObstructedMaze-1Dl: open the locked door, pick up the blue ball behind it."""

    def describe(observation: Any, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        simulator: Any = env.unwrapped
        return {"carrying": _carried(simulator), "door_open": _door(simulator).is_open}

    attributes = [Attribute("carrying", values=("nothing", "key", "ball")), Attribute("door_open")]
    return _world("ObstructedMaze-1Dl", attributes, describe, {"goal": {"carrying": "ball"}})


def put_near() -> GymnasiumEnvironment:
    """PutNear 6×6 with two objects: put one beside the other, as the mission says, which the agent observes.

    The wrong object, or a drop elsewhere, ends the episode.
    """

    def describe(observation: Any, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        simulator: Any = env.unwrapped
        moved, target = (
            (simulator.move_type, simulator.moveColor),
            (simulator.target_type, simulator.target_color),
        )
        places = {(thing.type, thing.color): position for position, thing in _things(simulator)}
        carried = simulator.carrying
        return {
            "carrying": "nothing" if carried is None else "it" if (carried.type, carried.color) == moved else "other",
            "near": moved in places and target in places and _distance(places[moved], places[target]) <= 1,
        }

    attributes = [Attribute("carrying", values=("nothing", "it", "other")), Attribute("near")]
    return _world("PutNear-6x6-N2", attributes, describe, {"goal": {"near": True}}, with_mission=True)


def _world(
    env_id: str,
    attributes: Sequence[Attribute],
    describe: Callable[..., Mapping[str, Value]],
    tasks: Mapping[str, Mapping[str, Value]],
    *,
    with_mission: bool = False,
) -> GymnasiumEnvironment:
    """A MiniGrid environment that shows its image alone, or also the direction and the words of the mission."""
    from minigrid.wrappers import DictObservationSpaceWrapper, ImgObsWrapper

    wrapper = DictObservationSpaceWrapper if with_mission else ImgObsWrapper

    def make() -> gymnasium.Env:
        return wrapper(gymnasium.make(f"MiniGrid-{env_id}-v0"))

    simulator: Any = make().unwrapped
    return from_gymnasium(
        make, attributes=attributes, describe=describe, tasks=tasks, episode_steps=simulator.max_steps
    )


def _things(simulator: Any) -> Iterator[tuple[tuple[int, int], Any]]:
    """The position and the object of every cell that is not empty."""
    width = simulator.grid.width
    for number, thing in enumerate(simulator.grid.grid):
        if thing is not None:
            yield (number % width, number // width), thing


def _door(simulator: Any) -> Any:
    return next(thing for _, thing in _things(simulator) if thing.type == "door")


def _carried(simulator: Any) -> str:
    return "nothing" if simulator.carrying is None else simulator.carrying.type


def _distance(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]))
