"""What foresight chooses, given what an outlook expects."""

from dataclasses import replace

import numpy as np
import pytest

from attribute_planner.planning.executor import ExecutionConfig, Walk
from attribute_planner.planning.lookahead import STEP_COST, Lookahead, Options
from attribute_planner.planning.planner import Planner
from attribute_planner.transitions.table import UNKNOWN, TransitionTable
from tests.probes import numbers, partial_goal, table_of

HERE, BESIDE, GOAL, ELSEWHERE = range(4)
SPACE = numbers(4)
TABLE = table_of(
    SPACE, [((HERE,), (GOAL,), 0.99), ((BESIDE,), (GOAL,), 0.99), ((HERE,), (BESIDE,), 0.99), ((GOAL,), (HERE,), 0.99)]
)


def lookahead() -> Lookahead:
    return Lookahead(Planner(TABLE, STEP_COST), partial_goal([GOAL]), model_error=0.0)


def options(*expected: tuple[int, float]) -> Options:
    """One copy's options, each with where it is expected to lead and how likely; the last is the policy's."""
    values = np.array([[place] for place, _ in expected], np.int32)
    words = np.asarray(SPACE.pack(values))
    return Options(
        np.arange(len(expected))[None],
        values[None],
        np.log([[[probability] for _, probability in expected]]),
        TABLE.numbers_of(words)[None],
    )


def choice(lookahead: Lookahead, options: Options, *, last: bool = False) -> int | None:
    here = np.array([HERE], np.int32)
    return lookahead.choose(TABLE.number_of(here), here, options, 0, trusted=0.0, last=last)


def test_what_is_likely_to_arrive_is_preferred_to_a_detour_that_promises_certainty():
    assert choice(lookahead(), options((BESIDE, 0.99), (GOAL, 0.2), (GOAL, 0.01))) == 1


def test_what_is_unlikely_to_arrive_is_not():
    assert choice(lookahead(), options((BESIDE, 0.99), (GOAL, 0.05), (GOAL, 0.01))) == 0


def test_with_the_last_step_it_is_tried_all_the_same_and_whatever_failed_before_too():
    walk, seen = lookahead(), options((BESIDE, 0.99), (GOAL, 0.05), (GOAL, 0.01))
    walk.failed(TABLE.number_of(np.array([HERE])), np.array([GOAL], np.int32))
    assert choice(walk, seen, last=True) == 1
    assert choice(lookahead(), options((BESIDE, 0.99), (ELSEWHERE, 0.05)), last=True) == 0


def test_of_several_ways_to_arrive_the_surest_is_taken():
    assert choice(lookahead(), options((GOAL, 0.6), (GOAL, 0.9), (BESIDE, 0.99), (GOAL, 0.01))) == 1


def test_what_has_failed_from_here_is_not_tried_again_while_there_is_another_way():
    walk, seen = lookahead(), options((BESIDE, 0.99), (GOAL, 0.6), (GOAL, 0.01))
    walk.failed(TABLE.number_of(np.array([HERE])), np.array([GOAL], np.int32))
    assert choice(walk, seen) == 0


def test_staying_is_no_choice():
    assert choice(lookahead(), options((HERE, 0.99), (HERE, 0.5))) is None


def steps_until_it_tries(chance: float, alike: int = 12) -> int:
    """How often an agent goes from one set to another that promises as much before it tries what leads on.

    Wherever it is, it expects that to succeed with a chance of which the table knows nothing.
    """
    middle, goal = alike, alike + 1
    space = numbers(alike + 2)
    onward = [((each,), (middle,), 0.99) for each in range(alike)]
    about = [((each,), ((each + 1) % alike,), 0.99) for each in range(alike)]
    table = table_of(space, [*onward, *about, ((middle,), (goal,), 0.99)])
    lookahead = Lookahead(Planner(table, STEP_COST), partial_goal([goal]), model_error=0.0)
    expected = np.arange(middle + 1, dtype=np.int32)[:, None]
    log_prob = np.log(np.where(expected == middle, chance, 0.99))
    known = table.numbers_of(np.asarray(space.pack(expected)))
    seen = Options(expected[None, :, 0], expected[None], log_prob[None], known[None])
    here, steps = np.array([0], np.int32), 0
    while (chosen := lookahead.choose(table.number_of(here), here, seen, 0, trusted=0.0)) != middle:
        assert chosen is not None
        here, steps = expected[chosen], steps + 1
    return steps


