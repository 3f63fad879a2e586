"""Blocks that trade colours."""

from itertools import permutations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.blocks.attributes import RELATIONS
from attribute_planner.environments.blocks.scene import NUM_BLOCKS, NUM_CELLS, ORDERED_PAIRS
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
