"""The agent's view of a grid world: a bag of words, each of them a feature at a location.

A feature is a kind of thing (`block`), its name (`switch_2`) or a property (`red`). A location is a cell of a window
around the agent, wide enough for the whole world wherever the agent stands, or the inventory. The words of the current
and of the wanted attributes, which the paper lists with the others, are no part of the view: whoever is given a goal
adds them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from attribute_planner.environments.gridworld.maps import NOWHERE, GridMap, MapRules, corners
from attribute_planner.environments.spaces import ABSENT, WordsSpec

GROUND = ("block", "corner")
NUM_CORNERS = 4


@dataclass(frozen=True)
class Vocabulary:
    """All words of a world: each feature at each cell of the window, then each item in the inventory.

    features: what can be seen at a cell; the ground's features come on top of them.
    rules: the worlds that the agent can find itself in.
    items: what can be in the inventory.
    """

    features: tuple[str, ...]
    rules: MapRules
    items: tuple[str, ...] = ()

    @property
    def side(self) -> int:
        """How many cells the window is high and wide: the agent is at its centre and sees all of the largest world."""
        return 2 * self.rules.size[1] - 1

    @property
    def first_in_inventory(self) -> int:
        """The first of the words for the inventory's items."""
        return (len(self.features) + len(GROUND)) * self.side**2

    @property
    def size(self) -> int:
        """How many different words there are."""
        return self.first_in_inventory + len(self.items)

    def first(self, feature: str) -> int:
        """The first of the words for a feature: the one for the upper left cell of the window."""
        return (self.features + GROUND).index(feature) * self.side**2

    def locations(self, positions: jax.Array, agent: jax.Array) -> jax.Array:
        """`int16[N]` where in the window the cells `[N, 2]` of the world lie, counted along its rows."""
        centre = self.rules.size[1] - 1
        offsets = positions.astype(jnp.int16) - agent.astype(jnp.int16)[None] + centre
        return offsets[:, 0] * self.side + offsets[:, 1]

    def text(self, word: int) -> str:
        """A word as people say it: `red 2 up 1 right`."""
        feature, location = divmod(int(word), self.side**2)
        if word == ABSENT:
            return "nothing"
        if word >= self.first_in_inventory:
            return f"{self.items[int(word) - self.first_in_inventory]} in the inventory"
        row, column = divmod(location, self.side)
        return f"{(self.features + GROUND)[feature]} {_from_centre(row - self.side // 2, column - self.side // 2)}"


def bag_of_words(vocabulary: Vocabulary, words_per_thing: Sequence[int]) -> WordsSpec:
    """What an observation looks like that has so many words for each thing, one thing after the other."""
    items = tuple(thing for thing, count in enumerate(words_per_thing) for _ in range(count))
    return WordsSpec(len(items), vocabulary.size, items)


def if_present(present: jax.Array, words: jax.Array) -> jax.Array:
    """`int16[N]` the words, `ABSENT` where there is nothing to speak of."""
    return jnp.where(present, words, jnp.int16(ABSENT))


def inventory_words(vocabulary: Vocabulary, inventory: jax.Array) -> jax.Array:
    """`int16[N]` a word for each item that the agent has, as `inventory` `bool[N]` says."""
    return if_present(inventory, vocabulary.first_in_inventory + jnp.arange(inventory.shape[0], dtype=jnp.int16))


def ground_words(vocabulary: Vocabulary, grid: GridMap, agent: jax.Array, *, show_corners: bool) -> jax.Array:
    """`int16[max_blocks (+ 4)]` a word for each block and, if they are shown, for each corner of the world."""
    is_there = grid.blocks[:, 0] != NOWHERE
    blocks = if_present(is_there, vocabulary.first("block") + vocabulary.locations(grid.blocks, agent))
    if not show_corners:
        return blocks
    return jnp.concatenate([blocks, vocabulary.first("corner") + vocabulary.locations(corners(grid), agent)])


def num_ground_words(rules: MapRules, *, show_corners: bool) -> int:
    """How many words `ground_words` gives."""
    return rules.max_blocks + (NUM_CORNERS if show_corners else 0)


def _from_centre(down: int, right: int) -> str:
    vertical = f"{abs(down)} {'down' if down > 0 else 'up'}" if down else ""
    horizontal = f"{abs(right)} {'right' if right > 0 else 'left'}" if right else ""
    return f"{vertical} {horizontal}".strip() or "here"
