import numpy as np

from attribute_planner.data.attempt_log import ARRIVED, CUT_OFF, FAILED, AttemptLog
from attribute_planner.data.replay import Replay, remember
from tests.data.test_replay import numbers, trajectories_of

SPACE, LENGTH = numbers(10), 20


def attempts(pursued: list[int], steps: list[int], outcome: list[int]) -> tuple[Replay, AttemptLog]:
    """One attempt in each environment from set 0, with this target, duration and outcome."""
    replay, log, count = Replay(1000), AttemptLog(), len(pursued)
    goals = np.broadcast_to(np.array(pursued, np.int32)[None, :, None], (LENGTH, count, 1))
    remember(replay, SPACE, trajectories_of([[(0, 0, "")] * LENGTH] * count), goals)
    age = np.array(steps) - 1
    log.add(age, np.arange(count), age, np.array(outcome))
    return replay, log


def test_an_attempt_that_was_cut_off_late_has_failed_and_of_an_early_one_nothing_is_known():
    replay, log = attempts([1] * 5, [4, 5, 6, 9, 2], [ARRIVED, ARRIVED, FAILED, CUT_OFF, CUT_OFF])
    decided = log.decided(replay)
    assert decided[:, 2].tolist() == [0, 1, 2, 3]
    assert decided[:, 3].tolist() == [ARRIVED, ARRIVED, FAILED, FAILED]
    assert log.rows[:, 3].tolist() == [ARRIVED, ARRIVED, FAILED, CUT_OFF, CUT_OFF]


def test_what_is_late_depends_on_the_transition():
    outcome = [ARRIVED, CUT_OFF, ARRIVED, CUT_OFF, CUT_OFF]
    replay, log = attempts([1, 1, 2, 2, 3], [3, 8, 12, 8, 14], outcome)
    # 8 steps are many for the first transition, few for the second; none arrived at the third.
    assert log.decided(replay)[:, 2].tolist() == [0, 1, 2, 4]


def test_where_nothing_arrived_nothing_is_late():
    replay, log = attempts([1, 1], [3, 20], [FAILED, CUT_OFF])
    assert log.decided(replay)[:, 2].tolist() == [0]


def test_attempts_that_began_earlier_can_be_left_out():
    _, log = attempts([1] * 3, [4, 5, 6], [ARRIVED] * 3)
    log.add(np.array([9, 12]), np.array([0, 1]), np.array([2, 0]), np.array([FAILED, ARRIVED]))
    assert log.rows[:, 0].tolist() == [0, 0, 0, 7, 12]
    assert log.since(7).rows[:, 0].tolist() == [7, 12]
    assert len(log.since(-np.inf)) == len(log)
