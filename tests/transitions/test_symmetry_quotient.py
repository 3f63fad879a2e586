"""Folding a table by the symmetries of the blocks, and unfolding it again."""

from dataclasses import replace

import numpy as np
import pytest

from attribute_planner.data.examples import symmetric_counts
from attribute_planner.environments.registry import make
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.symmetry_quotient import expanded, quotient
from attribute_planner.transitions.table import TransitionTable, table_of_counts

ENV = make("blocks")
assert ENV.symmetries is not None
ORDERS = ENV.symmetries.counted


@pytest.fixture(scope="module")
def table() -> TransitionTable:
    """Transitions between random sets, counted under all symmetries, with practice that knows of none."""
    random = np.random.default_rng(0)
    values = (random.random((40, len(ENV.attributes))) < 0.1).astype(np.int32)
    # One that is symmetric itself: it looks the same under several renamings.
    values[0], values[1] = 0, 0
    values[1, ENV.attributes.index("red_on_top_of_green")] = 1
    words = np.asarray(ENV.attributes.pack(values))
    counts = TransitionCounts(ENV.attributes.num_words)
    counts.add(words[:-1], words[1:], random.integers(1, 9, 39))
    table = table_of_counts(ENV.attributes, symmetric_counts(ENV, counts), "posterior")
    attempts = random.integers(0, 5, table.num_edges).astype(float)
    return table.with_practice(attempts, attempts * random.random(table.num_edges))


def test_a_folded_table_holds_one_edge_of_each_kind(table: TransitionTable):
    small = quotient(table, ORDERS)
    assert small.num_edges == 39
    # The edge from the empty scene to one block on another comes in 12 kinds, all others in 24.
    assert table.num_edges == 38 * 24 + 12
    for name in ("visits", "attempts", "successes"):
        assert getattr(small, name).sum() == pytest.approx(getattr(table, name).sum())


def test_unfolding_gives_the_same_graph_with_what_was_tried_shared_among_equals(table: TransitionTable):
    again = expanded(quotient(table, ORDERS), ORDERS)
    for name in ("words", "source", "target"):
        assert np.array_equal(getattr(again, name), getattr(table, name))
    np.testing.assert_allclose(again.visits, table.visits)
    assert again.successes.sum() == pytest.approx(table.successes.sum())
    assert again.estimator == "posterior"
    # Whatever is symmetric is left as it is.
    twice = expanded(quotient(again, ORDERS), ORDERS)
    np.testing.assert_allclose(twice.attempts, again.attempts)
    assert not np.allclose(again.attempts, table.attempts)


def test_steps_that_nobody_counted_stay_uncounted(table: TransitionTable):
    assert expanded(quotient(table, ORDERS), ORDERS).spent is None
    counted = replace(table, spent=table.attempts * 3)
    assert quotient(counted, ORDERS).spent.sum() == pytest.approx(3 * table.attempts.sum())  # pyright: ignore
