"""The judge decides by the true attributes."""

from dataclasses import replace

import numpy as np
import pytest

from attribute_planner.data.trajectories import Trajectories
from attribute_planner.evaluation.judge import judge
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.plan import Planner
from tests.probes import numbers, partial_goal, table_of

SPACE = numbers(4)
PLANNER = Planner(table_of(SPACE, [((0,), (1,), 0.9), ((1,), (2,), 0.9)]))
TOO_LATE = "the goal was not reached within 2 steps."


def episode(*, claimed: bool, steps: int = 2) -> Episode:
    """An agent that went from 0 towards 2."""
    goal, start = partial_goal([2]), np.zeros(1, np.int32)
    reason = "" if claimed else TOO_LATE
    return Episode(goal, claimed, steps, 0, 0, PLANNER.plan(start, goal), reason, start)


def truth(*environments: list[int]) -> tuple[np.ndarray, Trajectories]:
    """True values of each environment at the start and after each step."""
    values = np.array(environments, np.int32).T[..., None]
    words = np.asarray(SPACE.pack(values))
    over = np.zeros(values.shape[:2], bool)[1:]
    return values[0], Trajectories(None, words[:-1], over, None, words[1:], over, over, None)


@pytest.mark.parametrize(
    ("claimed", "values", "success", "reason"),
    [
        (True, [0, 1, 2], True, ""),
        (True, [0, 1, 3], False, "the detector took another attribute set for the goal."),
        (True, [0, 2, 1], False, "the detector took another attribute set for the goal."),
        (False, [0, 2, 1], False, "the goal was reached on the way, but the detector did not see it."),
        (False, [0, 1, 2], False, "the goal was reached on the way, but the detector did not see it."),
        (False, [0, 1, 1], False, TOO_LATE),
    ],
)
def test_success_is_the_goal_claimed_where_it_is_true(claimed, values, success, reason):
    (verdict,) = judge([episode(claimed=claimed)], *truth(values), SPACE)
    assert (verdict.success, verdict.reason) == (success, reason)


def test_what_happens_after_an_episode_does_not_count():
    # The second environment goes on after the first has stopped.
    start, trajectories = truth([0, 2, 1], [0, 1, 2])
    verdicts = judge([episode(claimed=True, steps=1), episode(claimed=True)], start, trajectories, SPACE)
    assert [verdict.success for verdict in verdicts] == [True, True]
    gave_up = judge([episode(claimed=False, steps=1), episode(claimed=True)], *truth([0, 1, 2], [0, 1, 2]), SPACE)
    assert gave_up[0].reason == TOO_LATE


@pytest.mark.parametrize(("value", "success"), [(2, True), (0, False)])
def test_an_episode_without_a_step_is_judged_by_its_start(value, success):
    nothing = np.zeros((0, 0), bool)
    empty = Trajectories(None, None, nothing, None, None, nothing, nothing, None)
    (verdict,) = judge([episode(claimed=True, steps=0)], np.array([[value]], np.int32), empty, SPACE)
    assert verdict.success is success


def test_without_f_the_claim_of_the_agent_counts():
    trajectories = truth([0, 1, 1])[1]._replace(attributes=None, next_attributes=None)
    for claimed in (True, False):
        (verdict,) = judge([episode(claimed=claimed)], None, trajectories, SPACE)
        assert verdict == replace(episode(claimed=claimed), success=claimed, plan=verdict.plan, final=verdict.final)


def test_the_verdict_changes_nothing_else():
    before = episode(claimed=True)
    (verdict,) = judge([before], *truth([0, 1, 2]), SPACE)
    assert not before.success
    assert (verdict.claimed, verdict.steps, verdict.plan) == (True, 2, before.plan)
