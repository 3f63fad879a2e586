"""Aiming along plans: practice goes to far places by the ways that plans take, and so tries what plans will rely on."""

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.planning.distances import NOWHERE, ShortestPaths
from attribute_planner.transitions.table import UNKNOWN, TransitionTable

Key = jax.Array

FAR_SETS = 32
"""To how many far sets ways are planned at once; each copy is on its way to one of them."""
SUBSTITUTES = 4
"""From how many of these a copy looks for another one where it is at its own, or knows no way there."""


def plan_to_far_sets(table: TransitionTable, time_cost: float, *, key: Key) -> jax.Array:
    """`int32[FAR_SETS, N]` the edge to take from each set towards each of some random sets; `UNKNOWN` where none is."""
    sets = np.asarray(jax.random.randint(key, (FAR_SETS,), 0, table.num_nodes))
    paths = ShortestPaths(table, time_cost=time_cost)
    return jnp.asarray(np.stack([_edges_towards(table, paths, number) for number in sets.tolist()]), jnp.int32)


def _edges_towards(table: TransitionTable, paths: ShortestPaths, number: int) -> np.ndarray:
    """`int64[N]` the first edge of the way from each set to one set."""
    successor = paths.to_sets(np.array([number])).successor.astype(np.int64)
    known = np.flatnonzero(successor != NOWHERE)
    # Edges are sorted by source and target, so that both together, as one number, find an edge.
    ends = table.source.astype(np.int64) * table.num_nodes + table.target
    edges = np.full(table.num_nodes, UNKNOWN, np.int64)
    edges[known] = np.searchsorted(ends, known * table.num_nodes + successor[known])
    return edges


def edge_on_the_way(plans: jax.Array, number: jax.Array, otherwise: jax.Array) -> jax.Array:
    """`int32[B]` the edge that each copy takes from its set, `number` `[B]`, towards its far one, or to a substitute.

    otherwise: `int32[B]` what to take where no way is known.
    """
    edge, copy = otherwise, jnp.arange(len(number))
    for substitute in reversed(range(SUBSTITUTES)):
        planned = plans[(copy + substitute) % plans.shape[0], number]
        edge = jnp.where((number != UNKNOWN) & (planned != UNKNOWN), planned, edge)
    return edge
