"""The explored graph on the device: finding an attribute set in it, and drawing one of its neighbours."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.transitions.table import UNKNOWN, TransitionTable

Key = jax.Array


class DeviceGraph(eqx.Module):
    """The sets and edges of a transition table as device arrays, in the table's order.

    words: `uint32[N, W]` packed sets, sorted.
    row_starts: `int32[N + 1]` where the edges of each set begin.
    target: `int32[E]` the set that an edge leads to.
    cumulative: `float32[E]` the cumulative share of visits within the edges of one set; the last edge of a set has 1.
    """

    words: jax.Array
    row_starts: jax.Array
    target: jax.Array
    cumulative: jax.Array
    space: AttributeSpace = eqx.field(static=True)

    def locate(self, words: jax.Array) -> jax.Array:
        """`int32[B]` the number of each packed set `[B, W]`, `UNKNOWN` where the graph does not hold it."""
        count = self.words.shape[0]
        low = _first_at_least(
            lambda number: ~_less(self.words[number], words),
            jnp.zeros(words.shape[:-1], jnp.int32),
            jnp.full(words.shape[:-1], count, jnp.int32),
            count,
        )
        found = (low < count) & jnp.all(self.words[jnp.minimum(low, count - 1)] == words, axis=-1)
        return jnp.where(found, low, UNKNOWN)

    def leads_on(self, number: jax.Array) -> jax.Array:
        """`[B]` whether an edge leaves the set; false for `UNKNOWN`."""
        return (number != UNKNOWN) & (self.row_starts[number] < self.row_starts[number + 1])

    def random_neighbour(self, number: jax.Array, *, key: Key) -> jax.Array:
        """`int32[B]` an edge out of each set, drawn by visit counts; `UNKNOWN` where there is none."""
        start = self.row_starts[number]
        stop = self.row_starts[number + 1]
        threshold = jax.random.uniform(key, number.shape)
        edge = _first_at_least(lambda edge: self.cumulative[edge] > threshold, start, stop, int(self.target.shape[0]))
        return jnp.where(self.leads_on(number), jnp.minimum(edge, stop - 1), UNKNOWN)

    def target_words(self, edge: jax.Array) -> jax.Array:
        """`uint32[B, W]` the packed set that an edge leads to; meaningless for `UNKNOWN`."""
        return self.words[self.target[edge]]


def device_graph(table: TransitionTable, visit_exponent: float = 1.0) -> DeviceGraph:
    """The device form of an explored table; neighbours will be drawn by their visit counts to a power."""
    return graph_with_weights(table, table.visits**visit_exponent)


def graph_with_weights(table: TransitionTable, weight: np.ndarray, *, padded: bool = False) -> DeviceGraph:
    """The device form of a table whose neighbours will be drawn by a weight `[E]` of each edge.

    padded: whether sizes are rounded up to powers of two, so that of a table that grows only few sizes are compiled.
    """
    leaving = np.bincount(table.source, weights=weight, minlength=table.num_nodes)
    before = np.concatenate([[0], np.cumsum(leaving)[:-1]])
    within = (np.cumsum(weight) - before[table.source]) / leaving[table.source]
    more_sets, more_edges = (_padding(size) if padded else 0 for size in (table.num_nodes, table.num_edges))
    # Sets that do not exist come last in the order, and no edge leaves them.
    return DeviceGraph(
        words=jnp.asarray(np.pad(table.words, ((0, more_sets), (0, 0)), constant_values=np.uint32(2**32 - 1))),
        row_starts=jnp.asarray(np.pad(table.row_starts, (0, more_sets), mode="edge"), jnp.int32),
        target=jnp.asarray(np.pad(table.target, (0, more_edges)), jnp.int32),
        cumulative=jnp.asarray(np.pad(within, (0, more_edges)), jnp.float32),
        space=table.space,
    )


SMALLEST_PADDED = 1024


def _padding(size: int) -> int:
    """How many are missing to a power of two."""
    return max(1 << max(size - 1, 0).bit_length(), SMALLEST_PADDED) - size


def _first_at_least(reached: Callable[[jax.Array], jax.Array], low: jax.Array, high: jax.Array, size: int) -> jax.Array:
    """Binary search, all rows at once: the first position in `[low, high)` where `reached`, a monotone test, holds."""

    def halve(_: jax.Array, bounds: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = bounds
        middle = (low + high) // 2
        here = reached(jnp.minimum(middle, size - 1)) & (low < high)
        return jnp.where(here | (low >= high), low, middle + 1), jnp.where(here, middle, high)

    return jax.lax.fori_loop(0, max(size, 1).bit_length(), halve, (low, high))[0]


def _less(left: jax.Array, right: jax.Array) -> jax.Array:
    """`[B]` whether packed sets come before others: the last word counts most, as in the table's order."""
    less = jnp.zeros(left.shape[:-1], bool)
    for word in range(left.shape[-1]):
        less = (left[..., word] < right[..., word]) | ((left[..., word] == right[..., word]) & less)
    return less
