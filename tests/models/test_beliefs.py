"""What may be the case, and how likely a goal is met, where a detector is unsure."""

import itertools

import numpy as np
import pytest

from attribute_planner.attributes import Goal
from attribute_planner.models.beliefs import beliefs_of, certain, chance_of_goal

SHARES = np.array([[[0.7, 0.3, 0.0], [0.1, 0.1, 0.8], [0.45, 0.55, 0.0]]])
"""Of one state: three attributes, of which the third is the least sure, and the second the surest."""


def logs(shares: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(shares)


def test_beliefs_are_the_likeliest_values_and_those_with_one_uncertain_value_changed():
    values, weight = beliefs_of(logs(SHARES), most=3)
    assert values[0].tolist() == [[0, 2, 1], [0, 2, 0], [1, 2, 1]]
    odds = np.array([1.0, 0.45 / 0.55, 0.3 / 0.7])
    np.testing.assert_allclose(weight[0], odds / odds.sum(), rtol=1e-6)


def test_there_are_no_more_beliefs_than_attributes_to_change():
    values, weight = beliefs_of(logs(SHARES), most=9)
    assert values.shape == (1, 4, 3)
    assert float(weight.sum()) == pytest.approx(1.0)


def test_what_is_certain_is_the_only_belief():
    values, weight = certain(np.array([[1, 2]], np.int32))
    assert (values.tolist(), weight.tolist()) == ([[[1, 2]]], [[1.0]])


@pytest.mark.parametrize("wanted", list(itertools.product([False, True], repeat=3)))
@pytest.mark.parametrize("at_least", [None, [[True, False, False]], [[False, True, True]]])
def test_the_chance_of_a_goal_is_that_of_all_sets_that_satisfy_it(wanted, at_least):
    goal = Goal(np.array([[0, 1, 1]]), np.array([wanted]), None if at_least is None else np.array(at_least))
    every = np.array(list(itertools.product(range(3), repeat=3)))
    probability = SHARES[0, np.arange(3), every].prod(axis=-1)
    satisfied = np.array([bool(goal[0].satisfied_by(values)) for values in every])
    assert chance_of_goal(logs(SHARES), goal)[0] == pytest.approx(probability[satisfied].sum())
