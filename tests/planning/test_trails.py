import numpy as np
import pytest

from attribute_planner.environments.spaces import Box, Discrete, UnitObservation
from attribute_planner.planning.trails import CHANGED_NOTHING, SEEN, Trails

LEFT, RIGHT, STAY = range(3)
HERE = np.array([[0.0, 1.0], [0.0, 1.0]], np.float32)
THERE = np.array([[1.0, 0.0], [1.0, 0.0]], np.float32)
BOTH = np.array([True, True])


@pytest.fixture
def trails() -> Trails:
    return Trails(Discrete(("left", "right", "stay")), copies=2)


def test_what_leads_back_is_discouraged_by_how_often_one_was_there(trails: Trails):
    trails.remember(0, HERE, RIGHT, THERE)
    trails.remember(0, THERE, LEFT, HERE)
    np.testing.assert_array_equal(trails.discouragement(HERE, BOTH), SEEN * np.array([[0, 1, 0], [0, 0, 0]]))
    trails.remember(0, HERE, RIGHT, THERE)
    np.testing.assert_array_equal(trails.discouragement(THERE, BOTH), SEEN * np.array([[2, 0, 0], [0, 0, 0]]))
    np.testing.assert_array_equal(trails.discouragement(THERE, ~BOTH), np.zeros((2, 3)))


def test_what_changed_nothing_is_discouraged_most(trails: Trails):
    trails.remember(1, HERE, STAY, HERE)
    assert trails.discouragement(HERE, BOTH)[1, STAY] == SEEN + CHANGED_NOTHING


def test_a_new_attempt_begins_without_memories(trails: Trails):
    trails.remember(0, HERE, RIGHT, HERE)
    trails.remember(1, HERE, RIGHT, HERE)
    trails.forget(0)
    assert not trails.discouragement(HERE, BOTH)[0].any()
    assert trails.discouragement(HERE, BOTH)[1].any()


def test_a_world_of_chance_leaves_the_policy_alone(trails: Trails):
    trails.remember(0, HERE, RIGHT, THERE)
    assert trails.apply_to(HERE)
    trails.remember(0, HERE, RIGHT, HERE)
    assert not trails.apply_to(HERE)


def test_only_a_single_agents_listed_actions_can_be_remembered(trails: Trails):
    assert not trails.apply_to(UnitObservation(HERE, BOTH))
    assert not Trails(Box((0.0,), (1.0,)), copies=2).apply_to(HERE)
