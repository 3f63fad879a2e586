"""Random maps of grid worlds: size, blocked cells and positions of things.

As in MazeBase, on which the paper's grid worlds are built: height and width are each uniform in `size`, and the number
of blocked cells is uniform from 0 to the fraction `max_blocked` of all cells. MazeBase's water is left out: it only
costs reward. Two choices are ours, because the paper does not specify them: things are on different cells, none of them
on the agent's start; and if the cells that the agent can reach are too few for all things, which happens in about 3 of
1,000 maps, all blocks are removed.

The rows of a map are integers with one bit per column: looking up a cell, finding the reachable cells and sampling a
free cell take a few integer operations per row.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from attribute_planner.environments.spaces import Action
from attribute_planner.errors import ConfigurationError

Rows = jax.Array
"""`uint16[H]` a set of cells: bit c of entry r is the cell in row r and column c."""

UP, DOWN, LEFT, RIGHT = range(4)
MOVES = ("up", "down", "left", "right")

NOWHERE = -1
"""Row and column of an absent block."""

SIZE_LIMIT = 16
"""Largest height and width: the number of bits of a row."""


@dataclass(frozen=True)
class MapRules:
    """Parameters of random maps.

    size: smallest and largest height, and likewise width, inclusive.
    max_blocked: largest fraction of the cells that is blocked.
    """

    size: tuple[int, int] = (5, 10)
    max_blocked: float = 0.2

    @property
    def max_blocks(self) -> int:
        """Maximum number of blocks of the largest map."""
        return int(np.float32(self.max_blocked) * np.float32(self.size[1] ** 2))

    def check(self, *, num_things: int) -> None:
        """Raise an error unless such maps are possible and have room for `num_things` and the agent."""
        smallest, largest = self.size
        if not 1 <= smallest <= largest <= SIZE_LIMIT:
            raise ConfigurationError(
                f"size is {self.size}; it must be (smallest, largest) with 1 ≤ smallest ≤ largest ≤ {SIZE_LIMIT}."
            )
        if smallest**2 < num_things + 1:
            raise ConfigurationError(f"size is {self.size}; {num_things} things and the agent need more cells.")
        if not 0 <= self.max_blocked < 1:
            raise ConfigurationError(f"max_blocked is {self.max_blocked}; it must be at least 0 and below 1.")


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class GridMap:
    """One map, padded to the largest size.

    walls: `uint16[H]` the cells that cannot be entered: blocks, and everything outside the map.
    blocks: `int8[max_blocks, 2]` row and column of each block; `NOWHERE` for absent ones.
    size: `int8[2]` height and width.
    """

    walls: Rows
    blocks: jax.Array
    size: jax.Array


def num_draws(rules: MapRules, num_things: int) -> int:
    """Number of random numbers that `random_map` needs."""
    return 4 + num_things + rules.max_blocks


def random_map(
    rules: MapRules, num_things: int, draws: Float[jax.Array, "num_draws"]
) -> tuple[GridMap, Int[jax.Array, "2"], Int[jax.Array, "{num_things} 2"]]:
    """A random map, the agent's cell and the cells of the things, all of them reachable.

    draws: uniform random numbers in [0, 1). Random numbers are most of the cost of a reset, so they are drawn at once.
    """
    size_draws, number_draw, agent_draw = draws[:2], draws[2], draws[3]
    thing_draws, block_draws = draws[4 : 4 + num_things], draws[4 + num_things :]

    smallest, largest = rules.size
    size = smallest + pick(size_draws, largest - smallest + 1)
    inside = rectangle(size, largest=largest)
    most_blocks = jnp.floor(rules.max_blocked * size.prod().astype(jnp.float32))
    blocks = place_blocks(size, pick(number_draw, most_blocks + 1), block_draws)
    free = inside & ~cells(blocks, largest)
    agent, _ = take_cell(free, agent_draw)

    reached = reachable(agent, free)
    crowded = count(reached) < num_things + 1
    free, reached = jnp.where(crowded, inside, free), jnp.where(crowded, inside, reached)
    blocks = jnp.where(crowded, jnp.int8(NOWHERE), blocks)
    things = take_cells(reached & ~cells(agent[None], largest), thing_draws)
    return GridMap(~free, blocks, size.astype(jnp.int8)), agent, things


def place_blocks(size: jax.Array, num_blocks: jax.Array, draws: jax.Array) -> jax.Array:
    """`int8[N, 2]` different cells, sampled uniformly from draws `[N]`; `NOWHERE` from `num_blocks` on.

    Floyd's sampling: the i-th of k blocks is on one of the first n − k + i + 1 cells, and on the last of these if that
    cell is taken.
    """
    if not draws.shape[0]:
        return jnp.zeros((0, 2), jnp.int8)
    order = jnp.arange(draws.shape[0])
    last = size.prod() - num_blocks + order
    drawn = pick(draws, last + 1)

    def place(block: jax.Array, chosen: jax.Array) -> jax.Array:
        is_taken = (chosen == drawn[block]).any()
        return jnp.where(order == block, jnp.where(is_taken, last[block], drawn[block]), chosen)

    chosen = jax.lax.fori_loop(0, draws.shape[0], place, jnp.full_like(drawn, NOWHERE))
    positions = jnp.stack([chosen // size[1], chosen % size[1]], axis=-1)
    return jnp.where((order < num_blocks)[:, None], positions, NOWHERE).astype(jnp.int8)


def move(grid: GridMap, agent: Int[jax.Array, "2"], action: Action) -> Int[jax.Array, "2"]:
    """The agent's cell after an action. Walls stop it; actions other than moves do not change it."""
    action = jnp.asarray(action)
    forward, back = action == jnp.array([DOWN, RIGHT]), action == jnp.array([UP, LEFT])
    # Clipping keeps the agent inside the padded map, whose border counts as a wall.
    ahead = jnp.clip(agent + forward.astype(jnp.int8) - back.astype(jnp.int8), 0, grid.walls.shape[0] - 1)
    return jnp.where(is_in(grid.walls, ahead), agent, ahead)


