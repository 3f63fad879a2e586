"""Targets along plans: practice follows plans to far sets, and so attempts the transitions that plans rely on."""

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.planning.search import NOWHERE, Graph
from attribute_planner.transitions.table import UNKNOWN, TransitionTable

Key = jax.Array

GOAL_SAMPLING = ("neighbours", "planned")
"""How practice draws its targets."""

FAR_SETS = 32
"""Number of far sets to which plans are made; each environment is assigned one of them."""
SUBSTITUTES = 4
"""Number of them that an environment tries in turn where it is at its own, or no way leads there."""


def plan_to_far_sets(table: TransitionTable, *, key: Key) -> jax.Array:
    """`int32[FAR_SETS, N]` the edge from each set towards each of some random sets; `UNKNOWN` where there is none."""
    sets = np.asarray(jax.random.randint(key, (FAR_SETS,), 0, table.num_nodes))
    paths = Graph(table)
    return jnp.asarray(np.stack([_edges_towards(table, paths, number) for number in sets.tolist()]), jnp.int32)


def _edges_towards(table: TransitionTable, paths: Graph, number: int) -> np.ndarray:
    """`int64[N]` the first edge of the shortest path from each set to one set."""
    successor = paths.to_sets(np.array([number])).successor.astype(np.int64)
    known = np.flatnonzero(successor != NOWHERE)
    # Edges are sorted by source and target, so that both together, as one number, find an edge.
    ends = table.source.astype(np.int64) * table.num_nodes + table.target
    edges = np.full(table.num_nodes, UNKNOWN, np.int64)
    edges[known] = np.searchsorted(ends, known * table.num_nodes + successor[known])
    return edges


def edge_on_the_way(plans: jax.Array, number: jax.Array, otherwise: jax.Array) -> jax.Array:
    """`int32[B]` the edge from each environment's set, `number` `[B]`, towards its far set or a substitute.

    otherwise: `int32[B]` the edge where no way is known.
    """
    edge, index = otherwise, jnp.arange(len(number))
    for substitute in reversed(range(SUBSTITUTES)):
        planned = plans[(index + substitute) % plans.shape[0], number]
        edge = jnp.where((number != UNKNOWN) & (planned != UNKNOWN), planned, edge)
    return edge
