"""Bellman–Ford on an accelerator: shortest paths to many goals at once.

Each sweep relaxes every edge for all goals. The number of sweeps is the number of transitions of the longest best path.
"""

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

MOST_NUMBERS = 2**28
"""Largest number of values of a sweep (one per goal and edge): one gigabyte."""


def bellman_ford(
    source: np.ndarray, target: np.ndarray, cost: np.ndarray, num_nodes: int, ends: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The distance of every node from the nearest of some end nodes, for several choices of ends, and the next node.

    source, target, cost: `[E]` the edges, by source; no cost is so small that 32-bit sums do not resolve it.
    ends: `[G]` end nodes `[n]` of each goal; a path may end at any of them.

    `float32[G, N]` costs, infinite where there is no way; `int32[G, N]` successors, −1 there and at the ends.
    """
    edges = jnp.asarray(source, jnp.int32), jnp.asarray(target, jnp.int32), jnp.asarray(cost, jnp.float32)
    most = min(max(MOST_NUMBERS // max(len(cost), 1), 1), len(ends))
    at_once = 1 << (most.bit_length() - 1)  # a power of two, so that few shapes are compiled
    found = []
    for start in range(0, len(ends), at_once):
        some = ends[start : start + at_once]
        begun = np.full((num_nodes, at_once), np.inf, np.float32)
        for column, nodes in enumerate(some):
            begun[nodes, column] = 0.0
        costs, successors = _relax(*edges, jnp.asarray(begun), num_nodes)
        found.append((np.asarray(costs).T[: len(some)], np.asarray(successors).T[: len(some)]))
    costs, successors = zip(*found, strict=True)
    return np.concatenate(costs), np.concatenate(successors)


@partial(jax.jit, static_argnums=4)
def _relax(
    source: jax.Array, target: jax.Array, cost: jax.Array, begun: jax.Array, num_nodes: int
) -> tuple[jax.Array, jax.Array]:
    """`[N, G]` costs and successors, starting from the end nodes."""
    least = partial(jax.ops.segment_min, segment_ids=source, num_segments=num_nodes, indices_are_sorted=True)

    def ways(costs: jax.Array) -> jax.Array:
        return cost[:, None] + costs[target]

    def sweep(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        costs, _ = state
        better = jnp.minimum(costs, least(ways(costs)))
        return better, (better < costs).any()

    costs, _ = jax.lax.while_loop(lambda state: state[1], sweep, (begun, jnp.array(True)))
    best = (ways(costs) == costs[source]) & jnp.isfinite(costs[source])
    nowhere = jnp.int32(num_nodes)
    successor = least(jnp.where(best, target[:, None], nowhere))
    return costs, jnp.where((successor < nowhere) & (costs > 0), successor, -1)
