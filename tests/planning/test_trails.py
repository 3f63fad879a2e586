import numpy as np
import pytest

from attribute_planner.environments.spaces import Box, Discrete, UnitObservation
from attribute_planner.planning.trails import TRIES, Trail, Trails

LEFT, RIGHT, STAY = range(3)
FAVOURS_RIGHT = np.log([0.09, 0.9, 0.01])
HERE = np.array([[0.0, 1.0], [0.0, 1.0]], np.float32)
THERE = np.array([[1.0, 0.0], [1.0, 0.0]], np.float32)
BOTH = np.array([True, True])


@pytest.fixture
def trail() -> Trail:
    return Trail()


def test_in_a_new_situation_the_policy_does_as_it_likes(trail: Trail):
    assert [trail.decide(place, FAVOURS_RIGHT, STAY) for place in (b"a", b"b")] == [STAY, STAY]


def test_back_in_an_old_one_it_tries_what_it_has_not_tried_its_favourites_first(trail: Trail):
    trail.decide(b"a", FAVOURS_RIGHT, RIGHT)
    trail.remember(b"a", RIGHT, b"a")
    assert trail.decide(b"a", FAVOURS_RIGHT, RIGHT) == LEFT
    trail.remember(b"a", LEFT, b"a")
    assert trail.decide(b"a", FAVOURS_RIGHT, RIGHT) == STAY


def test_it_goes_back_to_where_something_better_is_left_to_try(trail: Trail):
    # a -right→ b -right→ c; at c nothing promising is left, at a there still is: back over b.
    undecided = np.log([0.45, 0.1, 0.45])
    for place, log_probs, there in ((b"a", undecided, b"b"), (b"b", FAVOURS_RIGHT, b"c"), (b"c", FAVOURS_RIGHT, b"c")):
        trail.decide(place, log_probs, RIGHT)
        trail.remember(place, RIGHT, there)
    for place, there in ((b"b", b"a"), (b"c", b"b")):
        trail.remember(place, LEFT, there)
    assert trail.decide(b"c", FAVOURS_RIGHT, RIGHT) == LEFT
    assert trail.decide(b"b", FAVOURS_RIGHT, RIGHT) == LEFT
    assert trail.decide(b"a", undecided, RIGHT) in (LEFT, STAY)


def test_what_never_changes_a_thing_is_tried_last(trail: Trail):
    places = [bytes([number]) for number in range(TRIES)]
    for place in places:
        trail.decide(place, FAVOURS_RIGHT, STAY)
        trail.remember(place, STAY, place)
    likes_to_stay = np.log([0.01, 0.01, 0.98])
    trail.decide(b"a", likes_to_stay, RIGHT)
    trail.remember(b"a", RIGHT, b"a")
    assert trail.decide(b"a", likes_to_stay, RIGHT) == LEFT


def test_trails_are_kept_for_the_copies_that_are_watched():
    trails = Trails(Discrete(("left", "right", "stay")), copies=2)
    log_probs, sampled = np.stack([FAVOURS_RIGHT] * 2), np.array([RIGHT, RIGHT])
    trails.decide(np.array([True, False]), HERE, log_probs, sampled)
    trails.remember(0, HERE, RIGHT, HERE)
    assert trails.decide(np.array([True, False]), HERE, log_probs, sampled).tolist() == [LEFT, RIGHT]
    trails.forget(0)
    assert trails.decide(np.array([True, False]), HERE, log_probs, sampled).tolist() == [RIGHT, RIGHT]


def test_a_world_of_chance_leaves_the_policy_alone():
    trails = Trails(Discrete(("left", "right", "stay")), copies=2)
    trails.decide(BOTH, HERE, np.stack([FAVOURS_RIGHT] * 2), np.array([RIGHT, RIGHT]))
    trails.remember(0, HERE, RIGHT, THERE)
    assert trails.apply_to(HERE)
    trails.remember(0, HERE, RIGHT, HERE)
    assert not trails.apply_to(HERE)


def test_only_a_single_agents_listed_actions_can_be_remembered():
    assert not Trails(Discrete(("one", "other")), copies=2).apply_to(UnitObservation(HERE, BOTH))
    assert not Trails(Box((0.0,), (1.0,)), copies=2).apply_to(HERE)
