"""The ground of a grid world: its size, what blocks the way, and where things stand.

As in MazeBase, on which the paper's grid worlds are built: height and width are each uniform in `size`, and the number
of blocked cells is uniform from none to the share `max_blocked` of all cells. MazeBase's water is left out: it only
costs reward, and there is none here. Two choices are ours, as the paper does not tell: things stand on different cells,
none of them where the agent begins; and a world whose blocks shut the agent up with too few cells to hold everything
loses all its blocks, as about 3 of 1,000 do.

The rows of a map are integers with one bit per column, so that looking up a cell, finding what can be reached and
picking a random free cell take a few integer operations per row.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.spaces import Action
from attribute_planner.errors import ConfigurationError

Rows = jax.Array
"""`uint16[H]` a set of cells: bit c of number r is the cell in row r and column c."""

UP, DOWN, LEFT, RIGHT = range(4)
MOVES = ("up", "down", "left", "right")

NOWHERE = -1
"""Row and column of a block that is not there."""

SIZE_LIMIT = 16
"""The largest height or width: as many bits as a row has."""


@dataclass(frozen=True)
class MapRules:
    """What random worlds look like.

    size: the smallest and the largest height, and likewise width, both included.
    max_blocked: the largest share of the cells that is blocked.
    """

    size: tuple[int, int] = (5, 10)
    max_blocked: float = 0.2

    @property
    def max_blocks(self) -> int:
        """How many blocks the largest world holds at most."""
        return int(np.float32(self.max_blocked) * np.float32(self.size[1] ** 2))

    def check(self, *, num_things: int) -> None:
        """Raise unless worlds like these are possible and hold `num_things` and the agent."""
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
    """The ground of one world, padded to the largest size.

    walls: `uint16[H]` the cells on which nobody can stand: blocks, and all that lies outside the world.
    blocks: `int8[max_blocks, 2]` row and column of each block, `NOWHERE` where there are fewer.
    size: `int8[2]` height and width.
    """

    walls: Rows
    blocks: jax.Array
    size: jax.Array


def num_draws(rules: MapRules, num_things: int) -> int:
    """How many random numbers `random_map` takes."""
    return 4 + num_things + rules.max_blocks


def random_map(rules: MapRules, num_things: int, draws: jax.Array) -> tuple[GridMap, jax.Array, jax.Array]:
    """A random map, the agent's cell `int8[2]` and those of the things `int8[num_things, 2]`, all within reach.

    It follows from `draws` `[num_draws]`, uniform from 0 to 1, so that a whole reset asks for random numbers only once:
    they are most of what it costs.
    """
    size_draws, number_draw, agent_draw = draws[:2], draws[2], draws[3]
    thing_draws, block_draws = draws[4 : 4 + num_things], draws[4 + num_things :]

    smallest, largest = rules.size
    size = smallest + pick(size_draws, largest - smallest + 1)
    world = rectangle(size, largest=largest)
    most_blocks = jnp.floor(rules.max_blocked * size.prod().astype(jnp.float32))
    blocks = place_blocks(size, pick(number_draw, most_blocks + 1), block_draws)
    free = world & ~cells(blocks, largest)
    agent, _ = take_cell(free, agent_draw)

    reached = reachable(agent, free)
    crowded = count(reached) < num_things + 1
    free, reached = jnp.where(crowded, world, free), jnp.where(crowded, world, reached)
    blocks = jnp.where(crowded, jnp.int8(NOWHERE), blocks)
    things = take_cells(reached & ~cells(agent[None], largest), thing_draws)
    return GridMap(~free, blocks, size.astype(jnp.int8)), agent, things


def place_blocks(size: jax.Array, num_blocks: jax.Array, draws: jax.Array) -> jax.Array:
    """`int8[N, 2]` different cells, uniformly chosen by draws `[N]` from 0 to 1; `NOWHERE` from `num_blocks` on.

    Floyd's sampling: the i-th of k blocks falls on one of the first n − k + i + 1 cells, and on the last of these if it
    would fall on an earlier block.
    """
    order = jnp.arange(draws.shape[0])
    last = size.prod() - num_blocks + order
    drawn = pick(draws, last + 1)

    def place(block: jax.Array, chosen: jax.Array) -> jax.Array:
        is_taken = (chosen == drawn[block]).any()
        return jnp.where(order == block, jnp.where(is_taken, last[block], drawn[block]), chosen)

    chosen = jax.lax.fori_loop(0, draws.shape[0], place, jnp.full_like(drawn, NOWHERE))
    positions = jnp.stack([chosen // size[1], chosen % size[1]], axis=-1)
    return jnp.where((order < num_blocks)[:, None], positions, NOWHERE).astype(jnp.int8)


def move(grid: GridMap, agent: jax.Array, action: Action) -> jax.Array:
    """The agent's cell `int8[2]` after an action: walls stop it, and an action that is no move leaves it there."""
    action = jnp.asarray(action)
    forward, back = action == jnp.array([DOWN, RIGHT]), action == jnp.array([UP, LEFT])
    # Clipping keeps the agent where it is at the edge of the padded map: outside counts as wall.
    ahead = jnp.clip(agent + forward.astype(jnp.int8) - back.astype(jnp.int8), 0, grid.walls.shape[0] - 1)
    return jnp.where(is_in(grid.walls, ahead), agent, ahead)