def test_who_gets_no_nearer_soon_tries_what_leads_on(monkeypatch: pytest.MonkeyPatch):
    assert steps_until_it_tries(0.9) == 0
    assert 3 <= steps_until_it_tries(0.5) <= 8
    monkeypatch.setattr("attribute_planner.planning.lookahead.WEARINESS", 0.0)
    assert steps_until_it_tries(0.5) >= 11


def test_the_chance_to_make_sure_is_that_of_the_best_option_less_a_step():
    seen = options((GOAL, 0.6), (GOAL, 0.9), (BESIDE, 0.99), (GOAL, 1.0))
    assert lookahead().best_chance(seen, 0) == pytest.approx(0.9 * np.exp(-STEP_COST))
    assert lookahead().best_chance(options((BESIDE, 0.99), (GOAL, 1.0)), 0) == 0.0


def walk_at(place: int, there: float, table: TransitionTable = TABLE) -> Walk:
    """A walk to the goal by someone who looks ahead, is at a place, and takes it for the goal with chance `there`."""
    here = np.array([place], np.int32)
    return Walk(Planner(table, STEP_COST), partial_goal([GOAL]), here, here, ExecutionConfig(), there, model_error=0.0)


def test_who_is_sure_to_be_there_stops():
    walk = walk_at(GOAL, there=0.95)
    assert (walk.active, walk.success) == (False, True)


def test_who_may_be_there_makes_sure_if_that_is_likelier_to_succeed():
    walk, goal = walk_at(GOAL, there=0.6), np.array([GOAL], np.int32)
    assert walk.active
    assert walk.look_ahead(options((BESIDE, 0.99), (GOAL, 0.95), (GOAL, 0.01)), 0) == 1
    walk.advance(0, goal, goal, False, None, there=0.97)
    assert (walk.active, walk.success, walk.steps) == (False, True, 1)


def test_who_may_be_there_stops_if_nothing_is_likelier_to_succeed():
    walk = walk_at(GOAL, there=0.6)
    walk.look_ahead(options((BESIDE, 0.99), (GOAL, 0.62), (GOAL, 0.01)), 0)
    assert (walk.active, walk.success, walk.steps) == (False, True, 0)


def test_whoever_could_do_nothing_about_it_stops():
    walk, goal, seen = walk_at(GOAL, there=0.6), np.array([GOAL], np.int32), options((GOAL, 0.95), (GOAL, 0.01))
    walk.look_ahead(seen, 0)
    walk.advance(0, goal, goal, False, None, there=0.6)
    assert walk.active
    walk.look_ahead(seen, 0)
    assert (walk.active, walk.success, walk.steps) == (False, True, 1)


def test_success_is_judged_by_the_truth_when_it_stops():
    walk, goal = walk_at(HERE, there=0.0), np.array([GOAL], np.int32)
    walk.look_ahead(options((GOAL, 0.9), (GOAL, 0.01)), 0)
    walk.advance(0, goal, np.array([BESIDE], np.int32), False, None, there=0.92)
    assert (walk.active, walk.success) == (False, False)


def test_foresight_finds_a_way_that_the_table_does_not_know():
    unknown = table_of(SPACE, [((HERE,), (BESIDE,), 0.9), ((BESIDE,), (HERE,), 0.9)])
    walk, goal = walk_at(HERE, there=0.0, table=unknown), np.array([GOAL], np.int32)
    assert walk.active
    assert walk.aim.tolist() == [GOAL]
    seen = options((BESIDE, 0.99), (GOAL, 0.8), (GOAL, 0.01))
    assert walk.look_ahead(replace(seen, numbers=np.array([[1, UNKNOWN, UNKNOWN]])), 0) == 1
    walk.advance(0, goal, goal, False, None)
    assert (walk.active, walk.success) == (False, True)


def test_who_ends_in_the_wrong_place_is_told_that_it_was_the_detector():
    unknown = table_of(SPACE, [((HERE,), (BESIDE,), 0.9), ((BESIDE,), (HERE,), 0.9)])
    walk, goal = walk_at(HERE, there=0.0, table=unknown), np.array([GOAL], np.int32)
    walk.look_ahead(replace(options((GOAL, 0.8), (GOAL, 0.01)), numbers=np.array([[UNKNOWN, UNKNOWN]])), 0)
    walk.advance(0, goal, np.array([BESIDE], np.int32), False, None)
    assert walk.episode(5, []).reason == "the detector took another attribute set for the goal."
