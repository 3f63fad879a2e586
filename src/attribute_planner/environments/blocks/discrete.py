"""Block stacking on the 3 × 3 grid: an action is a block and a cell; the block is dropped onto that cell.

A dropped block comes to rest on top of the stack in its cell. This rule makes the environment a pure function of its
state; `verification` compares it with MuJoCo's physics.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.blocks import tasks
from attribute_planner.environments.blocks.attributes import ATTRIBUTES, describe_cells
from attribute_planner.environments.blocks.drawing import draw_poses
from attribute_planner.environments.blocks.rendering import IMAGE_SIZE, image_spec, render
from attribute_planner.environments.blocks.scene import (
    BLOCKS,
    CELL_NAMES,
    NUM_BLOCKS,
    NUM_CELLS,
    Poses,
    cell_positions,
    upright,
)
from attribute_planner.environments.blocks.symmetry import COLOUR_TRADES
from attribute_planner.environments.interface import Key, PureEnvironment
from attribute_planner.environments.spaces import Discrete, ImageSpec
from attribute_planner.environments.symmetry import Symmetries
from attribute_planner.environments.tasks import Task


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Configuration:
    """Positions of the blocks, in the order of `BLOCKS`.

    cells: grid cell of each block.
    levels: number of blocks below it.
    """

    cells: Int[jax.Array, "4"]
    levels: Int[jax.Array, "4"]


@dataclass(frozen=True)
class Blocks(PureEnvironment):
    """Four coloured blocks, observed as an image. An action is `block * 9 + cell`; a covered block does not move.

    image_size: height and width of the image, in pixels; by default the paper's.
    episode_steps: number of steps after which an episode is truncated.
    """

    name = "blocks"

    image_size: int = IMAGE_SIZE
    episode_steps: int = tasks.MULTI_STEP_LIMIT

    def __post_init__(self) -> None:
        image_spec(self.image_size)

    @property
    def attributes(self) -> AttributeSpace:
        return ATTRIBUTES

    @property
    def observation(self) -> ImageSpec:
        return image_spec(self.image_size)

    @property
    def actions(self) -> Discrete:
        return Discrete(tuple(f"{block} to {cell}" for block in BLOCKS for cell in CELL_NAMES))

    @property
    def symmetries(self) -> Symmetries:
        return COLOUR_TRADES

    @property
    def tasks(self) -> Mapping[str, Task]:
        return _TASKS

    @property
    def curriculum(self) -> tuple[Task, ...]:
        return _CURRICULUM

    def reset(self, key: Key) -> Configuration:
        return random_configuration(key)

    def step(self, state: Configuration, action: jax.Array, key: Key) -> Configuration:
        del key  # deterministic
        return drop(state, action // NUM_CELLS, action % NUM_CELLS)

    def observe(self, state: Configuration) -> jax.Array:
        return render(poses_of(state), self.image_size)

    def describe(self, state: Configuration) -> jax.Array:
        return describe(state)

    def render(self, state: Configuration) -> np.ndarray:
        return draw_poses(poses_of(jax.tree.map(jnp.asarray, state)))


def random_configuration(key: Key) -> Configuration:
    """All four blocks dropped into random cells, in random order."""
    cell_key, order_key = jax.random.split(key)
    cells = jax.random.randint(cell_key, (NUM_BLOCKS,), 0, NUM_CELLS)
    turn = jax.random.permutation(order_key, NUM_BLOCKS)
    under = (cells[:, None] == cells[None, :]) & (turn[:, None] > turn[None, :])
    return Configuration(cells, under.sum(axis=1, dtype=jnp.int32))


def drop(state: Configuration, block: Int[jax.Array, ""], cell: Int[jax.Array, ""]) -> Configuration:
    """The configuration after dropping a block into a cell; unchanged if the block is covered."""
    moved = jnp.arange(NUM_BLOCKS) == block
    height = ((state.cells == cell) & ~moved).sum(dtype=jnp.int32)
    movable = ~is_covered(state)[block]
    return Configuration(
        jnp.where(moved & movable, cell, state.cells), jnp.where(moved & movable, height, state.levels)
    )


def is_covered(state: Configuration) -> Bool[jax.Array, "4"]:
    """Which blocks have another block on top."""
    same_cell = state.cells[:, None] == state.cells[None, :]
    return (same_cell & (state.levels[None, :] > state.levels[:, None])).any(axis=1)


def poses_of(state: Configuration) -> Poses:
    """Poses of the blocks."""
    return upright(cell_positions(state.cells, state.levels))


def after_random_change(state: Configuration, key: Key) -> Configuration:
    """The configuration after a random action among those that change the attributes; there is always one."""
    actions = jnp.arange(NUM_BLOCKS * NUM_CELLS)
    reached = jax.vmap(drop, (None, 0, 0))(state, actions // NUM_CELLS, actions % NUM_CELLS)
    changes = (jax.vmap(describe)(reached) != describe(state)[None, :]).any(axis=-1)
    chosen = jax.random.categorical(key, jnp.where(changes, 0.0, -jnp.inf))
    return jax.tree.map(lambda leaf: leaf[chosen], reached)


def describe(state: Configuration) -> Int[jax.Array, "36"]:
    """The true attribute values."""
    return describe_cells(state.cells, state.levels)


_TASKS = tasks.block_tasks(lambda state, key: random_configuration(key), after_random_change, describe)
_CURRICULUM = tasks.block_curriculum(_TASKS["multi-step"], after_random_change, describe)
