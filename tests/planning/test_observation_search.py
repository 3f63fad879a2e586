import numpy as np
import pytest

from attribute_planner.planning.observation_search import ObservationSearch

LEFT, RIGHT, STAY = range(3)
STEPS_LEFT = 100
PREFERS_RIGHT = np.log([0.09, 0.9, 0.01])
PREFERS_STAYING = np.log([0.05, 0.05, 0.9])


@pytest.fixture
def search() -> ObservationSearch:
    return ObservationSearch()


def take(search: ObservationSearch, here: bytes, log_probs: np.ndarray, action: int, there: bytes) -> None:
    """The policy takes an action at a new observation, which leads to another."""
    assert search.decide(here, log_probs, action, STEPS_LEFT) == action
    search.remember(here, action, there)


def test_at_a_new_observation_the_policy_acts(search: ObservationSearch):
    assert [search.decide(place, PREFERS_RIGHT, STAY, STEPS_LEFT) for place in (b"a", b"b")] == [STAY, STAY]


def test_at_a_known_observation_untried_actions_are_taken_the_most_probable_first(search: ObservationSearch):
    take(search, b"a", PREFERS_RIGHT, RIGHT, b"a")
    assert search.decide(b"a", PREFERS_RIGHT, RIGHT, STEPS_LEFT) == LEFT
    search.remember(b"a", LEFT, b"a")
    assert search.decide(b"a", PREFERS_RIGHT, RIGHT, STEPS_LEFT) == STAY


def test_the_search_goes_back_to_where_a_better_action_is_untried(search: ObservationSearch):
    # a -right→ b -right→ c. At c the untried action is improbable; at b the policy prefers one that was not taken.
    take(search, b"a", PREFERS_RIGHT, RIGHT, b"b")
    take(search, b"b", PREFERS_STAYING, RIGHT, b"c")
    take(search, b"c", PREFERS_RIGHT, RIGHT, b"c")
    search.remember(b"c", LEFT, b"b")
    assert search.decide(b"c", PREFERS_RIGHT, RIGHT, STEPS_LEFT) == LEFT
    assert search.decide(b"b", PREFERS_STAYING, RIGHT, STEPS_LEFT) == STAY


def test_a_detour_has_to_be_worth_its_steps(search: ObservationSearch):
    # Staying has log probability −0.1 at b and −0.2 here: worth a step of many, but not of few.
    here, there = np.log([0.1, 0.08, 0.82]), np.log([0.05, 0.05, 0.9])
    take(search, b"b", there, RIGHT, b"c")
    take(search, b"c", here, LEFT, b"b")
    assert search.decide(b"c", here, LEFT, 100) == LEFT, "back to b"
    assert search.decide(b"c", here, LEFT, 5) == STAY


def corridor(position: int, action: int) -> int:
    """Seven places in a row; the exit is what `STAY` does at the left end."""
    if position == 0 and action == STAY:
        return 7
    return min(max(position + {LEFT: -1, RIGHT: 1, STAY: 0}[action], 0), 6)


def steps_to_leave_the_corridor(*, search: bool, limit: int = 200) -> int:
    """Steps of a policy that nearly always goes right, from the middle; it never leaves by itself."""
    found, position = ObservationSearch(), 3
    for step in range(limit):
        here = bytes([position])
        action = found.decide(here, PREFERS_RIGHT, RIGHT, limit - step) if search else RIGHT
        position = corridor(position, action)
        if position == 7:
            return step + 1
        found.remember(here, action, bytes([position]))
    return limit


def test_a_dead_end_is_escaped():
    assert steps_to_leave_the_corridor(search=False) == 200
    assert steps_to_leave_the_corridor(search=True) < 60


def test_where_everything_was_tried_some_action_is_still_taken(search: ObservationSearch):
    take(search, b"a", PREFERS_RIGHT, RIGHT, b"a")
    search.remember(b"a", LEFT, b"a")
    search.remember(b"a", STAY, b"a")
    assert search.decide(b"a", PREFERS_RIGHT, RIGHT, STEPS_LEFT) == RIGHT


