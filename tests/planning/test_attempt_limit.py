"""When an attempt is reconsidered, and how much of a failed one it is then."""

import pytest

from attribute_planner.planning.attempt_limit import AttemptLimit


def test_without_a_measured_duration_an_attempt_lasts_as_long_as_in_practice():
    attempt_limit = AttemptLimit(longest=10)
    assert not attempt_limit.is_over(9) and attempt_limit.is_over(10)
    assert [attempt_limit.failure(steps) for steps in (1, 5, 10, 12)] == pytest.approx([0.1, 0.5, 1.0, 1.0])


def test_an_attempt_is_reconsidered_after_the_median_as_half_a_failure():
    attempt_limit = AttemptLimit(longest=100, median=8.0)
    assert not attempt_limit.is_over(7) and attempt_limit.is_over(8)
    assert [attempt_limit.failure(steps) for steps in (4, 8, 50, 100)] == pytest.approx([0.25, 0.5, 0.5, 1.0])


def test_a_median_beyond_the_longest_attempt_changes_nothing():
    assert AttemptLimit(10, median=30.0).is_over(10)
    assert AttemptLimit(10, median=30.0).failure(5) == AttemptLimit(10).failure(5)
