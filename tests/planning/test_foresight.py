"""What foresight chooses, given what an outlook expects."""

import numpy as np

from attribute_planner.planning.foresight import STEP_COST, Foresight, Options
from attribute_planner.planning.planner import Planner
from tests.probes import numbers, partial_goal, table_of

HERE, BESIDE, GOAL, ELSEWHERE = range(4)
SPACE = numbers(4)
TABLE = table_of(
    SPACE, [((HERE,), (GOAL,), 0.99), ((BESIDE,), (GOAL,), 0.99), ((HERE,), (BESIDE,), 0.99), ((GOAL,), (HERE,), 0.99)]
)


def foresight() -> Foresight:
    return Foresight(Planner(TABLE, STEP_COST), partial_goal([GOAL]), doubt=0.0)


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


def choice(foresight: Foresight, options: Options) -> int | None:
    here = np.array([HERE], np.int32)
    return foresight.choose(TABLE.number_of(here), here, options, 0, trusted=0.0)


def test_what_is_likely_to_arrive_is_preferred_to_a_detour_that_promises_certainty():
    assert choice(foresight(), options((BESIDE, 0.99), (GOAL, 0.6), (GOAL, 0.01))) == 1


def test_what_is_unlikely_to_arrive_is_not():
    assert choice(foresight(), options((BESIDE, 0.99), (GOAL, 0.3), (GOAL, 0.01))) == 0


def test_of_several_ways_to_arrive_the_surest_is_taken():
    assert choice(foresight(), options((GOAL, 0.6), (GOAL, 0.9), (BESIDE, 0.99), (GOAL, 0.01))) == 1


def test_what_has_failed_from_here_is_not_tried_again_while_there_is_another_way():
    walk, seen = foresight(), options((BESIDE, 0.99), (GOAL, 0.6), (GOAL, 0.01))
    walk.failed(TABLE.number_of(np.array([HERE])), np.array([GOAL], np.int32))
    assert choice(walk, seen) == 0


def test_staying_is_no_choice():
    assert choice(foresight(), options((HERE, 0.99), (HERE, 0.5))) is None
