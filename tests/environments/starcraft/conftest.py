"""A game that a test plays by naming orders."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.starcraft.rules import Kind, Phase, Rules
from attribute_planner.environments.starcraft.simulator import play_step
from attribute_planner.environments.starcraft.state import Game, new_game

IGNORED = {Kind.SCV: "train_marine", Kind.COMMAND_CENTRE: "up", Kind.BARRACKS: "up", Kind.NOTHING: "up"}
"""An order that a unit cannot follow, to let it go on with what it is doing."""


@lru_cache
def compiled_step(rules: Rules) -> Callable[[Game, jax.Array], Game]:
    return jax.jit(lambda game, action: play_step(rules, game, action))


class Play:
    """A game under way. Units 1 to 4 are the first SCVs, unit 0 is the command centre."""

    def __init__(self, rules: Rules, ore: int = 50) -> None:
        self.rules = rules
        self.game = replace(new_game(rules), ore=jnp.int32(ore))

    def step(self, orders: dict[int, str] | None = None, times: int = 1) -> "Play":
        """Give orders once, to some units; then go on, so that `times` steps go by in all."""
        for number in range(times):
            names = [IGNORED[Kind(int(kind))] for kind in np.asarray(self.game.units.kind)]
            for unit, name in (orders or {}).items() if number == 0 else ():
                names[unit] = name
            action = np.array([self.rules.actions.index(name) for name in names], np.int32)
            self.game = compiled_step(self.rules)(self.game, jnp.asarray(action))
        return self

    @property
    def ore(self) -> int:
        return int(self.game.ore)

    def phase(self, unit: int) -> Phase:
        return Phase(int(self.game.units.phase[unit]))

    def timer(self, unit: int) -> int:
        return int(self.game.units.timer[unit])

    def kind(self, unit: int) -> Kind:
        return Kind(int(self.game.units.kind[unit]))

    def position(self, unit: int) -> tuple[int, int]:
        x, y = map(int, self.game.units.position[unit])
        return x, y

    def cargo(self, unit: int) -> bool:
        return bool(self.game.units.cargo[unit])

    def structures(self) -> list[Kind]:
        return [Kind(int(kind)) for kind in self.game.structures.kind if int(kind) != Kind.NOTHING]

    def place(self, unit: int, position: tuple[int, int]) -> "Play":
        """Put an SCV that stands still somewhere else."""
        units = self.game.units
        positions = units.position.at[unit].set(jnp.array(position, jnp.int32))
        way = replace(units.way, origin=positions, target=positions)
        self.game = replace(self.game, units=replace(units, position=positions, way=way))
        return self


@pytest.fixture(scope="session")
def compiled() -> Callable[[Rules], Callable[[Game, jax.Array], Game]]:
    """Gives the compiled step of a set of rules; each is compiled once."""
    return compiled_step


@pytest.fixture
def play() -> Callable[..., Play]:
    """Begins a game of the large version; `ore` in hand and other rules can be asked for."""

    def begin(ore: int = 50, **settings: object) -> Play:
        return Play(Rules(**{"version": "large", **settings}), ore)

    return begin
