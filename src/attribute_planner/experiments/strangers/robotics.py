"""Gymnasium-Robotics: a ball that is pushed through a maze. Actions are forces in the plane. Needs its package."""

from typing import Any

import gymnasium
import numpy as np

from attribute_planner.attributes import Attribute, Value
from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment, from_gymnasium

Cell = tuple[int, int]

U_CELLS: tuple[Cell, ...] = ((1, 1), (1, 2), (1, 3), (2, 3), (3, 1), (3, 2), (3, 3))
"""The free cells of the maze in the form of a U, by row and column."""
MEDIUM_SIZE = 6
"""Rows and columns of the medium maze within its outer walls."""


def point_maze() -> GymnasiumEnvironment:
    """PointMaze in the form of a U, with the cell in which the ball is. The goal is one end of the U."""
    names = tuple(map(_cell_name, U_CELLS))

    def describe(observation: Any, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        return {"cell": _cell_name(_cell(observation, env))}

    return from_gymnasium(
        lambda: _made("PointMaze_UMaze-v3"),
        attributes=[Attribute("cell", values=names)],
        describe=describe,
        tasks={"goal": {"cell": _cell_name(U_CELLS[0])}},
    )


def point_maze_medium() -> GymnasiumEnvironment:
    """The medium PointMaze, with the row and the column in which the ball is. The goal is a corner."""

    def describe(observation: Any, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Value]:
        row, column = _cell(observation, env)
        return {"row": row, "column": column}

    inside = range(1, MEDIUM_SIZE + 1)
    return from_gymnasium(
        lambda: _made("PointMaze_Medium-v3"),
        attributes=[Attribute("row", values=inside), Attribute("column", values=inside)],
        describe=describe,
        tasks={"goal": {"row": MEDIUM_SIZE, "column": MEDIUM_SIZE}},
    )


def _made(env_id: str) -> gymnasium.Env:
    # The package is needed for these environments only; importing it prints a notice about others.
    import gymnasium_robotics

    gymnasium.register_envs(gymnasium_robotics)
    return gymnasium.make(env_id)


def _cell(observation: Any, env: gymnasium.Env) -> Cell:
    """The row and the column of the ball."""
    maze: Any = env.unwrapped
    row, column = maze.maze.cell_xy_to_rowcol(np.asarray(observation["achieved_goal"]))
    return int(row), int(column)


def _cell_name(cell: Cell) -> str:
    return f"{cell[0]}-{cell[1]}"
