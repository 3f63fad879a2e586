"""Numbers worked out by hand for the model of one episode."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribute_planner.planning.episode_model import EpisodeModel, edge_cost

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


@given(shares, probabilities, st.integers(0, 4))
def test_failures_never_make_an_attempt_more_probable(aliasing, c, failures):
    now, later = (float(model(aliasing).attempt(c, count)) for count in (failures, failures + 1))
    assert later <= now + 1e-12


def test_cost_of_a_transition_by_hand():
    cost = edge_cost(np.array([0.6, 1.0, 0.0]), np.array([3.0, 0.0, 3.0]), 10.0)
    # 3 steps of 10. Steps that were not counted are one per attempt.
    assert cost == pytest.approx([-np.log(0.6) + 0.3, 0.1, np.inf])


def test_published_cost_is_the_negative_logarithm_and_ignores_duration():
    c = np.array([1.0, 0.5, 0.1, 0.0])
    cost = edge_cost(c, np.array([1.0, 9.0, 2.0, 1.0]))
    assert cost == pytest.approx([0.0, np.log(2), np.log(10), np.inf])
