"""Numbers worked out by hand for the model of one episode."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribute_planner.planning.episode_model import AS_PUBLISHED, EpisodeModel

HALF = EpisodeModel(aliasing=0.5)
probabilities = st.floats(0.01, 0.99)
shares = st.floats(0.0, 1.0)
LEFT = 20.0


def model(aliasing: float) -> EpisodeModel:
    return EpisodeModel(aliasing=aliasing)


def test_availability_and_reliability_by_hand():
    # c = 0.6: 0.4 of the attempts fail, 0.2 because of the state. So a = 0.8 and q = 0.6 / 0.8.
    assert HALF.availability(0.6) == pytest.approx(0.8)
    assert HALF.reliability(0.6) == pytest.approx(0.75)
    # Two failures: 0.8 · 0.25² = 0.05 against 0.2.
    assert HALF.availability(0.6, 2) == pytest.approx(0.05 / 0.25)
    assert HALF.attempt(0.6, 2) == pytest.approx(0.2 * 0.75)


@given(shares, st.floats(0.0, 1.0))
def test_success_probability_is_availability_times_reliability(aliasing, c):
    assert model(aliasing).availability(c) * model(aliasing).reliability(c) == pytest.approx(c)
    assert model(aliasing).attempt(c) == pytest.approx(c)


@given(shares, st.one_of(probabilities, st.just(1.0)))
def test_after_one_failure_a_transition_is_available_unless_the_failure_was_due_to_the_state(aliasing, c):
    assert model(aliasing).availability(c, 1) == pytest.approx(1 - aliasing)


@given(probabilities, st.integers(1, 5))
def test_with_aliasing_one_every_failure_repeats_itself(c, failures):
    assert model(1.0).availability(c) == pytest.approx(c)
    assert model(1.0).reliability(c) == pytest.approx(1.0)
    assert model(1.0).attempt(c, failures) == pytest.approx(0.0)


@given(st.one_of(probabilities, st.just(1.0)), st.integers(0, 5))
def test_with_aliasing_zero_no_failure_is_evidence(c, failures):
    assert model(0.0).availability(c, failures) == pytest.approx(1.0)
    assert model(0.0).attempt(c, failures) == pytest.approx(c)


def test_a_transition_that_never_failed_in_training():
    assert HALF.availability(np.ones(3), np.array([0.0, 1.0, 2.0])).tolist() == [1.0, 0.5, 0.0]


def test_a_transition_that_never_worked_in_training():
    assert HALF.attempt(0.0, 3) == 0.0
    assert HALF.persistence(0.0, 0.0, 1.0, LEFT) == 0.0


@given(shares, probabilities, st.integers(0, 4), st.floats(1.0, 9.0))
def test_with_one_step_left_there_is_one_attempt(aliasing, c, failures, steps):
    once = model(aliasing).attempt(c, failures)
    assert model(aliasing).persistence(c, failures, steps, 1.0) == pytest.approx(once)


def test_persistence_by_hand():
    # a = 0.8, q = 0.75. With 10 steps left, a retry after an attempt of 1 step survives with probability 0.9.
    assert HALF.persistence(0.6, 0, 1.0, 10.0) == pytest.approx(0.8 * 0.75 / (1 - 0.9 * 0.25))
    # A transition that is available always arrives if time does not matter.
    assert HALF.persistence(0.6, 0, 1.0, np.inf) == pytest.approx(0.8)


@given(shares, probabilities, st.integers(0, 4), st.floats(1.0, 9.0), st.floats(1.0, 50.0))
def test_persistence_grows_with_time_and_falls_with_failures_and_duration(aliasing, c, failures, steps, left):
    def arrives(failures: float, steps: float, left: float) -> float:
        return float(model(aliasing).persistence(c, failures, steps, left))

    now, rounding = arrives(failures, steps, left), 1e-12
    assert arrives(failures + 1, steps, left) <= now + rounding
    assert arrives(failures, steps + 1, left) <= now + rounding
    assert arrives(failures, steps, left + 1) >= now - rounding


def test_cost_of_a_transition_by_hand():
    cost = HALF.edge_cost(np.array([0.6, 1.0, 0.0]), np.array([3.0, 0.0, 3.0]), 10.0)
    # a = 0.8; 3 / 0.75 = 4 expected steps of 10. Steps that were not counted are one per attempt.
    assert cost == pytest.approx([-np.log(0.8) + 0.4, 0.1, np.inf])


def test_published_cost_is_the_negative_logarithm_and_ignores_duration():
    c = np.array([1.0, 0.5, 0.1, 0.0])
    cost = AS_PUBLISHED.edge_cost(c, np.array([1.0, 9.0, 2.0, 1.0]), np.inf)
    assert cost == pytest.approx([0.0, np.log(2), np.log(10), np.inf])
