"""What is seen of worlds: how many beliefs it takes to say it."""

import numpy as np
import pytest

from attribute_planner.attributes import Goal
from attribute_planner.planning.belief import BELIEFS, FEW, Sight

ATTRIBUTES = 5


def sight_of(chances: list[float]) -> Sight:
    """Worlds in which each of five binary attributes is true with the same chance, one chance for each world."""
    shares = np.tile(np.array(chances)[:, None], (1, ATTRIBUTES))
    log_shares = np.log(np.stack([1 - shares, shares], axis=-1)).astype(np.float32)
    values = log_shares.argmax(axis=-1).astype(np.int32)
    return Sight(values, values, log_shares)


@pytest.mark.parametrize(
    ("chances", "beliefs"),
    [
        ([0.999] * (FEW + 1), 1),
        ([0.999] * FEW + [0.9], BELIEFS),
        ([0.999] * FEW, BELIEFS),  # few worlds: there is one way to say it, and it is compiled once
    ],
)
def test_what_else_may_be_the_case_is_told_where_somebody_is_unsure(chances, beliefs):
    values, weight = sight_of(chances).beliefs(np.arange(len(chances)))
    assert values.shape == (len(chances), beliefs, ATTRIBUTES)
    np.testing.assert_allclose(np.asarray(weight).sum(axis=1), 1.0, rtol=1e-6)


def test_only_the_rows_that_are_asked_for_count():
    values, _ = sight_of([0.6] + [0.999] * (FEW + 1)).beliefs(np.arange(1, FEW + 2))
    assert values.shape == (FEW + 1, 1, ATTRIBUTES)


def test_the_true_f_leaves_no_doubt():
    values = np.ones((2, ATTRIBUTES), np.int32)
    sight = Sight(values, values, None)
    goals = Goal(values, np.ones((2, ATTRIBUTES), bool))
    assert sight.chance_of(goals).tolist() == [1.0, 1.0]
    assert sight.beliefs(np.arange(2)).values.shape == (2, 1, ATTRIBUTES)


def test_how_likely_a_goal_is_met_is_up_to_the_detector():
    goals = Goal(np.ones((2, ATTRIBUTES), np.int32), np.array([[True] * 2 + [False] * 3] * 2))
    assert sight_of([0.9, 0.2]).chance_of(goals) == pytest.approx([0.81, 0.04], rel=1e-5)
