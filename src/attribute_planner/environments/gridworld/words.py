"""Observations of grid worlds: a bag of words, each of them a feature at a location.

A feature is a kind of thing (`block`), its name (`switch_2`) or a property (`red`). A location is a cell of a window
around the agent, large enough for the whole map from any cell, or the inventory. The paper also lists words for the
current and the goal attributes; here the encoder of the policy adds them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Int

from attribute_planner.environments.gridworld.maps import NOWHERE, GridMap, MapRules, corners
from attribute_planner.environments.spaces import ABSENT, WordsSpec

GROUND = ("block", "corner")
NUM_CORNERS = 4


@dataclass(frozen=True)
class Vocabulary:
    """All words: each feature at each cell of the window, then each item in the inventory.

    features: features of things; those of the ground follow them.
    rules: parameters of the maps.
    items: items of the inventory.
    """

    features: tuple[str, ...]
    rules: MapRules
    items: tuple[str, ...] = ()

    @property
    def side(self) -> int:
        """Height and width of the window in cells: it contains the largest map with the agent at its centre."""
        return 2 * self.rules.size[1] - 1

    @property
    def first_in_inventory(self) -> int:
        """First word of the inventory."""
        return (len(self.features) + len(GROUND)) * self.side**2

    @property
    def size(self) -> int:
        """Number of different words."""
        return self.first_in_inventory + len(self.items)

    def first(self, feature: str) -> int:
        """First word of a feature: at the upper left cell of the window."""
        return (self.features + GROUND).index(feature) * self.side**2

    def locations(self, positions: Int[jax.Array, "N 2"], agent: Int[jax.Array, "2"]) -> Int[jax.Array, "N"]:
        """The index of each cell in the window, row by row."""
        centre = self.rules.size[1] - 1
        offsets = positions.astype(jnp.int16) - agent.astype(jnp.int16)[None] + centre
        return offsets[:, 0] * self.side + offsets[:, 1]

    def text(self, word: int) -> str:
        """A word as text: `red 2 up 1 right`."""
        feature, location = divmod(int(word), self.side**2)
        if word == ABSENT:
            return "nothing"
        if word >= self.first_in_inventory:
            return f"{self.items[int(word) - self.first_in_inventory]} in the inventory"
        row, column = divmod(location, self.side)
        return f"{(self.features + GROUND)[feature]} {_from_centre(row - self.side // 2, column - self.side // 2)}"


def bag_of_words(vocabulary: Vocabulary, words_per_thing: Sequence[int]) -> WordsSpec:
    """The specification of observations with this number of words for each thing, in order."""
    items = tuple(thing for thing, count in enumerate(words_per_thing) for _ in range(count))
    return WordsSpec(len(items), vocabulary.size, items)


def if_present(present: Bool[jax.Array, "N"], words: Int[jax.Array, "N"]) -> Int[jax.Array, "N"]:
    """The words where `present`, `ABSENT` elsewhere."""
    return jnp.where(present, words, jnp.int16(ABSENT))


def inventory_words(vocabulary: Vocabulary, inventory: Bool[jax.Array, "N"]) -> Int[jax.Array, "N"]:
    """A word for each item of the inventory."""
    return if_present(inventory, vocabulary.first_in_inventory + jnp.arange(inventory.shape[0], dtype=jnp.int16))


def ground_words(vocabulary: Vocabulary, grid: GridMap, agent: jax.Array, *, show_corners: bool) -> jax.Array:
    """`int16[max_blocks (+ 4)]` a word for each block and, if shown, for each corner of the map."""
    is_there = grid.blocks[:, 0] != NOWHERE
    blocks = if_present(is_there, vocabulary.first("block") + vocabulary.locations(grid.blocks, agent))
    if not show_corners:
        return blocks
    return jnp.concatenate([blocks, vocabulary.first("corner") + vocabulary.locations(corners(grid), agent)])


def num_ground_words(rules: MapRules, *, show_corners: bool) -> int:
    """Number of words that `ground_words` returns."""
    return rules.max_blocks + (NUM_CORNERS if show_corners else 0)


def _from_centre(down: int, right: int) -> str:
    vertical = f"{abs(down)} {'down' if down > 0 else 'up'}" if down else ""
    horizontal = f"{abs(right)} {'right' if right > 0 else 'left'}" if right else ""
    return f"{vertical} {horizontal}".strip() or "here"
