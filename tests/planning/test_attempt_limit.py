"""When an attempt is reconsidered, and how much of a failed one it is then."""

import numpy as np
import pytest

from attribute_planner.planning.attempt_limit import AttemptLimit, AttemptLimits
from attribute_planner.transitions.edge_numbers import edge_numbers
from tests.probes import numbers, table_of

LISTING = table_of(numbers(4), [((0,), (target,), 0.5) for target in (1, 2, 3)]).listing()
MEASURED = edge_numbers(LISTING, np.array([0, 1]), np.array([10.0, 1.0]))


def values(value: int) -> np.ndarray:
    return np.array([value], np.int32)


def test_without_a_measured_duration_an_attempt_lasts_as_long_as_in_practice():
    attempt_limit = AttemptLimit(longest=10)
    assert not attempt_limit.is_over(9) and attempt_limit.is_over(10)
    assert [attempt_limit.failure(steps) for steps in (1, 5, 10, 12)] == pytest.approx([0.1, 0.5, 1.0, 1.0])
    assert AttemptLimits(10, LISTING, None).of(values(0), values(1)) == attempt_limit


def test_an_attempt_is_reconsidered_after_the_median_as_half_a_failure():
    attempt_limit = AttemptLimit(longest=100, median=8.0)
    assert not attempt_limit.is_over(7) and attempt_limit.is_over(8)
    assert [attempt_limit.failure(steps) for steps in (4, 8, 50, 100)] == pytest.approx([0.25, 0.5, 0.5, 1.0])


def test_a_median_beyond_the_longest_attempt_changes_nothing():
    assert AttemptLimit(10, median=30.0).is_over(10)
    assert AttemptLimit(10, median=30.0).failure(5) == AttemptLimit(10).failure(5)


def test_each_transition_has_a_median_of_its_own():
    limits = AttemptLimits(100, LISTING, MEASURED)
    assert limits.of(values(0), values(1)).median == pytest.approx(10 * np.log(2))
    assert limits.of(values(0), values(2)) == AttemptLimit(100, 1.0), "no attempt takes less than a step"


@pytest.mark.parametrize(("source", "target"), [(0, 3), (3, 0)])
def test_other_transitions_have_the_usual_one(source: int, target: int):
    assert AttemptLimits(100, LISTING, MEASURED).of(values(source), values(target)).median == 5.5 * np.log(2)
