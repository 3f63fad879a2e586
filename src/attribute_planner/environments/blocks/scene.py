"""The scene that physics, images and attributes share: blocks, table, camera and light.

Lengths are in metres, angles in degrees. The x axis points right, y away from the viewer ("behind"), z up; the table
top is z = 0. The paper fixes four coloured blocks, the 3 × 3 drop grid, the drop height and the range [0, 1]² of drops;
the sizes, colours, camera and glass walls are our choice.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

Array = jax.Array | np.ndarray

BLOCKS = ("red", "green", "blue", "yellow")
NUM_BLOCKS = len(BLOCKS)
BLOCK_COLOURS = np.array([(214, 48, 44), (58, 168, 76), (52, 98, 212), (240, 200, 48)], np.float32)

BLOCK_SIDE = 0.25
HALF_SIDE = BLOCK_SIDE / 2
DROP_HEIGHT = 1.5
"""Height of a block's centre when it is released."""

GRID = 3
NUM_CELLS = GRID * GRID
CELL_SPACING = 1.0 / (GRID - 1)
CELL_NAMES = tuple(f"{row}-{column}" for row in ("front", "middle", "back") for column in ("left", "centre", "right"))
"""Cells are numbered from the front left, to the right, then to the back."""

WALL_MARGIN = 0.25
"""Distance from [0, 1]² to the frictionless glass walls that keep a block on the table."""

ORDERED_PAIRS = tuple(permutations(range(NUM_BLOCKS), 2))
"""The 12 ordered pairs of different blocks."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Poses:
    """Poses of the blocks, in the order of `BLOCKS`: the physical state of the scene.

    positions: `float32[..., 4, 3]` centres.
    quaternions: `float32[..., 4, 4]` orientations as unit quaternions (w, x, y, z).
    """

    positions: Array
    quaternions: Array


@dataclass(frozen=True)
class Camera:
    """A pinhole camera.

    azimuth: angle to the right of the frontal position.
    elevation: angle above the horizon.
    field_of_view: vertical opening angle.
    """

    look_at: tuple[float, float, float] = (0.45, 0.4, 0.3)
    distance: float = 3.0
    azimuth: float = 35.0
    elevation: float = 45.0
    field_of_view: float = 41.0

    @cached_property
    def position(self) -> np.ndarray:
        """`[3]` position of the camera."""
        return np.array(self.look_at) - self.distance * self.forward

    @cached_property
    def forward(self) -> np.ndarray:
        """`[3]` unit vector in the direction of view."""
        azimuth, elevation = np.radians((self.azimuth, self.elevation))
        return np.array([-np.sin(azimuth) * np.cos(elevation), np.cos(azimuth) * np.cos(elevation), -np.sin(elevation)])

    @cached_property
    def right(self) -> np.ndarray:
        """`[3]` unit vector to the right of the image."""
        azimuth = np.radians(self.azimuth)
        return np.array([np.cos(azimuth), np.sin(azimuth), 0.0])

    @cached_property
    def up(self) -> np.ndarray:
        """`[3]` unit vector to the top of the image."""
        return np.cross(self.right, self.forward)

    @property
    def half_height(self) -> float:
        """Half the height of the image at distance one."""
        return float(np.tan(np.radians(self.field_of_view / 2)))


CAMERA = Camera()
"""Every block is visible in each of the 11,880 configurations; a frontal camera hides some of them."""

TO_LIGHT = np.array([-0.40, -0.52, 1.0]) / np.linalg.norm([-0.40, -0.52, 1.0])
"""Unit vector towards the light, which is at the upper left of the viewer."""


def cell_positions(cells: Int[jax.Array, "*batch"], levels: Int[jax.Array, "*batch"]) -> Float[jax.Array, "*batch 3"]:
    """Centres of blocks in grid cells; `levels` is the number of blocks below each."""
    across, back = cells % GRID, cells // GRID
    height = HALF_SIDE + BLOCK_SIDE * levels.astype(jnp.float32)
    return jnp.stack([CELL_SPACING * across.astype(jnp.float32), CELL_SPACING * back.astype(jnp.float32), height], -1)


def upright(positions: Float[jax.Array, "*batch 4 3"]) -> Poses:
    """Poses of unrotated blocks."""
    identity = jnp.array([1.0, 0.0, 0.0, 0.0], jnp.float32)
    return Poses(positions, jnp.broadcast_to(identity, (*positions.shape[:-1], 4)))


def block_axes(quaternions: Float[Array, "*batch 4"]) -> Float[jax.Array, "*batch 3 3"]:
    """The axes of blocks rotated by unit quaternions, as rows."""
    w, x, y, z = jnp.moveaxis(jnp.asarray(quaternions), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
        [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
        [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
    ]
    return jnp.stack([jnp.stack(row, -1) for row in rows], -2)
