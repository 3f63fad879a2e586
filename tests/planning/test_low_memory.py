import numpy as np
import pytest

from attribute_planner.environments.spaces import Box, Discrete, UnitObservation
from attribute_planner.planning.low_memory import DISCOURAGEMENT, TriedActions

TWO_VIEWS = np.array([[0.0, 1.0], [1.0, 0.0]], np.float32)
WATCHED = np.array([True, True])


@pytest.fixture
def tried() -> TriedActions:
    return TriedActions(Discrete(("left", "right", "stay")), copies=2)


def test_an_action_is_discouraged_by_each_time_it_was_taken_in_the_same_situation(tried: TriedActions):
    for action in (1, 1, 2):
        tried.remember(0, TWO_VIEWS, action)
    expected = DISCOURAGEMENT * np.array([[0, 2, 1], [0, 0, 0]])
    np.testing.assert_array_equal(tried.discouraged(TWO_VIEWS, WATCHED), expected)
    np.testing.assert_array_equal(tried.discouraged(TWO_VIEWS[::-1], WATCHED), np.zeros((2, 3)))
    np.testing.assert_array_equal(tried.discouraged(TWO_VIEWS, ~WATCHED), np.zeros((2, 3)))


def test_a_new_attempt_begins_without_memories(tried: TriedActions):
    tried.remember(0, TWO_VIEWS, 1)
    tried.remember(1, TWO_VIEWS, 1)
    tried.forget(0)
    np.testing.assert_array_equal(
        tried.discouraged(TWO_VIEWS, WATCHED), DISCOURAGEMENT * np.array([[0, 0, 0], [0, 1, 0]])
    )


def test_only_a_single_agents_choices_can_be_counted(tried: TriedActions):
    assert tried.applies_to(TWO_VIEWS)
    assert not tried.applies_to(UnitObservation(TWO_VIEWS, WATCHED))
    assert not TriedActions(Box((0.0,), (1.0,)), copies=2).applies_to(TWO_VIEWS)
