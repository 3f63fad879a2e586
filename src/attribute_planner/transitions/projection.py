"""Irrelevant attributes: finds those that affect no goal and no edge, and removes them from a table.

An irrelevant attribute splits sets, and with them the evidence about edges.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy import stats

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.errors import ConfigurationError
from attribute_planner.transitions.counting import RowIndex
from attribute_planner.transitions.model import Listing
from attribute_planner.transitions.table import TransitionTable

PREVENTION_P_VALUE = 0.05
"""Largest p-value at which a change is seen so rarely with one value that the value is taken to prevent the change."""

PREVENTED = 0.1
"""A value prevents a change that is seen with it at most this fraction as often as with all values."""

SIGNIFICANCE = 0.01
"""Largest p-value at which success is taken to depend on the attribute."""

TOLERANCE = 0.1
"""Smaller mean differences of success rates do not matter to planning."""

NO_CHANGE = -1
"""The kind of change of an edge that changes no other attribute."""


def as_table(listing: Listing, estimator: str = "posterior") -> TransitionTable:
    """The table with the sets, transitions and statistics of a listing."""
    return TransitionTable(
        listing.space,
        listing.words,
        listing.source,
        listing.target,
        listing.visits,
        listing.attempts,
        listing.successes,
        estimator,
        listing.spent,
    )


def project(table: TransitionTable, keep: Sequence[str]) -> TransitionTable:
    """The table over the attributes `keep`: sets that differ in others are one set, and edges sum their statistics.

    Edges that only change other attributes are gone. An attempt that ended in a set which is now merged with its target
    still counts as the failure that it was, so c_π is a lower bound.
    """
    kept = _columns(table.space, keep)
    space = AttributeSpace(tuple(table.space.attributes[column] for column in kept))
    words, number = _sorted_sets(np.asarray(space.pack(table.values[:, kept])))
    pairs = number[table.source].astype(np.int64) * len(words) + number[table.target]
    stays = number[table.source] != number[table.target]
    edges, edge = np.unique(pairs[stays], return_inverse=True)

    def summed(statistic: np.ndarray) -> np.ndarray:
        return np.bincount(edge, weights=statistic[stays], minlength=len(edges))

    return TransitionTable(
        space,
        words=words,
        source=(edges // len(words)).astype(np.int32),
        target=(edges % len(words)).astype(np.int32),
        visits=summed(table.visits),
        attempts=summed(table.attempts),
        successes=summed(table.successes),
        estimator=table.estimator,
        spent=None if table.spent is None else summed(table.spent),
    )


def irrelevant_attributes(table: TransitionTable, goal: Goal | None = None) -> tuple[str, ...]:
    """The attributes without which the goal means the same, the same changes are possible, and as likely.

    Attributes are left out one after the other, until every one that is left matters: of two that always agree, one
    stays. An attribute about which too little is known matters.
    """
    wanted = np.zeros(len(table.space), bool) if goal is None else np.asarray(goal.wanted)
    needed = {name for name, is_wanted in zip(table.space.names, wanted, strict=True) if is_wanted}
    left = list(table.space.names)
    while len(left) > 1:
        current = project(table, left)
        unneeded = [name for name in left if name not in needed and not matters(current, name)]
        if not unneeded:
            break
        left.remove(unneeded[0])
    return tuple(name for name in table.space.names if name not in left)


def matters(table: TransitionTable, name: str) -> bool:
    """Whether the changes of other attributes, or their success, depend on an attribute.

    An attribute that follows from the others does not matter: without it, no two sets become one.
    """
    attribute = table.space.index(name)
    if _numbered(np.delete(table.values, attribute, axis=1)).max(initial=-1) + 1 == table.num_nodes:
        return False
    edges = _edges_by_value(table, attribute)
    return not edges.num_values or _prevents(edges) or _changes_success(edges)


@dataclass(frozen=True)
class _Edges:
    """The edges of a table, seen from one attribute.

    place: the source set without the attribute. Only places that were left with several values of it.
    value: the value of the attribute in the source set.
    merged: the edge without the attribute.
    change: the kind of change of the other attributes; `NO_CHANGE` if only the attribute itself changes.
    """

    place: Int[np.ndarray, " E"]
    value: Int[np.ndarray, " E"]
    merged: Int[np.ndarray, " E"]
    change: Int[np.ndarray, " E"]
    visits: Float[np.ndarray, " E"]
    attempts: Float[np.ndarray, " E"]
    successes: Float[np.ndarray, " E"]
    num_values: int


def _edges_by_value(table: TransitionTable, attribute: int) -> _Edges:
    others = np.delete(table.values, attribute, axis=1)
    source, target, value = others[table.source], others[table.target], table.values[table.source, attribute]
    place = _numbered(source)
    num_values = int(value.max(initial=-1)) + 1
    seen = np.zeros((place.max(initial=-1) + 1, num_values), bool)
    seen[place, value] = True
    comparable = seen.sum(axis=1)[place] > 1
    changed = source != target
    change = _numbered(np.concatenate([np.where(changed, source, -1), np.where(changed, target, -1)], axis=1))
    return _Edges(
        place[comparable],
        value[comparable],
        _numbered(np.concatenate([source, target], axis=1))[comparable],
        np.where(changed.any(axis=1), change, NO_CHANGE)[comparable],
        table.visits[comparable],
        table.attempts[comparable],
        table.successes[comparable],
        num_values if comparable.any() else 0,
    )


def _prevents(edges: _Edges) -> bool:
    """Whether a change is hardly ever seen with some value, though the same places were often left with that value."""
    left = _summed((edges.place, edges.value), edges.visits, edges.num_values)
    share = left / np.maximum(left.sum(axis=1, keepdims=True), 1e-12)
    for change in np.unique(edges.change[edges.change != NO_CHANGE]):
        rows = edges.change == change
        seen = np.bincount(edges.value[rows], weights=edges.visits[rows], minlength=edges.num_values)
        expected = edges.visits[rows] @ share[edges.place[rows]]
        chance = stats.binom.cdf(seen, seen.sum(), expected / max(seen.sum(), 1e-12))
        if ((chance <= PREVENTION_P_VALUE) & (seen <= PREVENTED * expected)).any():
            return True
    return False


def _changes_success(edges: _Edges) -> bool:
    """Whether attempts at a change succeed with some values more often than with others."""
    rows = (edges.attempts > 0) & (edges.change != NO_CHANGE)
    attempts, successes = (
        _summed((edges.merged[rows], edges.value[rows]), each[rows], edges.num_values)
        for each in (edges.attempts, edges.successes)
    )
    change = np.zeros(len(attempts), int)
    change[edges.merged[rows]] = edges.change[rows]
    return any(_differ(attempts[kind], successes[kind]) for kind in change == np.unique(edges.change[rows])[:, None])


def _differ(attempts: Float[np.ndarray, "M V"], successes: Float[np.ndarray, "M V"]) -> bool:
    """Whether success rates of merged edges differ between values: significantly, and by more than the tolerance."""
    total = attempts.sum(axis=1, keepdims=True)
    rate = successes.sum(axis=1, keepdims=True) / np.maximum(total, 1e-12)
    excess = successes - attempts * rate
    variance = np.maximum(attempts * rate * (1 - rate), 1e-12)
    mixed = np.broadcast_to((rate > 0) & (rate < 1), attempts.shape) & (attempts > 0)
    freedom = np.maximum(mixed.sum(axis=1) - 1, 0).sum()
    if not freedom:
        return False
    statistic = (excess**2 / variance)[mixed].sum()
    difference = np.abs(excess).sum() / max(attempts.sum(), 1e-12)
    return bool(stats.chi2.sf(statistic, freedom) <= SIGNIFICANCE and difference > TOLERANCE)


def _summed(index: tuple[np.ndarray, np.ndarray], weights: np.ndarray, columns: int) -> Float[np.ndarray, "M V"]:
    sums = np.zeros((index[0].max(initial=-1) + 1, columns))
    np.add.at(sums, index, weights)
    return sums


def _columns(space: AttributeSpace, keep: Sequence[str]) -> list[int]:
    if not keep:
        raise ConfigurationError("A table needs at least one attribute to keep.")
    return sorted({space.index(name) for name in keep})


def _sorted_sets(words: np.ndarray) -> tuple[np.ndarray, Int[np.ndarray, " N"]]:
    """The distinct packed sets, sorted as in a table, and the number of each row in them."""
    index = RowIndex(words.shape[1])
    number = index.number(words)
    order = np.lexsort(index.rows.T)
    return index.rows[order].copy(), np.argsort(order)[number]


def _numbered(rows: np.ndarray) -> Int[np.ndarray, " E"]:
    """Equal rows of integers get equal numbers from 0."""
    return RowIndex(rows.shape[1]).number(np.ascontiguousarray(rows, np.int32).view(np.uint32))
