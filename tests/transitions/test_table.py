from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.errors import UnknownNameError
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.numbering import UNKNOWN
from attribute_planner.transitions.table import TransitionTable, table_of_counts
from tests.probes import numbers, partial_goal, table_of

SPACE = AttributeSpace((Attribute("lamp"), Attribute("n", range(4))))


def counted(space: AttributeSpace, transitions: list[tuple[tuple[int, ...], tuple[int, ...], int]]) -> TransitionTable:
    """The table after exploration saw each transition so often."""
    counts = TransitionCounts(space.num_words)
    for source, target, times in transitions:
        ends = [np.asarray(space.pack(np.array([values] * times, np.int32))) for values in (source, target)]
        counts.record(*ends)
    return table_of_counts(space, counts)


@pytest.fixture
def table() -> TransitionTable:
    """(1, 3) → (0, 0), and (0, 0) → (0, 1), (1, 0), in no order at all."""
    return counted(SPACE, [((1, 3), (0, 0), 2), ((0, 0), (0, 1), 3), ((0, 0), (1, 0), 1)])


def test_sets_are_sorted_by_their_words(table: TransitionTable):
    # The lamp is bit 0, the number the bits above: keys 0, 1, 2 and 7.
    assert table.words.tolist() == [[0], [1], [2], [7]]
    assert table.values.tolist() == [[0, 0], [1, 0], [0, 1], [1, 3]]
    assert (table.num_nodes, table.num_edges) == (4, 3)


def test_sets_of_several_words_are_sorted_by_the_last_one_first():
    space = AttributeSpace(tuple(Attribute(f"a{i}", range(2**16)) for i in range(3)))
    table = counted(space, [((9, 0, 0), (0, 0, 1), 1), ((0, 1, 0), (1, 0, 1), 1)])
    assert table.values.tolist() == [[9, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]]


def test_the_edges_of_a_set_are_one_slice(table: TransitionTable):
    edges = {number: table.target[table.edges_of(number)].tolist() for number in range(4)}
    assert edges == {0: [1, 2], 1: [], 2: [], 3: [0]}
    assert table.edge(0, 2) == 1
    assert table.edge(3, 0) == 2
    assert table.visits.tolist() == [1, 3, 2]


def test_a_set_is_found_by_its_values(table: TransitionTable):
    assert [table.number_of(values) for values in table.values] == [0, 1, 2, 3]
    assert table.number_of(np.array([1, 1])) == UNKNOWN


def test_partial_goals_are_satisfied_by_all_sets_that_match(table: TransitionTable):
    assert table.satisfying(partial_goal([0, None])).tolist() == [0, 2]
    assert table.satisfying(partial_goal([None, 0])).tolist() == [0, 1]
    assert table.satisfying(partial_goal([1, 3])).tolist() == [3]
    assert table.satisfying(partial_goal([0, 3])).tolist() == []


def test_steps_of_edges_that_change_the_same_help_each_other_out():
    """0 → 1 and 1 → 2 both add one; 2 → 0 takes two away."""
    ends = np.array([0, 1, 2], np.int32), np.array([1, 2, 0], np.int32)
    words, seen = np.arange(3, dtype=np.uint32)[:, None], np.ones(3)
    tried, taken = np.array([8.0, 0, 2]), np.array([8.0, 0, 0])
    table = TransitionTable(numbers(3), words, *ends, seen, tried, taken, spent=np.array([16.0, 0, 20]))
    # An attempt took 3.6 steps on average; one that adds one (16 + 3.6) / 9, worth two attempts.
    usual = (16 + 3.6) / 9
    np.testing.assert_allclose(table.duration, [(16 + 2 * usual) / 10, usual, (20 + 2 * (23.6 / 3)) / 4])


def test_an_unknown_estimator_is_refused(table: TransitionTable):
    with pytest.raises(UnknownNameError, match=r"no estimator 'rato'. Did you mean 'ratio'"):
        replace(table, estimator="rato")


def test_edges_are_found_again_in_a_graph_that_has_grown(table: TransitionTable):
    larger = counted(
        SPACE, [((1, 3), (0, 0), 1), ((0, 0), (0, 1), 1), ((0, 0), (1, 0), 1), ((0, 0), (1, 1), 1), ((1, 1), (1, 3), 1)]
    )
    found = table.edges_in(larger)
    for ends in ("source", "target"):
        there, here = getattr(larger, ends)[found], getattr(table, ends)
        np.testing.assert_array_equal(larger.values[there], table.values[here])
    assert larger.num_edges == 5


def test_practice_leaves_the_graph_as_it_is(table: TransitionTable):
    practised = table.with_practice(np.array([10.0, 10.0, 10.0]), np.array([1.0, 5.0, 10.0]))
    assert practised.probability.tolist() == [0.1, 0.5, 1.0]
    assert table.probability.tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_array_equal(practised.target, table.target)


def test_practice_is_found_again_in_a_graph_that_has_grown(table: TransitionTable):
    practised = table.with_practice(*np.array([[10.0, 20, 30], [1.0, 2, 3], [7.0, 8, 9]]))
    larger = counted(SPACE, [((0, 0), (1, 1), 4)]).with_edges(practised).with_practice_of(practised)
    assert larger.spent is not None and larger.num_edges == 4
    places = practised.edges_in(larger)
    for name in ("attempts", "successes", "spent"):
        assert getattr(larger, name)[places].tolist() == getattr(practised, name).tolist()
        assert getattr(larger, name).sum() == getattr(practised, name).sum()


def test_a_transition_that_was_tried_but_never_seen_needs_evidence(table: TransitionTable):
    source, target = (np.asarray(SPACE.pack(np.array(each, np.int32))) for each in ([[0, 1]], [[1, 1]]))
    predicted = replace(table.with_pairs(source, target), estimator="posterior")
    unseen = predicted.visits == 0
    assert unseen.sum() == 1 and (predicted.probability == 0.5).all()  # nothing was tried yet
    lucky = predicted.with_practice(np.where(unseen, 2.0, 8.0), np.where(unseen, 2.0, 6.0)).probability
    assert lucky[unseen] == pytest.approx(2 / 12) and (lucky[~unseen] > 0.7).all()
    often = predicted.with_practice(np.where(unseen, 90.0, 8.0), np.where(unseen, 90.0, 6.0)).probability
    assert often[unseen] == pytest.approx(0.9)


def test_many_sets_are_found_at_once():
    space = numbers(3000)
    steps = [((i,), ((i + 1) % 2500,), 1) for i in range(2500)]
    table = counted(space, steps)
    wanted = np.array([[2999], [7], [2499], [0]], np.int32)
    found = table.numbers_of(np.asarray(space.pack(wanted)))
    assert found.tolist() == [UNKNOWN, *(table.number_of(values) for values in wanted[1:])]
    assert table.values[found[1:], 0].tolist() == [7, 2499, 0]


def test_sets_are_found_by_their_values_also_in_several_words():
    space = AttributeSpace(tuple(Attribute(f"n_{place}", range(1000)) for place in range(7)))
    sets = np.random.default_rng(0).integers(0, 1000, (40, 7)).astype(np.int32)
    table = table_of(space, [(tuple(one), tuple(other), 0.5) for one, other in pairwise(sets.tolist())])
    assert table.words.shape[1] == 3
    for number, values in enumerate(table.values):
        assert table.number_of(values) == number
        np.testing.assert_array_equal(table.satisfying(partial_goal(values.tolist())), [number])
    assert table.number_of(sets[0] ^ 1) == UNKNOWN
    np.testing.assert_array_equal(np.stack([table.column(place) for place in range(7)], axis=1), table.values)
