"""The interface that planning uses: `TransitionModel`, answered by a `TransitionTable`."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribute_planner.transitions.model import TransitionModel
from attribute_planner.transitions.table import TransitionTable
from tests.probes import numbers, table_of

SETS = 6
SPACE = numbers(SETS + 1)
edges = st.dictionaries(
    st.tuples(st.integers(0, SETS - 1), st.integers(0, SETS - 1)).filter(lambda pair: pair[0] != pair[1]),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    max_size=20,
)


def words(values: list[int]) -> np.ndarray:
    return np.asarray(SPACE.pack(np.array(values, np.int32).reshape(-1, 1)))


def table_with(edges: dict[tuple[int, int], float]) -> TransitionTable:
    """The table of these edges on all sets but the last, which is unknown. Edge i took i + 1 steps per attempt."""
    table = table_of(SPACE, [((s,), (t,), p) for (s, t), p in edges.items()], also=[(value,) for value in range(SETS)])
    return replace(table, spent=table.attempts * (1.0 + np.arange(table.num_edges)))


def test_a_table_is_a_transition_model():
    assert issubclass(TransitionTable, TransitionModel)
    with pytest.raises(TypeError, match="abstract"):
        TransitionModel()  # pyright: ignore[reportAbstractUsage]


@given(edges, st.lists(st.integers(0, SETS), max_size=5))
def test_successors_are_the_edges_of_the_table(edges, asked):
    table = table_with(edges)
    found = table.successors(words(asked))
    expected = [
        (position, target, edges[source, target])
        for position, source in enumerate(asked)
        for target in range(SETS)
        if (source, target) in edges
    ]
    targets = np.asarray(SPACE.unpack(found.words))[:, 0].tolist()
    assert list(zip(found.origin.tolist(), targets, found.probability.tolist(), strict=True)) == expected
    numbered = [table.edge(asked[position], target) for position, target, _ in expected]
    np.testing.assert_array_equal(found.steps, table.duration[numbered])
    np.testing.assert_array_equal(found.attempts, table.attempts[numbered])
    np.testing.assert_array_equal(found.successes, table.successes[numbered])


@given(edges)
def test_the_listing_holds_the_successors_of_all_sets(edges):
    table = table_with(edges)
    listing, found = table.listing(), table.successors(table.words)
    np.testing.assert_array_equal(listing.words, table.words)
    np.testing.assert_array_equal(found.origin, listing.source)
    np.testing.assert_array_equal(found.words, listing.words[listing.target])
    np.testing.assert_array_equal(found.probability, listing.probability)
    np.testing.assert_array_equal(found.steps, listing.steps)


def test_steps_that_were_not_counted_are_zero():
    table = replace(table_with({(0, 1): 0.5}), spent=None)
    assert table.listing().steps.tolist() == [0.0]
