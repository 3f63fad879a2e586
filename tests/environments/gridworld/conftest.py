from collections.abc import Callable

import jax.numpy as jnp
import pytest

from attribute_planner.environments.gridworld.maps import NOWHERE, GridMap

LARGEST, MAX_BLOCKS = 10, 20


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
