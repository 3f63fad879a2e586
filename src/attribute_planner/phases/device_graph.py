"""The explored graph on the device: look-up of attribute sets and random draws of neighbours, each in constant time."""

from dataclasses import replace
from typing import NamedTuple, Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, UInt32

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.stacking import Growing
from attribute_planner.transitions.model import TransitionModel
from attribute_planner.transitions.numbering import UNKNOWN

Key = jax.Array


class DeviceGraph(Growing):
    """The sets and edges of a transition model as device arrays, in the order of its listing.

    words: packed sets.
    slots: a cuckoo hash table of set numbers; M is a power of two. Unused slots hold `UNKNOWN`.
    seeds: one seed per hash function; each set is in the slot of one of the two.
    row_starts: where the edges of each set begin.
    target: the set that an edge leads to.
    threshold, alias: alias tables of the draw weights, one per set (see `AliasTables`).
    """

    words: UInt32[jax.Array, "N W"]
    slots: Int[jax.Array, " M"]
    seeds: UInt32[jax.Array, "2"]
    row_starts: Int[jax.Array, " N_plus_1"]
    target: Int[jax.Array, " E"]
    threshold: Float[jax.Array, " E"]
    alias: Int[jax.Array, " E"]
    space: AttributeSpace = eqx.field(static=True)

    def locate(self, words: UInt32[jax.Array, "B W"]) -> Int[jax.Array, " B"]:
        """The number of each packed set, `UNKNOWN` where the graph does not hold it."""
        found = jnp.full(words.shape[:-1], UNKNOWN, jnp.int32)
        for function in range(self.seeds.shape[0]):
            slot = _hash(words, self.seeds[function]) & np.uint32(self.slots.shape[0] - 1)
            number = self.slots[slot.astype(jnp.int32)]
            # Whole rows are compared, so two sets with the same hash are distinguished.
            same = jnp.all(self.words[number] == words, axis=-1)
            found = jnp.maximum(found, jnp.where(same, number, UNKNOWN))
        return found

    def leads_on(self, number: Int[jax.Array, " B"]) -> Bool[jax.Array, " B"]:
        """Whether an edge leaves the set; false for `UNKNOWN`."""
        return (number != UNKNOWN) & (self.row_starts[number] < self.row_starts[number + 1])

    def random_neighbour(self, number: Int[jax.Array, " B"], *, key: Key) -> Int[jax.Array, " B"]:
        """An edge out of each set, drawn by the graph's weights; `UNKNOWN` where there is none."""
        start = self.row_starts[number]
        leaving = self.row_starts[number + 1] - start
        # One number draws both the edge, by its integer part, and whether to keep it, by its fraction.
        place = jax.random.uniform(key, number.shape) * leaving.astype(jnp.float32)
        within = jnp.minimum(place.astype(jnp.int32), leaving - 1)
        coin, edge = place - within.astype(jnp.float32), start + within
        drawn = jnp.where(coin < self.threshold[edge], edge, self.alias[edge])
        return jnp.where((number != UNKNOWN) & (leaving > 0), drawn, UNKNOWN)

    def target_words(self, edge: Int[jax.Array, "*batch"]) -> UInt32[jax.Array, "*batch W"]:
        """The packed set that an edge leads to; meaningless for `UNKNOWN`."""
        return self.words[self.target[edge]]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of sets, slots and edges."""
        return len(self.words), len(self.slots), len(self.target)

    def padded_to(self, sizes: tuple[int, ...]) -> Self:
        num_nodes, num_slots, num_edges = sizes
        more_sets, more_edges = (0, num_nodes - len(self.words)), (0, num_edges - len(self.target))
        padded = (
            jnp.pad(self.words, (more_sets, (0, 0))),
            # A hash counts modulo the number of slots.
            jnp.tile(self.slots, num_slots // len(self.slots)),
            jnp.pad(self.row_starts, more_sets, mode="edge"),
            *(jnp.pad(each, more_edges) for each in (self.target, self.threshold, self.alias)),
        )
        names = ("words", "slots", "row_starts", "target", "threshold", "alias")
        return replace(self, **dict(zip(names, padded, strict=True)))


def device_graph(model: TransitionModel, visit_exponent: float = 1.0, *, padded: bool = False) -> DeviceGraph:
    """The device form of an explored model; neighbours are drawn by their visit counts to a power."""
    return graph_with_weights(model, model.listing().visits ** visit_exponent, padded=padded)


def graph_with_weights(model: TransitionModel, weight: Float[np.ndarray, " E"], *, padded: bool = False) -> DeviceGraph:
    """The device form of a model whose neighbours are drawn by a weight of each edge.

    padded: whether sizes are rounded up to powers of two, so that a growing graph is compiled for few sizes only.
    """
    listing = model.listing()
    more_sets, more_edges = (_padding(size) if padded else 0 for size in (listing.num_nodes, listing.num_edges))
    slots, seeds = hash_slots(listing.words, SLOTS_PER_SET * _power_of_two(listing.num_nodes + more_sets))
    tables = alias_tables(listing.source, weight, listing.num_nodes)
    # No slot holds a set that only pads, and no edge leaves it.
    return DeviceGraph(
        words=jnp.asarray(np.pad(listing.words, ((0, more_sets), (0, 0)))),
        slots=jnp.asarray(slots),
        seeds=jnp.asarray(seeds),
        row_starts=jnp.asarray(np.pad(listing.row_starts, (0, more_sets), mode="edge"), jnp.int32),
        target=jnp.asarray(np.pad(listing.target, (0, more_edges)), jnp.int32),
        threshold=jnp.asarray(np.pad(tables.threshold, (0, more_edges)), jnp.float32),
        alias=jnp.asarray(np.pad(tables.alias, (0, more_edges)), jnp.int32),
        space=listing.space,
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


def hash_slots(words: UInt32[np.ndarray, "N W"], size: int) -> tuple[Int[np.ndarray, " size"], UInt32[np.ndarray, "2"]]:
    """A cuckoo hash table of distinct rows: the row number in each slot, and two seeds.

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

    alias: an edge of the same set.
    """

    threshold: Float[np.ndarray, " E"]
    alias: Int[np.ndarray, " E"]


def alias_tables(source: Int[np.ndarray, " E"], weight: Float[np.ndarray, " E"], num_nodes: int) -> AliasTables:
    """The alias tables of edges, sorted by `source`, all sets at once.

    An edge whose share is above the mean of its set is heavy, others are light. Lights, in order, fill up to the mean
    from the excess of heavies, in order. A heavy may give more than it has; the next heavy then fills it up in turn.
    The assignment follows from the cumulative deficits and excesses alone, without a loop over edges.
    """
    leaving = np.bincount(source, minlength=num_nodes)[source]
    total = np.bincount(source, weights=weight, minlength=num_nodes)[source]
    # Where no edge has a weight, all are alike.
    share = np.where(total > 0, weight, 1.0) / np.where(total > 0, total, leaving)
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
