"""Symmetries of block stacking: permuted colours and, with continuous drop points, mirrored or rotated tables."""

from itertools import permutations, product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from attribute_planner.environments.blocks.attributes import RELATIONS
from attribute_planner.environments.blocks.scene import NUM_BLOCKS, NUM_CELLS, ORDERED_PAIRS, Poses
from attribute_planner.environments.spaces import Action, MixedAction
from attribute_planner.environments.symmetry import Symmetries

_TRADES = np.array(list(permutations(range(NUM_BLOCKS))))
"""`[24, 4]` the block whose pose each block takes."""
_NEW_NAMES = np.argsort(_TRADES, axis=1)
"""`[24, 4]` the new index of each block."""


class ColourTrades(Symmetries):
    """All 24 permutations of the blocks, for both variants: the leaves of their states are `[4, ...]`."""

    def __init__(self) -> None:
        pair = {blocks: number for number, blocks in enumerate(ORDERED_PAIRS)}
        traded = np.array([[pair[trade[i], trade[j]] for i, j in ORDERED_PAIRS] for trade in _TRADES])
        self.attributes = np.concatenate([traded + i * len(ORDERED_PAIRS) for i in range(len(RELATIONS))], axis=1)

    def rename_state(self, state: Any, which: jax.Array) -> Any:
        trade = jnp.asarray(_TRADES)[which]
        return jax.tree.map(lambda leaf: leaf[trade], state)

    def rename_action(self, action: Action, which: jax.Array) -> Action:
        names = jnp.asarray(_NEW_NAMES)[which]
        if isinstance(action, MixedAction):
            return MixedAction(names[action.choice], action.point)
        return names[action // NUM_CELLS] * NUM_CELLS + action % NUM_CELLS


COLOUR_TRADES = ColourTrades()


_MIRRORS = np.array(list(product((False, True), repeat=3)))
"""`[8, 3]` whether the table is mirrored left to right, then front to back, then along its diagonal."""


class TurnedTables(Symmetries):
    """Permuted colours on a table that is mirrored or rotated by right angles: 192 in all, for continuous drops.

    The renamed state is rendered again, with the same camera and light.
    """

    def __init__(self) -> None:
        self.attributes = np.concatenate(
            [COLOUR_TRADES.attributes[:, _mirrored_attributes(*mirror)] for mirror in _MIRRORS.tolist()]
        )

    @property
    def counted(self) -> np.ndarray:
        return COLOUR_TRADES.attributes

    def rename_state(self, state: Poses, which: jax.Array) -> Poses:
        poses = COLOUR_TRADES.rename_state(state, which % COLOUR_TRADES.count)
        across, back, diagonal = jnp.asarray(_MIRRORS)[which // COLOUR_TRADES.count]
        w, x, y, z = jnp.moveaxis(poses.quaternions, -1, 0)
        # A reflection maps the axis of a rotation as a vector, then reverses it: the sense of the rotation changes.
        x, y, z = x, jnp.where(across, -y, y), jnp.where(across, -z, z)
        x, y, z = jnp.where(back, -x, x), y, jnp.where(back, -z, z)
        x, y, z = jnp.where(diagonal, -y, x), jnp.where(diagonal, -x, y), jnp.where(diagonal, -z, z)
        plane = mirrored_points(poses.positions[..., :2], across, back, diagonal)
        return Poses(jnp.concatenate([plane, poses.positions[..., 2:]], axis=-1), jnp.stack([w, x, y, z], axis=-1))

    def rename_action(self, action: Action, which: jax.Array) -> Action:
        assert isinstance(action, MixedAction), "only for continuous drops"
        renamed = COLOUR_TRADES.rename_action(action, which % COLOUR_TRADES.count)
        assert isinstance(renamed, MixedAction)
        mirror = jnp.asarray(_MIRRORS)[which // COLOUR_TRADES.count]
        return MixedAction(renamed.choice, mirrored_points(jnp.asarray(renamed.point), *mirror))


def mirrored_points(
    points: Float[jax.Array, "*batch 2"],
    across: Bool[jax.Array, ""],
    back: Bool[jax.Array, ""],
    diagonal: Bool[jax.Array, ""],
) -> Float[jax.Array, "*batch 2"]:
    """Points of the unit square, mirrored left to right, front to back and along the diagonal."""
    x, y = points[..., 0], points[..., 1]
    x, y = jnp.where(across, 1 - x, x), jnp.where(back, 1 - y, y)
    return jnp.stack([jnp.where(diagonal, y, x), jnp.where(diagonal, x, y)], axis=-1)


def _mirrored_attributes(across: bool, back: bool, diagonal: bool) -> np.ndarray:
    """`int[36]` for each attribute of the mirrored table, the original attribute with its value."""
    pairs = np.arange(len(ORDERED_PAIRS))
    other_way = np.array([ORDERED_PAIRS.index((second, first)) for first, second in ORDERED_PAIRS])
    left, front = other_way if across else pairs, (other_way if back else pairs) + len(pairs)
    sides = (front, left) if diagonal else (left, front)
    return np.concatenate([*sides, pairs + 2 * len(pairs)])


TURNED_TABLES = TurnedTables()
