"""The 36 attributes of block stacking: for each ordered pair of blocks, left of, in front of, and on top of.

This is the true f of the paper, a function of the poses of the blocks. The paper names the relations only; the
tolerances are our choice.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.environments.blocks.scene import (
    BLOCK_SIDE,
    BLOCKS,
    GRID,
    HALF_SIDE,
    NUM_BLOCKS,
    ORDERED_PAIRS,
    Poses,
    block_axes,
)

RELATIONS = ("left_of", "in_front_of", "on_top_of")

ATTRIBUTES = AttributeSpace(
    tuple(
        Attribute(f"{BLOCKS[first]}_{relation}_{BLOCKS[second]}")
        for relation in RELATIONS
        for first, second in ORDERED_PAIRS
    )
)
"""Ordered by relation, then by pair: `red_left_of_green` … `yellow_on_top_of_blue`."""

SIDE_MARGIN = HALF_SIDE
"""A block is left of (in front of) another whose centre is further right (behind) by more than this. Without a margin,
the relations of blocks in one row would depend on sub-millimetre jitter."""

LEAST_RISE, MOST_RISE = 0.5 * BLOCK_SIDE, 1.5 * BLOCK_SIDE
"""The centre of a block on top of another is about one side higher, and at least half a side if it leans. Beyond one
and a half sides there is another block in between."""
LEAST_OVERLAP = 0.005
"""Minimum overlap of a block on top of another, seen from above; a smaller one is that of adjacent blocks. With these
numbers "on top of" agrees with MuJoCo's contact forces in all but two to four of a thousand pairs of blocks in random
scenes; the others touch sideways."""

_FIRST, _SECOND = np.array(ORDERED_PAIRS).T
_IS_SECOND = _SECOND[:, None] == np.arange(NUM_BLOCKS)


def describe_poses(poses: Poses) -> Int[jax.Array, "36"]:
    """The attributes of blocks at any poses."""
    gap = poses.positions[_SECOND] - poses.positions[_FIRST]
    left_of, in_front_of = gap[:, 0] > SIDE_MARGIN, gap[:, 1] > SIDE_MARGIN
    return jnp.concatenate([left_of, in_front_of, _on_top_of(poses)]).astype(jnp.int32)


def describe_cells(cells: Int[jax.Array, "4"], levels: Int[jax.Array, "4"]) -> Int[jax.Array, "36"]:
    """The attributes of blocks in grid cells; `levels` is the number of blocks below each."""
    across, back = cells % GRID, cells // GRID
    left_of, in_front_of = across[_FIRST] < across[_SECOND], back[_FIRST] < back[_SECOND]
    on_top_of = (cells[_FIRST] == cells[_SECOND]) & (levels[_FIRST] == levels[_SECOND] + 1)
    return jnp.concatenate([left_of, in_front_of, on_top_of]).astype(jnp.int32)


def covered_blocks(values: Int[jax.Array, "36"]) -> Bool[jax.Array, "4"]:
    """Which blocks have another block on top, and so cannot be moved."""
    on_top_of = values[2 * len(ORDERED_PAIRS) :] == 1
    return (on_top_of[:, None] & jnp.asarray(_IS_SECOND)).any(axis=0)


def _on_top_of(poses: Poses) -> jax.Array:
    """`bool[12]` for each ordered pair, whether the first block is on top of the second."""
    rise = poses.positions[_FIRST, 2] - poses.positions[_SECOND, 2]
    overlap = _overlap_from_above(poses)
    return (rise > LEAST_RISE) & (rise < MOST_RISE) & (overlap > LEAST_OVERLAP)


def _overlap_from_above(poses: Poses) -> jax.Array:
    """`[12]` overlap of the footprints of each pair: the minimum along the horizontal axes of both blocks."""
    axes = block_axes(poses.quaternions)
    offset = poses.positions[_SECOND, :2] - poses.positions[_FIRST, :2]
    directions = jnp.concatenate([axes[_FIRST, :, :2], axes[_SECOND, :, :2]], axis=1)
    length = jnp.linalg.norm(directions, axis=-1, keepdims=True)
    directions = directions / jnp.maximum(length, MOSTLY_VERTICAL)
    reach = _half_width(axes[_FIRST], directions) + _half_width(axes[_SECOND], directions)
    depth = reach - jnp.abs(jnp.einsum("pdi,pi->pd", directions, offset))
    return jnp.where(length[..., 0] > MOSTLY_VERTICAL, depth, jnp.inf).min(axis=-1)


MOSTLY_VERTICAL = 0.5
"""Axes with a shorter horizontal part are ignored in the outline seen from above."""


def _half_width(axes: jax.Array, directions: jax.Array) -> jax.Array:
    """`[12, 6]` half the width of blocks with axes `[12, 3, 3]` along horizontal directions `[12, 6, 2]`."""
    return HALF_SIDE * jnp.abs(jnp.einsum("pai,pdi->pda", axes[..., :2], directions)).sum(axis=-1)
