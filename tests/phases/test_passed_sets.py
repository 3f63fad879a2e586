from itertools import pairwise

import numpy as np

from attribute_planner.data.attempt_log import ARRIVED, CUT_OFF, FAILED, AttemptLog
from attribute_planner.data.replay import Replay, remember
from attribute_planner.phases.passed_sets import passed_sets, with_passed_sets
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


def test_the_table_holds_what_attempts_from_sets_on_the_way_came_to():
    table = row_of_sets()
    for outcome in (ARRIVED, FAILED):
        replay, log = practised([0, 1, 2, 2], 3, outcome)
        table = with_passed_sets(table, passed_sets(log, replay, SPACE, 0))
    ends = table.values[table.source][:, 0].tolist(), table.values[table.target][:, 0].tolist()
    assert table.spent is not None
    statistics = zip(table.attempts, table.successes, table.spent, strict=True)
    found = dict(zip(zip(*ends, strict=True), statistics, strict=True))
    assert found[1, 3] == (2, 1, 4), "a new transition"
    assert found[2, 3] == (2, 1, 2), "a known one"
    assert found[0, 1] == (0, 0, 0), "the attempt itself is counted elsewhere"
    assert table.visits[(np.array(ends[0]) == 1) & (np.array(ends[1]) == 3)] == 0
