"""The worlds of the suite by name, and the best success that is possible where it is not 100 %."""

from collections.abc import Callable

from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment
from attribute_planner.errors import unknown_name
from attribute_planner.experiments.strangers import classic_control, minigrid, pushing, robotics, toy_text

WORLDS: dict[str, Callable[[], GymnasiumEnvironment]] = {
    "frozen-lake-quadrants": toy_text.frozen_lake_quadrants,
    "frozen-lake-blocks": toy_text.frozen_lake_blocks,
    "frozen-lake-slippery": toy_text.frozen_lake_slippery,
    "cliff-walking": toy_text.cliff_walking,
    "taxi": toy_text.taxi,
    "taxi-without-destination": toy_text.taxi_without_destination,
    "mountain-car": classic_control.mountain_car,
    "mountain-car-continuous": classic_control.mountain_car_continuous,
    "acrobot": classic_control.acrobot,
    "cart-pole": classic_control.cart_pole,
    "pendulum": classic_control.pendulum,
    "door-key": minigrid.door_key,
    "unlock": minigrid.unlock,
    "unlock-pickup": minigrid.unlock_pickup,
    "blocked-unlock-pickup": minigrid.blocked_unlock_pickup,
    "key-corridor-r1": minigrid.key_corridor_r1,
    "key-corridor-r2": minigrid.key_corridor_r2,
    "key-corridor-r3": minigrid.key_corridor_r3,
    "obstructed-maze": minigrid.obstructed_maze,
    "put-near": minigrid.put_near,
    "pushing": pushing.pushing,
    "point-maze": robotics.point_maze,
    "point-maze-medium": robotics.point_maze_medium,
}
"""Each has one task, whose goal is the environment's own goal, in attributes."""

ORACLES: dict[str, Callable[[], float]] = {"frozen-lake-slippery": toy_text.best_success_when_slippery}
"""The largest possible success of a world's task; 1 for the worlds that are not listed."""


def make_world(name: str) -> GymnasiumEnvironment:
    """The world of this name."""
    if name not in WORLDS:
        raise unknown_name("world", name, WORLDS)
    return WORLDS[name]()
