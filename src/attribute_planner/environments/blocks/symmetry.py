"""Blocks that trade colours; and, where they may lie anywhere, tables that are mirrored or turned."""

from itertools import permutations, product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.blocks.attributes import RELATIONS
from attribute_planner.environments.blocks.scene import NUM_BLOCKS, NUM_CELLS, ORDERED_PAIRS, Poses
from attribute_planner.environments.spaces import Action, MixedAction
from attribute_planner.environments.symmetry import Symmetries

_TRADES = np.array(list(permutations(range(NUM_BLOCKS))))
"""`[24, 4]` whose place each block takes."""
_NEW_NAMES = np.argsort(_TRADES, axis=1)
"""`[24, 4]` what each block is called afterwards."""


class ColourTrades(Symmetries):
    """All 24 ways in which the blocks can trade colours, for both variants: their states are arrays `[4, ...]`."""

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
"""`[8, 3]` whether the table is mirrored from left to right, from front to back, and along its diagonal, in turn."""


class TurnedTables(Symmetries):
    """Traded colours on a table that is mirrored or turned by right angles: 192 in all, for drops anywhere.

    A state is drawn anew, so that the camera stays where it is, and the light too.
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
        # A mirror turns an axis of rotation as it turns arrows, and then around: rotations change their sense in it.
        x, y, z = x, jnp.where(across, -y, y), jnp.where(across, -z, z)
        x, y, z = jnp.where(back, -x, x), y, jnp.where(back, -z, z)
        x, y, z = jnp.where(diagonal, -y, x), jnp.where(diagonal, -x, y), jnp.where(diagonal, -z, z)
        plane = mirrored_points(poses.positions[..., :2], across, back, diagonal)
        return Poses(jnp.concatenate([plane, poses.positions[..., 2:]], axis=-1), jnp.stack([w, x, y, z], axis=-1))

    def rename_action(self, action: Action, which: jax.Array) -> Action:
        assert isinstance(action, MixedAction), "cells would have to be turned, too"
        renamed = COLOUR_TRADES.rename_action(action, which % COLOUR_TRADES.count)
        assert isinstance(renamed, MixedAction)
        mirror = jnp.asarray(_MIRRORS)[which // COLOUR_TRADES.count]
        return MixedAction(renamed.choice, mirrored_points(jnp.asarray(renamed.point), *mirror))


def mirrored_points(points: jax.Array, across: jax.Array, back: jax.Array, diagonal: jax.Array) -> jax.Array:
    """Points `[..., 2]` of the unit square in the mirrors that are asked for."""
    x, y = points[..., 0], points[..., 1]
    x, y = jnp.where(across, 1 - x, x), jnp.where(back, 1 - y, y)
    return jnp.stack([jnp.where(diagonal, y, x), jnp.where(diagonal, x, y)], axis=-1)


def _mirrored_attributes(across: bool, back: bool, diagonal: bool) -> np.ndarray:
    """`int[36]` the attribute before whose value each attribute has in the mirrors."""
    pairs = np.arange(len(ORDERED_PAIRS))
    other_way = np.array([ORDERED_PAIRS.index((second, first)) for first, second in ORDERED_PAIRS])
    left, front = other_way if across else pairs, (other_way if back else pairs) + len(pairs)
    sides = (front, left) if diagonal else (left, front)
    return np.concatenate([*sides, pairs + 2 * len(pairs)])


TURNED_TABLES = TurnedTables()
