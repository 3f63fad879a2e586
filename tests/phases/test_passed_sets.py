from itertools import pairwise

import numpy as np

from attribute_planner.data.attempt_log import ARRIVED, CUT_OFF, FAILED, AttemptLog
from attribute_planner.data.replay import Replay, remember
from attribute_planner.phases.passed_sets import passed_sets
from attribute_planner.phases.statistics_of_practice import with_epoch
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import TransitionTable, table_of_counts
from tests.data.test_replay import numbers, trajectories_of

SPACE = numbers(10)


def row_of_sets() -> TransitionTable:
    """0 → 1 → 2 → 3."""
    counts = TransitionCounts(SPACE.num_words)
    sets = np.asarray(SPACE.pack(np.arange(4, dtype=np.int32)[:, None]))
    counts.record(sets[:-1], sets[1:])
    table = table_of_counts(SPACE, counts)
    nothing = np.zeros(table.num_edges)
    return table.with_practice(nothing, nothing, nothing)


def practised(walk: list[int], pursued: int, outcome: int) -> tuple[Replay, AttemptLog]:
    """One attempt at the set `pursued`, which came through the sets of `walk`."""
    replay, log = Replay(100), AttemptLog()
    steps = [(here, there, "") for here, there in pairwise(walk)]
    remember(replay, SPACE, trajectories_of([steps]), np.full((len(steps), 1, 1), pursued, np.int32))
    log.add(np.array([len(steps) - 1]), np.array([0]), np.array([len(steps) - 1]), np.array([outcome]))
    return replay, log


def test_each_set_on_the_way_is_a_source_once():
    replay, log = practised([0, 1, 1, 2, 1, 3], 3, ARRIVED)
    passed = passed_sets(log, replay, SPACE, 0)
    assert np.asarray(SPACE.unpack(passed.source))[:, 0].tolist() == [1, 2]
    assert np.asarray(SPACE.unpack(passed.target))[:, 0].tolist() == [3, 3]
    assert passed.reached.tolist() == [1, 1]
    assert passed.steps.tolist() == [4, 2]


def test_an_attempt_that_was_cut_off_tells_nothing_about_sets_on_its_way():
    replay, log = practised([0, 1, 2], 3, CUT_OFF)
    assert not len(passed_sets(log, replay, SPACE, 0).source)


def test_attempts_that_began_earlier_were_counted_before():
    replay, log = practised([0, 1, 3], 3, ARRIVED)
    assert not len(passed_sets(log, replay, SPACE, 1).source)


def after_attempts_at(table: TransitionTable, walks: list[tuple[list[int], int]], decay: float) -> TransitionTable:
    """The table after an epoch for each walk, which is an attempt at 3."""
    for walk, outcome in walks:
        replay, log = practised(walk, 3, outcome)
        listing = table.listing()
        passed = passed_sets(log, replay, SPACE, 0)
        table = with_epoch(table, np.zeros((3, listing.num_edges)), decay, of=listing, passed=passed)
    return table


def statistics_by_ends(table: TransitionTable) -> dict[tuple[int, int], tuple[float, float, float]]:
    """Attempts, successes and steps by source and target."""
    assert table.spent is not None
    source, target = (table.values[each][:, 0].tolist() for each in (table.source, table.target))
    statistics = zip(table.attempts.tolist(), table.successes.tolist(), table.spent.tolist(), strict=True)
    return dict(zip(zip(source, target, strict=True), statistics, strict=True))


def test_the_table_holds_what_attempts_from_sets_on_the_way_came_to():
    table = after_attempts_at(row_of_sets(), [([0, 1, 2, 2], ARRIVED), ([0, 1, 2, 2], FAILED)], decay=1.0)
    found = statistics_by_ends(table)
    assert found[1, 3] == (2, 1, 4), "a new transition"
    assert found[2, 3] == (2, 1, 2), "a known one"
    assert found[0, 1] == (0, 0, 0), "the attempt itself is counted elsewhere"
    known = (table.values[table.source][:, 0] == 1) & (table.values[table.target][:, 0] == 3)
    assert table.visits[known] == 0


def test_what_was_passed_decays_when_it_is_passed_again():
    found = statistics_by_ends(after_attempts_at(row_of_sets(), [([0, 1, 2], FAILED), ([0, 2, 2], ARRIVED)], decay=0.5))
    assert found[2, 3] == (1, 1, 1), "not passed the first time: the walk ended as it got there"
    assert found[1, 3] == (1, 0, 1), "not passed the second time"
    twice = statistics_by_ends(after_attempts_at(row_of_sets(), [([0, 1, 2], FAILED), ([0, 1, 2], ARRIVED)], decay=0.5))
    assert twice[1, 3] == (1.5, 1, 1.5)


def test_attempts_are_counted_at_their_transitions_when_others_are_added():
    replay, log = practised([2, 0, 0], 3, ARRIVED)  # 0 → 3 is new, and comes before others in the table
    table = row_of_sets()
    listing = table.listing()
    counts = np.arange(3 * listing.num_edges, dtype=float).reshape(3, -1)
    before = table.with_practice(*counts)
    after = with_epoch(table, counts, 0.5, of=listing, passed=passed_sets(log, replay, SPACE, 0))
    found = statistics_by_ends(after)
    assert found.pop((0, 3)) == (1, 1, 1)
    assert found == statistics_by_ends(before)
