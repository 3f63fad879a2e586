"""Groups of similar transitions: c_π of one that was attempted rarely is estimated from the others of its group."""

from itertools import accumulate
from operator import mul

import numpy as np
from jaxtyping import Float, Int

from attribute_planner.transitions.counting import RowIndex
from attribute_planner.transitions.numbering import NumberedSets


def groups_of(sets: NumberedSets, visits: Float[np.ndarray, " E"]) -> tuple[Int[np.ndarray, " E"], ...]:
    """The groups of each edge, from large to small: each divides those before.

    Edges that were seen, and those that were only attempted, such as from a set that attempts passed on the way to a
    distant one; edges that also change every attribute's value by the same amount; edges that also change the same
    attributes from the same values.
    """
    seen = (visits > 0).astype(np.int64)
    difference, change = (2 * each.astype(np.int64) + seen for each in (differences_of(sets), changes_of(sets)))
    return _numbered(seen), _numbered(difference), _numbered(change)


def differences_of(sets: NumberedSets) -> Int[np.ndarray, " E"]:
    """The group of each edge: edges of a group change every attribute's value by the same amount."""
    places = _places(sets, [2 * size - 1 for size in sets.space.sizes.tolist()])
    if places is None:
        return _numbered_rows(sets.values[sets.target] - sets.values[sets.source])
    # A set as digits, such that the difference of two sets is that of their numbers, and tells the changes.
    number = np.zeros(sets.num_nodes, np.int64)
    for attribute, place in enumerate(places):
        number += place * sets.column(attribute).astype(np.int64)
    return _numbered(number[sets.target] - number[sets.source])


def changes_of(sets: NumberedSets) -> Int[np.ndarray, " E"]:
    """The group of each edge: edges of a group change the same attributes, from the same values to the same values."""
    sizes = [1 + size * size for size in sets.space.sizes.tolist()]
    places = _places(sets, sizes)
    columns = (_change(sets, attribute) for attribute in range(len(sizes)))
    if places is None:
        return _numbered_rows(np.stack([*columns], axis=1))
    number = np.zeros(sets.num_edges, np.int64)
    for place, column in zip(places, columns, strict=True):
        number += place * column
    return _numbered(number)


def _change(sets: NumberedSets, attribute: int) -> Int[np.ndarray, " E"]:
    """0 where the attribute stays as it is, and otherwise a number of its two values."""
    values = sets.column(attribute).astype(np.int64)
    before, after = values[sets.source], values[sets.target]
    return np.where(before == after, 0, 1 + before * int(sets.space.sizes[attribute]) + after)


def _places(sets: NumberedSets, sizes: list[int]) -> list[int] | None:
    """The place values of digits of these sizes; `None` if the number that they make is too large."""
    *places, numbers = accumulate(sizes, mul, initial=1)
    return places if numbers < LARGEST_NUMBER else None


LARGEST_NUMBER = 2**62
"""Beyond it, the changes of all attributes do not fit into one integer."""


def _numbered(number: Int[np.ndarray, " E"]) -> Int[np.ndarray, " E"]:
    """The same groups with numbers 0, 1, 2, …"""
    return np.searchsorted(np.unique(number), number).astype(np.int32)


def _numbered_rows(rows: Int[np.ndarray, "E A"]) -> Int[np.ndarray, " E"]:
    return RowIndex(rows.shape[1]).number(rows.astype(np.int32).view(np.uint32))
