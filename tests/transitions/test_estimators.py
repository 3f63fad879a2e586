"""Each estimator on the same three transitions, by hand."""

import numpy as np
import pytest

from attribute_planner.transitions.estimators import (
    ESTIMATORS,
    Statistics,
    grouped_posterior_mean,
    posterior_mean,
    success_ratio,
    visit_frequency,
)


def statistics(
    *,
    visits: tuple[float, ...] = (1, 3, 2),
    attempts: tuple[float, ...] = (4, 0, 8),
    successes: tuple[float, ...] = (1, 0, 8),
    change: tuple[int, ...] = (0, 1, 0),
) -> Statistics:
    """Two transitions out of set 0 and one out of set 2; the first and the last make the same change."""
    source = np.array([0, 0, 2])
    seen, tried, arrived = (np.array(each, float) for each in (visits, attempts, successes))
    return Statistics(3, source, seen, tried, arrived, lambda: np.array(change))


def test_the_ratio_is_successes_over_attempts_and_zero_without_attempts():
    assert success_ratio(statistics()).tolist() == [0.25, 0.0, 1.0]


def test_the_posterior_mean_starts_from_the_success_rate_of_all_attempts():
    # (9 + 1) / (12 + 2), worth two attempts.
    prior = 10 / 14
    assert posterior_mean(statistics()) == pytest.approx([(1 + 2 * prior) / 6, prior, (8 + 2 * prior) / 10])


def test_the_grouped_posterior_mean_starts_from_the_success_rate_of_the_same_change():
    overall = 10 / 14
    group, other = (9 + 2 * overall) / 14, overall
    expected = [(1 + 5 * group) / 9, other, (8 + 5 * group) / 13]
    assert grouped_posterior_mean(statistics()) == pytest.approx(expected)


def test_the_visit_frequency_is_the_fraction_of_transitions_out_of_a_set():
    assert visit_frequency(statistics()).tolist() == [0.25, 0.75, 1.0]


def test_a_set_that_was_never_left_has_no_frequencies():
    assert visit_frequency(statistics(visits=(0, 0, 2))).tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimates_are_probabilities(name):
    random = np.random.default_rng(0)
    for _ in range(20):
        attempts = random.integers(0, 50, 3)
        visits, successes = random.integers(0, 9, 3), random.binomial(attempts, 0.9)
        observed = statistics(visits=tuple(visits), attempts=tuple(attempts), successes=tuple(successes))
        estimate = ESTIMATORS[name](observed)
        assert ((estimate >= 0) & (estimate <= 1)).all()


@pytest.mark.parametrize("name", ["ratio", "posterior", "alike"])
def test_estimates_converge_to_the_success_rate(name):
    many = (1e6, 1e6, 1e6)
    observed = statistics(attempts=many, successes=(1e5, 5e5, 9e5))
    assert ESTIMATORS[name](observed) == pytest.approx([0.1, 0.5, 0.9], abs=1e-4)


def test_without_any_attempt_every_transition_is_as_likely_as_not():
    none = statistics(attempts=(0, 0, 0), successes=(0, 0, 0))
    assert posterior_mean(none).tolist() == grouped_posterior_mean(none).tolist() == [0.5, 0.5, 0.5]
