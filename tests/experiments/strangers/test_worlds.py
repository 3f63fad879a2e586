import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment
from attribute_planner.errors import AttributePlannerError
from attribute_planner.evaluation.check_environment import check_environment
from attribute_planner.experiments.strangers import ORACLES, WORLDS, make_world
from attribute_planner.experiments.strangers.pushing import PushTable

PACKAGES = {"minigrid": "minigrid", "robotics": "gymnasium_robotics"}
"""The package that the worlds of a module need."""

LEFT, DOWN, RIGHT, UP = range(4)
LAKE_WAY = [RIGHT] * 7 + [DOWN] * 7


def made(name: str) -> GymnasiumEnvironment:
    package = PACKAGES.get(WORLDS[name].__module__.rpartition(".")[2])
    if package is not None and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    return make_world(name)


def described(name: str, actions: list, seed: int = 0) -> list[dict]:
    """The attributes at the start and after each action."""
    world = made(name)
    (env,) = world.pool.acquire(1)
    assert world.read_values is not None
    observation, info = env.reset(seed=seed)
    values = [world.read_values(observation, info, env)]
    for action in actions:
        observation, _, _, _, info = env.step(action)
        values.append(world.read_values(observation, info, env))
    env.close()
    return [world.attributes.decode(np.array(each)) for each in values]


def described_state(name: str, *observation: float) -> dict:
    """The attributes that follow from an observation alone."""
    world = made(name)
    assert world.read_values is not None
    return world.attributes.decode(np.array(world.read_values(np.array(observation), {}, PushTable())))


@pytest.mark.parametrize("name", WORLDS)
def test_every_world_passes_the_check_and_has_one_task(name: str):
    env = made(name)
    assert len(check_environment(env, steps=30).tasks) == 1
    env.close()


def test_an_unknown_world_is_refused_in_words():
    with pytest.raises(AttributePlannerError, match="'lake'"):
        make_world("lake")


def test_the_way_across_the_lake_passes_its_attributes():
    quadrants = described("frozen-lake-quadrants", LAKE_WAY)
    assert [quadrants[step]["quadrant"] for step in (0, 4, 11)] == ["top-left", "top-right", "bottom-right"]
    assert [each["near_goal"] for each in quadrants] == [False] * 12 + [True] * 3
    assert [each["at_goal"] for each in quadrants] == [False] * 14 + [True]
    blocks = described("frozen-lake-blocks", LAKE_WAY)
    assert list(dict.fromkeys(each["block"] for each in blocks)) == [0, 1, 2, 3, 7, 11, 15]


def test_the_best_success_on_the_slippery_lake_is_below_one():
    assert set(ORACLES) == {"frozen-lake-slippery"}
    assert 0.8 < ORACLES["frozen-lake-slippery"]() < 1


def test_a_car_at_the_top_of_its_hill_is_in_the_last_zone():
    zones = [described_state("mountain-car", position, 0.0)["zone"] for position in (-1.2, -0.5, 0.49, 0.5, 0.6)]
    assert zones == [0, 2, 4, 5, 5]


def test_the_tip_of_the_hanging_acrobot_is_in_the_lowest_zone_and_the_upright_one_in_the_highest():
    assert described_state("acrobot", 1, 0, 1, 0, 0, 0) == {"height": 0}
    assert described_state("acrobot", -1, 0, 1, 0, 0, 0) == {"height": 5}


def test_the_sectors_of_the_pendulum_follow_its_angle():
    for name, angle in {"up": 0.3, "left": np.pi / 2, "down": np.pi, "up-right": -np.pi / 4}.items():
        described = described_state("pendulum", np.cos(angle), np.sin(angle), 2.0)
        assert described == {"angle": name, "slow": False}


def pushed_right(agent: list[float], discs: list[list[float]], steps: int = 5) -> np.ndarray:
    """The positions after some steps to the right: of the agent and of both discs, `[3, 2]`."""
    table = PushTable()
    table.reset(seed=0)
    table.agent, table.discs = np.array(agent), np.array(discs)
    observations = [table.step(np.array([1.0, 0.0], np.float32))[0] for _ in range(steps)]
    return observations[-1].reshape(3, 2)


def test_a_pushed_disc_changes_its_quadrant_and_pushes_the_other():
    _, red, blue = pushed_right([-0.5, 0.3], [[-0.3, 0.3], [0.1, 0.3]])
    assert red == pytest.approx([0.15, 0.3]) and blue == pytest.approx([0.45, 0.3])


def test_a_disc_at_the_edge_stops_the_agent():
    agent, red, _ = pushed_right([0.5, 0.0], [[0.7, 0.0], [-0.7, -0.7]])
    assert agent == pytest.approx([0.6, 0.0]) and red == pytest.approx([0.75, 0.0])


@pytest.mark.parametrize(
    ("name", "attributes_of"),
    [
        ("point-maze", lambda row, column: {"cell": f"{row}-{column}"}),
        ("point-maze-medium", lambda row, column: {"row": row, "column": column}),
    ],
)
def test_the_centre_of_every_free_cell_of_a_maze_is_in_that_cell(name: str, attributes_of: Callable[[int, int], dict]):
    world = made(name)
    (env,) = world.pool.acquire(1)
    assert world.read_values is not None
    maze: Any = env.unwrapped
    free = np.argwhere(np.array(maze.maze.maze_map) == 0).tolist()
    assert len(free) == {"point-maze": 7, "point-maze-medium": 26}[name]
    for row, column in free:
        observation = {"achieved_goal": maze.maze.cell_rowcol_to_xy(np.array([row, column]))}
        values = world.read_values(observation, {}, env)
        assert world.attributes.decode(np.array(values)) == attributes_of(row, column)
    env.close()
