"""The peer of `benchmark env`: coloured switches on MiniGrid's base class."""

from typing import Any

import gymnasium
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Ball, Wall
from minigrid.minigrid_env import MiniGridEnv

COLORS = ("red", "green", "blue", "yellow")
SWITCHES = 4


class MiniGridSwitches(MiniGridEnv):
    """Four balls as switches; the toggle action turns the one in front of the agent to its next colour."""

    def __init__(self, max_steps: int = 200, **kwargs: Any) -> None:
        mission = MissionSpace(mission_func=lambda: "set the switches")
        super().__init__(mission_space=mission, grid_size=12, max_steps=max_steps, see_through_walls=True, **kwargs)

    def _gen_grid(self, width: int, height: int) -> None:
        self.grid = Grid(width, height)
        self.grid.wall_rect(0, 0, width, height)
        self.switches = []
        for _ in range(SWITCHES):
            switch = Ball(COLORS[self.np_random.integers(len(COLORS))])
            self.place_obj(switch)
            self.switches.append(switch)
        for _ in range(self.np_random.integers(0, 21)):
            self.place_obj(Wall())
        self.place_agent()
        self.mission = "set the switches"

    def step(self, action: Any) -> Any:
        if action == self.actions.toggle:
            front = self.grid.get(*self.front_pos)
            if isinstance(front, Ball):
                front.color = COLORS[(COLORS.index(front.color) + 1) % len(COLORS)]
        return super().step(action)


def vector_env(num_envs: int, max_steps: int) -> gymnasium.vector.VectorEnv:
    """Environments that are stepped one after the other in this process and reset when an episode ends."""
    return gymnasium.vector.SyncVectorEnv([lambda: MiniGridSwitches(max_steps) for _ in range(num_envs)])
