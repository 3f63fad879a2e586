"""Folding a table: one edge stands for all that the environment's symmetries make of it.

Four blocks that differ in colour alone make 24 edges of each; a folded table is small enough to ship.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from attribute_planner.parts.counting import TransitionCounts
from attribute_planner.parts.table import TransitionTable, edge_order, table_of_counts

STATISTICS = ("visits", "attempts", "successes", "spent")


def folded(table: TransitionTable, orders: np.ndarray) -> TransitionTable:
    """The table with one edge of each kind, and what was seen and tried on all of them.

    orders: `int[n, A]` the symmetries, as in `Symmetries.counted`; they are a group.
    """
    least = None
    for edges in _renamed_edges(table, orders):
        if least is None:
            least = edges.copy()
        else:
            before = _comes_before(edges, least)
            least[before] = edges[before]
    assert least is not None, "a group has at least one symmetry, the identity"
    return _gathered(table, least, 1.0)


def unfolded(table: TransitionTable, orders: np.ndarray) -> TransitionTable:
    """The table with all edges, each with its share of what was seen and tried: `folded` undone, but for averaging."""
    return _gathered(table, np.concatenate(list(_renamed_edges(table, orders))), 1 / len(orders))


def _renamed_edges(table: TransitionTable, orders: np.ndarray) -> Iterator[np.ndarray]:
    """For each symmetry, `uint32[E, 2 W]` what becomes of the packed sets that each edge joins."""
    for order in orders:
        words = np.asarray(table.space.pack(table.values[:, order]))
        yield np.concatenate([words[table.source], words[table.target]], axis=1)


def _comes_before(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """`[E]` whether each row is the lesser one, compared number by number."""
    less, same = np.zeros(len(rows), bool), np.ones(len(rows), bool)
    for row, other in zip(rows.T, others.T, strict=True):
        less |= same & (row < other)
        same &= row == other
    return less


def _gathered(table: TransitionTable, edges: np.ndarray, share: float) -> TransitionTable:
    """The table of the edges `[n E, 2 W]`; equal ones are one edge, to which each adds its share of its statistics."""
    counts = TransitionCounts(table.words.shape[1])
    source, target = np.split(edges, 2, axis=1)
    numbers = counts.number(source, target)
    order = edge_order(counts)[1]
    times = len(edges) // max(table.num_edges, 1)

    def summed(name: str) -> np.ndarray | None:
        statistic = getattr(table, name)
        if statistic is None:
            return None
        return np.bincount(numbers, weights=np.tile(statistic * share, times), minlength=len(order))[order]

    graph = table_of_counts(table.space, counts, table.estimator)
    return replace(graph, **{name: summed(name) for name in STATISTICS})
