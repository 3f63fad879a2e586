import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribute_planner.transitions.counting import FREE, RowIndex, TransitionCounts, merged


def numbered_by_dictionary(batches: list[np.ndarray]) -> tuple[list[list[int]], int]:
    """What a dictionary that is filled batch by batch makes of the rows: which of them are the same."""
    known: dict[bytes, int] = {}
    numbers = [[known.setdefault(row.tobytes(), len(known)) for row in batch] for batch in batches]
    return numbers, len(known)


def assert_numbers_tell_rows_apart(index: RowIndex, batches: list[np.ndarray]) -> None:
    """Within and between batches, two rows share a number if and only if they are the same."""
    numbers = [index.number(batch) for batch in batches]
    expected, count = numbered_by_dictionary(batches)
    assert len(index) == count == len(index.rows)
    pairs = set(zip(np.concatenate(numbers).tolist(), np.concatenate(expected).tolist(), strict=True))
    assert len(pairs) == count
    for batch, number in zip(batches, numbers, strict=True):
        np.testing.assert_array_equal(index.rows[number], batch)
        np.testing.assert_array_equal(index.find(batch), number)


few_values = st.sampled_from([0, 1, 2, 7, 2**16, 2**31, 2**32 - 1])


@st.composite
def batches_of_rows(draw: st.DrawFn) -> list[np.ndarray]:
    """Batches with many duplicates."""
    width = draw(st.integers(1, 4))
    rows = st.lists(st.tuples(*[few_values] * width), max_size=30)
    drawn = draw(st.lists(rows, min_size=1, max_size=4))
    return [np.array(batch, np.uint32).reshape(-1, width) for batch in drawn]


@given(batches_of_rows())
def test_rows_are_numbered_as_a_dictionary_would(batches):
    assert_numbers_tell_rows_apart(RowIndex(batches[0].shape[1]), batches)


@settings(max_examples=20)
@given(batches_of_rows())
def test_rows_that_all_want_the_same_slot_are_told_apart(batches):
    class Crowded(RowIndex):
        def _home_slots(self, columns: list[np.ndarray]) -> np.ndarray:
            return np.full(len(columns[0]), len(self._slots) - 2)

    assert_numbers_tell_rows_apart(Crowded(batches[0].shape[1]), batches)


def test_the_index_grows_without_forgetting():
    random = np.random.default_rng(0)
    batches = [random.integers(0, 300, (size, 2)).astype(np.uint32) for size in (10, 3000, 20_000, 1)]
    assert_numbers_tell_rows_apart(RowIndex(2), batches)


def test_wide_rows_that_differ_in_their_last_word_only_are_different():
    rows = np.zeros((500, 9), np.uint32)
    rows[:, -1] = np.arange(500)
    assert sorted(RowIndex(9).number(rows).tolist()) == list(range(500))


def test_a_row_that_was_never_seen_is_not_found():
    index = RowIndex(1)
    index.number(np.array([[3], [5]], np.uint32))
    assert index.find(np.array([[5], [4]], np.uint32)).tolist()[1] == FREE
    assert len(index) == 2


def words(*keys: int) -> np.ndarray:
    return np.array(keys, np.uint32)[:, None]


def visits_of(counts: TransitionCounts) -> dict[tuple[int, int], int]:
    ends = counts.sets.rows[counts.pairs.rows.astype(int), 0].tolist()
    return {tuple(pair): count for pair, count in zip(ends, counts.visits.tolist(), strict=True)}


def test_transitions_are_counted_and_told_how_often_they_were_seen():
    counts = TransitionCounts(1)
    # Of three transitions at once, two are the same: both are told of both.
    assert counts.record(words(7, 7, 8), words(8, 8, 7)).tolist() == [2, 2, 1]
    assert counts.record(words(7), words(8)).tolist() == [3]
    assert visits_of(counts) == {(7, 8): 3, (8, 7): 1}
    assert counts.total == 4
    assert counts.record(words(), words()).tolist() == []


def test_counts_of_several_explorers_add_up():
    here, there = TransitionCounts(1), TransitionCounts(1)
    here.record(words(1, 1, 2), words(2, 2, 3))
    there.record(words(9, 2, 2), words(1, 3, 3))
    ends = there.sets.rows[there.pairs.rows.astype(int)]
    here.add(ends[:, 0], ends[:, 1], there.visits)
    assert visits_of(here) == {(1, 2): 2, (2, 3): 3, (9, 1): 1}
    assert here.total == 6


def test_merged_counts_are_sums_and_leave_the_others_alone():
    here, there = TransitionCounts(1), TransitionCounts(1)
    here.record(words(1, 1, 2), words(2, 2, 3))
    there.record(words(9, 2, 2), words(1, 3, 3))
    assert visits_of(merged(here, there)) == {(1, 2): 2, (2, 3): 3, (9, 1): 1}
    assert visits_of(here) == {(1, 2): 2, (2, 3): 1}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=60))
def test_counts_are_those_of_a_dictionary(pairs):
    counts = TransitionCounts(1)
    for start in range(0, len(pairs), 20):
        batch = np.array(pairs[start : start + 20])
        counts.record(words(*batch[:, 0]), words(*batch[:, 1]))
    assert visits_of(counts) == {pair: pairs.count(pair) for pair in set(pairs)}


def test_a_copy_is_independent():
    counts = TransitionCounts(1)
    counts.record(words(1, 2), words(2, 3))
    copied = counts.copy()
    copied.record(words(1, 3), words(2, 4))
    assert (visits_of(counts), counts.total) == ({(1, 2): 1, (2, 3): 1}, 2)
    assert (visits_of(copied), copied.total) == ({(1, 2): 2, (2, 3): 1, (3, 4): 1}, 4)
    # The same numbers go to new rows on either side.
    assert counts.sets.number(words(9)).tolist() == copied.sets.find(words(4)).tolist() == [3]


@pytest.mark.parametrize("edges", [1023, 1024, 1025, 5000])
def test_counts_grow_with_the_edges(edges):
    counts = TransitionCounts(1)
    counts.record(words(*range(edges)), words(*range(1, edges + 1)))
    counts.record(words(0), words(1))
    assert len(counts.visits) == edges
    assert counts.visits.sum() == edges + 1
    assert visits_of(counts)[0, 1] == 2


def test_counts_collected_elsewhere_may_be_many():
    source = np.arange(3000, dtype=np.uint32)[:, None]
    counts = TransitionCounts(1)
    counts.add(source, source + 1, np.full(3000, 2))
    assert (len(counts.pairs), counts.total, counts.visits.tolist()) == (3000, 6000, [2] * 3000)
