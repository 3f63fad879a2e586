from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.gridworld.crafting import Crafting, CraftingState
from attribute_planner.environments.gridworld.maps import NOWHERE, GridMap
from attribute_planner.environments.gridworld.switches import ColoredSwitches, SwitchesState

LARGEST, MAX_BLOCKS = 10, 20
NUM_STARTS = 400


def starts(reset: Callable[[jax.Array], Any]) -> Any:
    states = jax.jit(jax.vmap(reset))(jax.random.split(jax.random.key(0), NUM_STARTS))
    return jax.tree.map(np.asarray, states)


@pytest.fixture(scope="session")
def switches_starts() -> SwitchesState:
    """400 fresh states of the default switches, as NumPy arrays."""
    return starts(ColoredSwitches().reset)


@pytest.fixture(scope="session")
def crafting_starts() -> CraftingState:
    """400 fresh states of the default crafting environment, as NumPy arrays."""
    return starts(Crafting().reset)


@pytest.fixture
def laid_out() -> Callable[[str], tuple[GridMap, dict[str, jnp.ndarray]]]:
    """Builds a map from a drawing: `#` is a block, `.` is free, and any other sign is a thing whose cell is told."""

    def build(drawing: str) -> tuple[GridMap, dict[str, jnp.ndarray]]:
        lines = drawing.split()
        signs = {(r, c): sign for r, line in enumerate(lines) for c, sign in enumerate(line)}
        blocks = [cell for cell, sign in signs.items() if sign == "#"]
        free = [sum(1 << c for c in range(LARGEST) if signs.get((r, c), "#") != "#") for r in range(LARGEST)]
        padded = blocks + [(NOWHERE, NOWHERE)] * (MAX_BLOCKS - len(blocks))
        grid = GridMap(
            ~jnp.array(free, jnp.uint16),
            jnp.array(padded, jnp.int8),
            jnp.array([len(lines), len(lines[0])], jnp.int8),
        )
        return grid, {sign: jnp.array(cell, jnp.int8) for cell, sign in signs.items() if sign not in "#."}

    return build