def corners(grid: GridMap) -> jax.Array:
    """`int8[4, 2]` the outermost cells of the world."""
    is_far = jnp.array([[False, False], [False, True], [True, False], [True, True]])
    return jnp.where(is_far, grid.size[None] - 1, jnp.int8(0))


def pick(draw: jax.Array, choices: jax.Array | int) -> jax.Array:
    """`int32[...]` from 0 to below `choices`, uniform where `draw` is uniform from 0 to below 1."""
    return jnp.floor(draw * jnp.asarray(choices, jnp.float32)).astype(jnp.int32)


def is_in(rows: Rows, position: jax.Array) -> jax.Array:
    """Whether the cell `[2]` belongs to the set."""
    return (rows[position[0]] >> position[1].astype(rows.dtype)) & 1 == 1


def rectangle(size: jax.Array, *, largest: int) -> Rows:
    """The cells of a world of that height and width, in the upper left corner of the padded map."""
    full_row = (jnp.uint32(1) << size[1].astype(jnp.uint32)) - 1
    return jnp.where(jnp.arange(largest) < size[0], full_row, jnp.uint32(0)).astype(jnp.uint16)


def cells(positions: jax.Array, height: int) -> Rows:
    """The set of different cells `[N, 2]`; those that are `NOWHERE` are left out."""
    bits = jnp.uint16(1) << positions[:, 1].astype(jnp.uint16)
    is_row = jnp.arange(height, dtype=jnp.int8)[:, None] == positions[None, :, 0]
    return jnp.where(is_row, bits[None], jnp.uint16(0)).sum(axis=1, dtype=jnp.uint16)


def count(rows: Rows) -> jax.Array:
    """How many cells the set holds."""
    return jax.lax.population_count(rows).sum(dtype=jnp.int32)


def reachable(start: jax.Array, free: Rows) -> Rows:
    """All cells that can be walked to from the cell `start` over free ones."""

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
    """`int8[N, 2]` different cells of the set, chosen uniformly and in random order by draws `[N]` from 0 to 1."""

    def take_next(left: Rows, draw: jax.Array) -> tuple[Rows, jax.Array]:
        position, left = take_cell(left, draw)
        return left, position

    return jax.lax.scan(take_next, free, draws)[1]


def take_cell(free: Rows, draw: jax.Array) -> tuple[jax.Array, Rows]:
    """The cell `int8[2]` that a draw from 0 to 1 picks uniformly from the set, and the set without it."""
    in_row = jax.lax.population_count(free).astype(jnp.int32)
    up_to_row = jnp.where(jnp.tri(free.shape[0], dtype=bool), in_row[None], 0).sum(axis=1)
    rank = pick(draw, up_to_row[-1])
    row = (up_to_row <= rank).sum()
    rank_in_row = rank - (up_to_row[row] - in_row[row])
    # The column is the number of prefixes of the row that hold no more than `rank_in_row` cells.
    prefixes = jnp.uint16(2**SIZE_LIMIT - 1) >> jnp.arange(SIZE_LIMIT - 1, -1, -1, dtype=jnp.uint16)
    column = (jax.lax.population_count(free[row] & prefixes).astype(jnp.int32) <= rank_in_row).sum()
    position = jnp.stack([row, column]).astype(jnp.int8)
    return position, free & ~cells(position[None], free.shape[0])
