"""The explored graph on the device: look-up of attribute sets and random draws of neighbours, each in constant time."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.transitions.table import UNKNOWN, TransitionTable

Key = jax.Array


class DeviceGraph(eqx.Module):
    """The sets and edges of a transition table as device arrays, in the table's order.

    words: `uint32[N, W]` packed sets.
    slots: `int32[M]` a cuckoo hash table of set numbers; M is a power of two. Unused slots hold `UNKNOWN`.
    seeds: `uint32[2]` one seed per hash function; each set is in the slot of one of the two.
    row_starts: `int32[N + 1]` where the edges of each set begin.
    target: `int32[E]` the set that an edge leads to.
    threshold, alias: `float32[E]`, `int32[E]` alias tables of the draw weights, one per set (see `AliasTables`).
    """

    words: jax.Array
    slots: jax.Array
    seeds: jax.Array
    row_starts: jax.Array
    target: jax.Array
    threshold: jax.Array
    alias: jax.Array
    space: AttributeSpace = eqx.field(static=True)

    def locate(self, words: jax.Array) -> jax.Array:
        """`int32[B]` the number of each packed set `[B, W]`, `UNKNOWN` where the graph does not hold it."""
        found = jnp.full(words.shape[:-1], UNKNOWN, jnp.int32)
        for function in range(self.seeds.shape[0]):
            slot = _hash(words, self.seeds[function]) & np.uint32(self.slots.shape[0] - 1)
            number = self.slots[slot.astype(jnp.int32)]
            # Whole rows are compared, so two sets with the same hash are distinguished.
            same = jnp.all(self.words[number] == words, axis=-1)
            found = jnp.maximum(found, jnp.where(same, number, UNKNOWN))
        return found

    def leads_on(self, number: jax.Array) -> jax.Array:
        """`[B]` whether an edge leaves the set; false for `UNKNOWN`."""
        return (number != UNKNOWN) & (self.row_starts[number] < self.row_starts[number + 1])

    def random_neighbour(self, number: jax.Array, *, key: Key) -> jax.Array:
        """`int32[B]` an edge out of each set, drawn by the graph's weights; `UNKNOWN` where there is none."""
        start = self.row_starts[number]
        leaving = self.row_starts[number + 1] - start
        # One number draws both the edge, by its integer part, and whether to keep it, by its fraction.
        place = jax.random.uniform(key, number.shape) * leaving.astype(jnp.float32)
        within = jnp.minimum(place.astype(jnp.int32), leaving - 1)
        coin, edge = place - within.astype(jnp.float32), start + within
        drawn = jnp.where(coin < self.threshold[edge], edge, self.alias[edge])
        return jnp.where((number != UNKNOWN) & (leaving > 0), drawn, UNKNOWN)

    def target_words(self, edge: jax.Array) -> jax.Array:
        """`uint32[B, W]` the packed set that an edge leads to; meaningless for `UNKNOWN`."""
        return self.words[self.target[edge]]


def device_graph(table: TransitionTable, visit_exponent: float = 1.0, *, padded: bool = False) -> DeviceGraph:
    """The device form of an explored table; neighbours are drawn by their visit counts to a power."""
    return graph_with_weights(table, table.visits**visit_exponent, padded=padded)


def graph_with_weights(table: TransitionTable, weight: np.ndarray, *, padded: bool = False) -> DeviceGraph:
    """The device form of a table whose neighbours are drawn by a weight `[E]` of each edge.

    padded: whether sizes are rounded up to powers of two, so that a growing table is compiled for few sizes only.
    """
    more_sets, more_edges = (_padding(size) if padded else 0 for size in (table.num_nodes, table.num_edges))
    slots, seeds = hash_slots(table.words, SLOTS_PER_SET * _power_of_two(table.num_nodes + more_sets))
    tables = alias_tables(table.source, weight, table.num_nodes)
    # No slot holds a set that only pads, and no edge leaves it.
    return DeviceGraph(
        words=jnp.asarray(np.pad(table.words, ((0, more_sets), (0, 0)))),
        slots=jnp.asarray(slots),
        seeds=jnp.asarray(seeds),
        row_starts=jnp.asarray(np.pad(table.row_starts, (0, more_sets), mode="edge"), jnp.int32),
        target=jnp.asarray(np.pad(table.target, (0, more_edges)), jnp.int32),
        threshold=jnp.asarray(np.pad(tables.threshold, (0, more_edges)), jnp.float32),
        alias=jnp.asarray(np.pad(tables.alias, (0, more_edges)), jnp.int32),
        space=table.space,
    )


SMALLEST_PADDED = 1024


def _padding(size: int) -> int:
    """How many are missing to a power of two."""
    return max(_power_of_two(size), SMALLEST_PADDED) - size


def _power_of_two(size: int) -> int:
    """The smallest power of two that is at least `size`."""
    return 1 << max(size - 1, 0).bit_length()


SLOTS_PER_SET = 4
"""At most a quarter of the slots is in use: two hash functions then nearly always suffice."""
HASH_FUNCTIONS = 2
MAX_ROUNDS = 100
"""After this many rounds of moving sets, the hash functions are replaced by others."""


