"""Each estimator on the same three transitions, by hand."""

from dataclasses import replace

import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.transitions.estimators import (
    ESTIMATORS,
    PRIOR_ATTEMPTS,
    WEIGHTS,
    Statistics,
    fitted_weight,
    posterior_mean,
    success_ratio,
    visit_frequency,
)
from tests.probes import partial_goal


def statistics(
    *,
    visits: tuple[float, ...] = (1, 3, 2),
    attempts: tuple[float, ...] = (4, 0, 8),
    successes: tuple[float, ...] = (1, 0, 8),
    groups: tuple[tuple[int, ...], ...] = (),
) -> Statistics:
    """Two transitions out of set 0 and one out of set 2."""
    source = np.array([0, 0, 2])
    seen, tried, arrived = (np.array(each, float) for each in (visits, attempts, successes))
    return Statistics(3, source, seen, tried, arrived, lambda: tuple(map(np.array, groups)))


def test_the_ratio_is_successes_over_attempts_and_zero_without_attempts():
    assert success_ratio(statistics()).tolist() == [0.25, 0.0, 1.0]


def test_the_posterior_mean_starts_from_the_success_rate_of_the_others():
    observed = statistics()
    prior = np.array([(8 + 1) / (8 + 2), (9 + 1) / (12 + 2), (1 + 1) / (4 + 2)])
    weight = fitted_weight(observed.attempts, observed.successes, prior)
    expected = [(1 + weight * prior[0]) / (4 + weight), prior[1], (8 + weight * prior[2]) / (8 + weight)]
    assert posterior_mean(observed) == pytest.approx(expected)


def test_a_transition_that_was_not_attempted_is_estimated_from_its_group():
    """Groups of 100 transitions: nearly all attempts of the first succeed, and hardly any of the second."""
    group, tried = np.repeat([0, 1], 100), np.tile([20.0] * 99 + [0.0], 2)
    arrived = tried * np.where(group == 0, 0.95, 0.1)
    observed = Statistics(200, np.arange(200), tried, tried, arrived, lambda: (group,))
    assert posterior_mean(observed)[[99, 199]] == pytest.approx([0.95, 0.1], abs=0.01)
    ungrouped = replace(observed, groups=tuple)
    assert posterior_mean(ungrouped)[[99, 199]] == pytest.approx([0.525, 0.525], abs=0.01)


def test_groups_that_say_nothing_change_nothing():
    random = np.random.default_rng(0)
    tried = random.integers(1, 30, 1000).astype(float)
    arrived = random.binomial(tried.astype(int), random.beta(8, 2, 1000)).astype(float)
    alone = Statistics(1000, np.arange(1000), tried, tried, arrived, tuple)
    grouped = replace(alone, groups=lambda: (random.integers(0, 100, 1000),))
    assert np.abs(posterior_mean(grouped) - posterior_mean(alone)).mean() < 0.02


def test_a_group_of_one_is_the_transition_itself():
    alone = statistics()
    singles = replace(alone, groups=lambda: (np.arange(3),))
    assert posterior_mean(singles) == pytest.approx(posterior_mean(alone), abs=0.05)


@pytest.mark.parametrize("weight", [1.0, 30.0, 1000.0])
def test_the_weight_of_the_prior_is_that_of_the_distribution_of_the_transitions(weight):
    random, mean = np.random.default_rng(0), 0.8
    attempts = random.integers(1, 400, 4000).astype(float)
    successes = random.binomial(attempts.astype(int), random.beta(weight * mean, weight * (1 - mean), 4000)).astype(
        float
    )
    assert fitted_weight(attempts, successes, mean) == pytest.approx(weight, rel=0.2)


def test_without_counts_the_prior_has_its_usual_weight():
    assert fitted_weight(np.zeros(3), np.zeros(3), 0.5) == pytest.approx(PRIOR_ATTEMPTS, rel=0.01)


def test_differences_that_chance_explains_vanish():
    attempts = np.full(1000, 400.0)
    successes = np.random.default_rng(0).binomial(400, 0.995, 1000).astype(float)
    observed = Statistics(1000, np.arange(1000), attempts, attempts, successes, tuple)
    assert np.ptp(successes / attempts) > 0.015 > 15 * np.ptp(posterior_mean(observed))


def test_differences_that_chance_does_not_explain_remain():
    attempts = np.full(1000, 400.0)
    successes = np.where(np.arange(1000) % 2, 390.0, 80.0)
    assert fitted_weight(attempts, successes, 0.5875) < 10 < WEIGHTS[1]


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


@pytest.mark.parametrize("name", ["ratio", "posterior"])
def test_estimates_converge_to_the_success_rate(name):
    many = (1e6, 1e6, 1e6)
    observed = statistics(attempts=many, successes=(1e5, 5e5, 9e5))
    assert ESTIMATORS[name](observed) == pytest.approx([0.1, 0.5, 0.9], abs=1e-4)


def test_without_any_attempt_every_transition_is_as_likely_as_not():
    none = statistics(attempts=(0, 0, 0), successes=(0, 0, 0))
    assert posterior_mean(none).tolist() == [0.5, 0.5, 0.5]


def unneeded_turns(count: int) -> int:
    """How many plans for two of the switches turn another one: the agent that ships, random starts and goals."""
    agent, random, turned = ap.load("switches"), np.random.default_rng(0), 0
    table = agent.table
    for _ in range(count):
        start = table.values[random.integers(table.num_nodes)]
        wanted = random.choice(len(table.space), 2, replace=False)
        goal = partial_goal([int(random.integers(4)) if each in wanted else None for each in range(len(table.space))])
        plan = agent.planner.plan(start, goal)
        changed = np.flatnonzero((np.diff(plan.values, axis=0) != 0).any(axis=0))
        turned += not set(changed.tolist()) <= set(wanted.tolist())
    return turned


def test_plans_turn_no_switch_that_the_goal_does_not_mention(monkeypatch: pytest.MonkeyPatch):
    """All transitions of the switches succeed equally often, up to chance; by the counts alone, detours seem better."""
    assert unneeded_turns(100) == 0
    monkeypatch.setattr("attribute_planner.transitions.estimators.WEIGHTS", (2.0, 2.001))
    assert unneeded_turns(100) > 10
