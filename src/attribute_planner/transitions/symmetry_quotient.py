"""The quotient of a table by the symmetries of its environment: one edge represents all its images.

With four blocks that differ only in colour, one edge represents 24. The quotient is small enough to ship.
"""

import numpy as np

from attribute_planner.transitions.counting import RowIndex
from attribute_planner.transitions.table import TransitionTable


def quotient(table: TransitionTable, orders: np.ndarray) -> TransitionTable:
    """The table with one edge of each orbit, and the summed statistics of the orbit.

    orders: `int[n, A]` the symmetries, as in `Symmetries.counted`; they are a group.
    """
    words, edges = _renamed_edges(table, orders)
    return _gathered(table, words, edges.min(axis=0), 1.0)


def expanded(table: TransitionTable, orders: np.ndarray) -> TransitionTable:
    """The table with all edges of each orbit, each with an equal share of its statistics."""
    words, edges = _renamed_edges(table, orders)
    return _gathered(table, words, edges.ravel(), 1 / len(orders))


def _renamed_edges(table: TransitionTable, orders: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All images of the table's sets, `uint32[M, W]`, sorted as in a table, and the images of each edge.

    That is `int64[n, E]`: the edge from set i to set j is i · M + j.
    """
    index = RowIndex(table.words.shape[1])
    numbers = index.number(np.concatenate([np.asarray(table.space.pack(table.values[:, order])) for order in orders]))
    sorted_sets = np.lexsort(index.rows.T)
    becomes = np.argsort(sorted_sets)[numbers].reshape(len(orders), -1)
    return index.rows[sorted_sets], becomes[:, table.source] * len(index) + becomes[:, table.target]


def _gathered(table: TransitionTable, words: np.ndarray, edges: np.ndarray, share: float) -> TransitionTable:
    """The table of the edges `[n E]` between sets; equal ones are one, to which each adds its share of statistics."""
    kinds, kind = np.unique(edges, return_inverse=True)
    joined = np.array(np.divmod(kinds, len(words)))
    sets, numbers = np.unique(joined, return_inverse=True)
    source, target = numbers.reshape(joined.shape).astype(np.int32)

    def summed(statistic: np.ndarray) -> np.ndarray:
        each = np.tile(statistic * share, len(edges) // max(table.num_edges, 1))
        return np.bincount(kind, weights=each, minlength=len(kinds))

    return TransitionTable(
        table.space,
        words=words[sets],
        source=source,
        target=target,
        visits=summed(table.visits),
        attempts=summed(table.attempts),
        successes=summed(table.successes),
        estimator=table.estimator,
        spent=None if table.spent is None else summed(table.spent),
    )
