import numpy as np
import pytest

from attribute_planner.environments.spaces import Box, Discrete, UnitObservation
from attribute_planner.planning.observation_search import TRIES, Trail, Trails

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
    # a -right→ b -right→ c; at c nothing promising is left, at b the policy would rather have stayed.
    would_rather_stay = np.log([0.05, 0.05, 0.9])
    ways = ((b"a", FAVOURS_RIGHT, b"b"), (b"b", would_rather_stay, b"c"), (b"c", FAVOURS_RIGHT, b"c"))
    for place, log_probs, there in ways:
        trail.decide(place, log_probs, RIGHT)
        trail.remember(place, RIGHT, there)
    trail.remember(b"c", LEFT, b"b")
    assert trail.decide(b"c", FAVOURS_RIGHT, RIGHT) == LEFT
    assert trail.decide(b"b", would_rather_stay, RIGHT) == STAY


def test_what_never_changes_a_thing_is_tried_last(trail: Trail):
    places = [bytes([number]) for number in range(TRIES)]
    for place in places:
        trail.decide(place, FAVOURS_RIGHT, STAY)
        trail.remember(place, STAY, place)
    likes_to_stay = np.log([0.01, 0.01, 0.98])
    trail.decide(b"a", likes_to_stay, RIGHT)
    trail.remember(b"a", RIGHT, b"a")
    assert trail.decide(b"a", likes_to_stay, RIGHT) == LEFT


def test_what_undoes_the_last_action_need_not_be_tried_again():
    trail = Trail()
    likes_left = np.log([0.6, 0.3, 0.1])
    for before, after in ((b"a", b"b"), (b"b", b"c")):
        trail.decide(before, likes_left, RIGHT)
        trail.remember(before, RIGHT, after)
        trail.decide(after, likes_left, LEFT)
        trail.remember(after, LEFT, before)
        trail.decide(before, likes_left, RIGHT)
        trail.remember(before, RIGHT, after)
    trail.decide(b"c", likes_left, RIGHT)
    trail.remember(b"c", RIGHT, b"d")
    trail.decide(b"d", likes_left, STAY)
    trail.remember(b"d", STAY, b"d")
    # To the left of d is c: whoever came from there knows that without going back.
    assert trail.decide(b"d", likes_left, LEFT) == RIGHT


def test_an_aim_that_was_given_up_is_searched_for_where_the_search_stopped():
    trails = Trails(Discrete(("left", "right", "stay")), num_envs=1)
    watched, here = np.array([True]), HERE[:1]
    log_probs, sampled = FAVOURS_RIGHT[None], np.array([RIGHT])
    trails.decide(watched, here, log_probs, sampled)
    trails.remember(0, here, RIGHT, here)
    trails.turn(0, before=7, now=8)
    assert trails.decide(watched, here, log_probs, sampled).tolist() == [RIGHT]
    trails.turn(0, before=8, now=7)
    assert trails.decide(watched, here, log_probs, sampled).tolist() == [LEFT]


def test_trails_are_kept_for_the_copies_that_are_watched():
    trails = Trails(Discrete(("left", "right", "stay")), num_envs=2)
    log_probs, sampled = np.stack([FAVOURS_RIGHT] * 2), np.array([RIGHT, RIGHT])
    trails.decide(np.array([True, False]), HERE, log_probs, sampled)
    trails.remember(0, HERE, RIGHT, HERE)
    assert trails.decide(np.array([True, False]), HERE, log_probs, sampled).tolist() == [LEFT, RIGHT]
    trails.forget(0)
    assert trails.decide(np.array([True, False]), HERE, log_probs, sampled).tolist() == [RIGHT, RIGHT]


def test_a_world_of_chance_leaves_the_policy_alone():
    trails = Trails(Discrete(("left", "right", "stay")), num_envs=2)
    trails.decide(BOTH, HERE, np.stack([FAVOURS_RIGHT] * 2), np.array([RIGHT, RIGHT]))
    trails.remember(0, HERE, RIGHT, THERE)
    assert trails.apply_to(HERE)
    trails.remember(0, HERE, RIGHT, HERE)
    assert not trails.apply_to(HERE)


def test_only_a_single_agents_listed_actions_can_be_remembered():
    assert not Trails(Discrete(("one", "other")), num_envs=2).apply_to(UnitObservation(HERE, BOTH))
    assert not Trails(Box((0.0,), (1.0,)), num_envs=2).apply_to(HERE)