def hash_slots(words: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """A cuckoo hash table of distinct rows `uint32[N, W]`: `int32[size]` row numbers, and `uint32[2]` seeds.

    Row i is in slot `_hash(row, seed) & (size - 1)` for one of the two seeds; unused slots hold `UNKNOWN`. `size` must
    be a power of two, at least `SLOTS_PER_SET` times the number of rows.
    """
    random = np.random.default_rng(0)
    while True:
        seeds = random.integers(0, 2**32, HASH_FUNCTIONS, np.uint32)
        homes = np.stack([_hash(words, seed) & np.uint32(size - 1) for seed in seeds]).astype(np.int64)
        if (slots := _place(homes, size)) is not None:
            return slots, seeds


def _place(homes: np.ndarray, size: int) -> np.ndarray | None:
    """`int32[size]` each of N rows in one of its homes `[2, N]`, else `UNKNOWN`; `None` if some rows find no place.

    All rows without a place move into their next home at once and displace what was there.
    """
    slots = np.full(size, UNKNOWN, np.int32)
    pending, turn = np.arange(homes.shape[1], dtype=np.int32), np.zeros(homes.shape[1], np.int8)
    for _ in range(MAX_ROUNDS):
        home = homes[turn[pending], pending]
        displaced = np.unique(slots[home])
        slots[home] = pending
        pending = np.concatenate([pending[slots[home] != pending], displaced[displaced != UNKNOWN]])
        if not len(pending):
            return slots
        turn[pending] = (turn[pending] + 1) % len(homes)
    return None


def _hash(words, seed):
    """`uint32[...]` a hash of packed rows `[..., W]`; NumPy and JAX arrays give the same."""
    mixed = words[..., 0] ^ seed
    for word in range(words.shape[-1]):
        # The finaliser of MurmurHash3: every bit of its input changes every bit of its output half of the time.
        mixed = (mixed ^ (mixed >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        mixed = (mixed ^ (mixed >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        mixed = mixed ^ (mixed >> np.uint32(16))
        if word + 1 < words.shape[-1]:
            mixed = mixed ^ words[..., word + 1]
    return mixed


class AliasTables(NamedTuple):
    """Walker's alias method for draws by weight, one table for each set's edges.

    To draw, take one of the set's edges with equal chances; keep it with its threshold as the probability, and take
    its alias otherwise.

    threshold: `float64[E]`.
    alias: `int64[E]` an edge of the same set.
    """

    threshold: np.ndarray
    alias: np.ndarray


def alias_tables(source: np.ndarray, weight: np.ndarray, num_nodes: int) -> AliasTables:
    """The alias tables of edges `[E]`, sorted by `source`, all sets at once.

    An edge whose share is above the mean of its set is heavy, others are light. Lights, in order, fill up to the mean
    from the excess of heavies, in order. A heavy may give more than it has; the next heavy then fills it up in turn.
    The assignment follows from the cumulative deficits and excesses alone, without a loop over edges.
    """
    leaving = np.bincount(source, minlength=num_nodes)[source]
    share = weight / np.bincount(source, weights=weight, minlength=num_nodes)[source]
    excess = share - 1 / leaving
    heavy, light = np.flatnonzero(excess > 0), np.flatnonzero(excess <= 0)
    given, missing = _cumulative(source[heavy], excess[heavy]), _cumulative(source[light], -excess[light])
    threshold, alias = np.ones(len(source)), np.arange(len(source))

    # A light is filled by the heavy whose interval of the excess holds the beginning of the light's deficit.
    giver = np.searchsorted(given, missing + excess[light], side="right")
    filled = _same_row(source, light, heavy, giver)
    alias[light[filled]] = heavy[giver[filled]]
    threshold[light[filled]] = (share * leaving)[light[filled]]

    # A heavy lacks what the last light that it fills takes beyond its excess; the next heavy fills that.
    last, following = np.searchsorted(missing, given, side="left"), np.arange(1, len(heavy) + 1)
    lacking = _same_row(source, heavy, light, last) & _same_row(source, heavy, heavy, following)
    alias[heavy[lacking]] = heavy[following[lacking]]
    lack = (missing[last[lacking]] - given[lacking]) * leaving[heavy[lacking]]
    threshold[heavy[lacking]] = np.clip(1 - lack, 0, 1)
    return AliasTables(threshold, alias)


def _cumulative(row: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """`float64[n]` the row number plus the sum of the row's amounts so far; amounts of one row sum to less than 1."""
    total = np.cumsum(amount)
    first = np.searchsorted(row, row, side="left")
    return row + total - (total - amount)[first]


def _same_row(source: np.ndarray, edges: np.ndarray, others: np.ndarray, number: np.ndarray) -> np.ndarray:
    """`[n]` whether `others[number]` exists and leaves the same set as `edges`."""
    exists = number < len(others)
    return exists & (source[edges] == source[others[np.where(exists, number, 0)]] if len(others) else False)