def test_an_action_that_leads_elsewhere_is_tried_again(search: ObservationSearch):
    take(search, b"a", PREFERS_RIGHT, RIGHT, b"b")
    search.remember(b"a", RIGHT, b"b")
    assert search.repeatable == 1
    assert search.decide(b"a", PREFERS_RIGHT, STAY, STEPS_LEFT) == LEFT, "the same outcome twice is no sign of chance"
    search.remember(b"a", RIGHT, b"a")
    assert search.repeatable == pytest.approx(2 / 3), "one of two repetitions, and one more that is assumed"
    assert search.decide(b"a", PREFERS_RIGHT, STAY, STEPS_LEFT) == RIGHT, "0.9 / 3 is more than 0.09"
    for _ in range(3):  # 0.9 · 0.3³ is less
        search.remember(b"a", RIGHT, b"a")
    assert search.decide(b"a", PREFERS_RIGHT, STAY, STEPS_LEFT) == LEFT


def test_chance_explains_failures_of_the_right_action():
    icy = ObservationSearch(repeatable=0.5)
    take(icy, b"a", PREFERS_RIGHT, RIGHT, b"b")
    # 0.9 · 0.5³ is more than 0.09, 0.9 · 0.5⁴ is less.
    for _ in range(3):
        assert icy.decide(b"a", PREFERS_RIGHT, STAY, STEPS_LEFT) == RIGHT
        icy.remember(b"a", RIGHT, b"b")
    assert icy.decide(b"a", PREFERS_RIGHT, STAY, STEPS_LEFT) == LEFT
    assert icy.repeatable == 0.5, "practice has measured it"


def test_a_detour_whose_steps_lead_elsewhere_costs_more():
    for repeatable, action in ((0.9, LEFT), (0.1, RIGHT)):
        search = ObservationSearch(repeatable)
        take(search, b"b", PREFERS_STAYING, RIGHT, b"c")
        take(search, b"c", np.log([0.1, 0.6, 0.3]), LEFT, b"b")
        search.remember(b"c", RIGHT, b"c")
        search.remember(b"c", RIGHT, b"c")
        assert search.decide(b"c", PREFERS_RIGHT, RIGHT, STEPS_LEFT) == action


def test_an_action_that_is_out_of_the_question_is_never_tried(search: ObservationSearch):
    fatal = np.array([np.log(0.4), np.log(0.6), -np.inf])
    take(search, b"a", fatal, RIGHT, b"a")
    assert search.decide(b"a", fatal, RIGHT, STEPS_LEFT) == LEFT
    search.remember(b"a", LEFT, b"a")
    assert search.decide(b"a", fatal, RIGHT, STEPS_LEFT) == RIGHT, "the policy acts where nothing is left to try"


def test_a_way_does_not_take_an_action_that_is_out_of_the_question(search: ObservationSearch):
    take(search, b"b", PREFERS_STAYING, RIGHT, b"c")
    take(search, b"c", np.array([-np.inf, np.log(0.9), np.log(0.1)]), LEFT, b"b")
    assert search.decide(b"c", PREFERS_RIGHT, LEFT, STEPS_LEFT) == RIGHT
    search.remember(b"c", RIGHT, b"c")
    search.remember(b"c", STAY, b"c")
    assert search.decide(b"c", PREFERS_RIGHT, STAY, STEPS_LEFT) == STAY, "nothing is left to try"


@pytest.mark.parametrize("left", [2, 1, 0])
def test_no_way_is_longer_than_what_is_left_of_the_episode(search: ObservationSearch, left: int):
    take(search, b"b", PREFERS_STAYING, RIGHT, b"c")
    take(search, b"c", PREFERS_RIGHT, LEFT, b"b")
    search.remember(b"c", RIGHT, b"c")
    search.remember(b"c", STAY, b"c")
    assert search.decide(b"c", PREFERS_RIGHT, RIGHT, left) == (LEFT if left > 1 else RIGHT)


def test_where_nothing_repeats_itself_no_way_is_taken():
    chaos = ObservationSearch(repeatable=0.0)
    take(chaos, b"b", PREFERS_STAYING, RIGHT, b"c")
    take(chaos, b"c", PREFERS_RIGHT, LEFT, b"b")
    assert chaos.decide(b"c", PREFERS_RIGHT, LEFT, STEPS_LEFT) == RIGHT