def corners(grid: GridMap) -> Int[jax.Array, "4 2"]:
    """The corner cells of the map."""
    is_far = jnp.array([[False, False], [False, True], [True, False], [True, True]])
    return jnp.where(is_far, grid.size[None] - 1, jnp.int8(0))


def pick(draw: Float[jax.Array, "..."], choices: jax.Array | int) -> Int[jax.Array, "..."]:
    """An index in [0, choices), uniform if `draw` is uniform in [0, 1)."""
    return jnp.floor(draw * jnp.asarray(choices, jnp.float32)).astype(jnp.int32)


def is_in(rows: Rows, position: jax.Array) -> jax.Array:
    """Whether the cell `[2]` is in the set."""
    return (rows[position[0]] >> position[1].astype(rows.dtype)) & 1 == 1


def rectangle(size: jax.Array, *, largest: int) -> Rows:
    """The cells of a map of height and width `size` `[2]`, in the upper left corner of the padded map."""
    full_row = (jnp.uint32(1) << size[1].astype(jnp.uint32)) - 1
    return jnp.where(jnp.arange(largest) < size[0], full_row, jnp.uint32(0)).astype(jnp.uint16)


def cells(positions: jax.Array, height: int) -> Rows:
    """The set of the cells `[N, 2]`, which are different; `NOWHERE` is ignored."""
    bits = jnp.uint16(1) << positions[:, 1].astype(jnp.uint16)
    is_row = jnp.arange(height, dtype=jnp.int8)[:, None] == positions[None, :, 0]
    return jnp.where(is_row, bits[None], jnp.uint16(0)).sum(axis=1, dtype=jnp.uint16)


def count(rows: Rows) -> jax.Array:
    """Number of cells in the set."""
    return jax.lax.population_count(rows).sum(dtype=jnp.int32)


def reachable(start: jax.Array, free: Rows) -> Rows:
    """All cells that can be reached from the cell `start` `[2]` over free cells."""

    def spread(both: tuple[Rows, Rows]) -> tuple[Rows, Rows]:
        _, now = both
        beside = (now << 1) | (now >> 1)
        above_and_below = jnp.pad(now[1:], (0, 1)) | jnp.pad(now[:-1], (1, 0))
        return now, (now | beside | above_and_below) & free

    nothing = jnp.zeros_like(free)
    _, all_reached = jax.lax.while_loop(
        lambda both: (both[0] != both[1]).any(), spread, (nothing, cells(start[None], free.shape[0]))
    )
    return all_reached


def take_cells(free: Rows, draws: jax.Array) -> jax.Array:
    """`int8[N, 2]` different cells of the set, sampled uniformly from draws `[N]`, in random order."""

    def take_next(left: Rows, draw: jax.Array) -> tuple[Rows, jax.Array]:
        position, left = take_cell(left, draw)
        return left, position

    return jax.lax.scan(take_next, free, draws)[1]


def take_cell(free: Rows, draw: jax.Array) -> tuple[jax.Array, Rows]:
    """A cell `int8[2]` of the set, sampled uniformly from a draw in [0, 1), and the set without it."""
    in_row = jax.lax.population_count(free).astype(jnp.int32)
    up_to_row = jnp.where(jnp.tri(free.shape[0], dtype=bool), in_row[None], 0).sum(axis=1)
    rank = pick(draw, up_to_row[-1])
    row = (up_to_row <= rank).sum()
    rank_in_row = rank - (up_to_row[row] - in_row[row])
    # The column is the number of prefixes of the row with at most `rank_in_row` cells.
    prefixes = jnp.uint16(2**SIZE_LIMIT - 1) >> jnp.arange(SIZE_LIMIT - 1, -1, -1, dtype=jnp.uint16)
    column = (jax.lax.population_count(free[row] & prefixes).astype(jnp.int32) <= rank_in_row).sum()
    position = jnp.stack([row, column]).astype(jnp.int8)
    return position, free & ~cells(position[None], free.shape[0])
