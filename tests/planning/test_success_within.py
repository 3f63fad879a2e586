import itertools
from dataclasses import replace

import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.planning.episode_model import AttemptModel, EpisodeModel, Odds
from attribute_planner.planning.plan import Planner
from tests.probes import numbers, partial_goal, table_of


def success_within(c: list[float], steps: list[float], horizon: float, model: EpisodeModel | None = None) -> float:
    return product(AttemptModel(model or EpisodeModel()), c, steps, horizon)


def product(model: AttemptModel, c: list[float], steps: list[float], horizon: float) -> float:
    return float(np.prod(model.success_within(c, steps, horizon)))


def test_without_a_horizon_it_is_the_product():
    assert success_within([0.5, 0.8], [3.0, 4.0], np.inf) == pytest.approx(0.4)


def test_each_transition_has_its_probability_given_those_before():
    model = AttemptModel(EpisodeModel(aliasing=0.0))
    first, second = model.success_within([0.5, 0.5], [1.0, 1.0], 2)
    # The first may take both steps, and then no step is left.
    assert (first, second) == pytest.approx((0.75, 0.25 / 0.75))


def test_a_failed_attempt_is_made_again_while_time_is_left():
    by_chance = EpisodeModel(aliasing=0.0)
    # Three steps each: one attempt in 3 to 5 steps, two in 6.
    assert [success_within([0.5], [3.0], h, by_chance) for h in (2, 3, 5, 6)] == pytest.approx([0, 0.5, 0.5, 0.75])
    # If all failures are due to the state, another attempt does not help.
    assert success_within([0.5], [3.0], 60, EpisodeModel(aliasing=1.0)) == pytest.approx(0.5)


def test_it_is_what_episodes_do():
    """Against the sum over all outcomes of two transitions with up to three attempts in all."""
    model, c = EpisodeModel(aliasing=0.4), [0.6, 0.7]
    (a, b), (p, q) = model.availability(np.array(c)), model.reliability(np.array(c))
    expected = sum(
        a * p * (1 - p) ** i * b * q * (1 - q) ** j for i, j in itertools.product(range(2), range(2)) if i + j <= 1
    )
    assert success_within(c, [1.0, 1.0], 3, model) == pytest.approx(expected)


def test_failures_take_longer_than_successes():
    """Half of the attempts succeed, and attempts take 12 steps on average: failures 20, so successes 4."""
    model = AttemptModel(EpisodeModel(aliasing=0.0), max_attempt_steps=20)
    assert model.durations(0.5, 12.0) == (4, 20)
    assert [product(model, [0.5], [12.0], h) for h in (3, 4, 23, 24)] == pytest.approx([0, 0.5, 0.5, 0.75])
    # Successes cannot have taken less than a step: then failures took less than t_max.
    assert model.durations(0.5, 6.0) == (1, 11)


def test_what_was_measured_shifts_the_log_odds():
    model = AttemptModel(EpisodeModel(aliasing=1.0), odds=Odds(log_odds=float(np.log(3))))
    assert product(model, [0.5], [1.0], 1) == pytest.approx(0.75)
    assert product(model, [1.0, 0.0], [1.0, 1.0], 5) == 0
    twice = AttemptModel(EpisodeModel(aliasing=1.0), odds=Odds(slope=2.0))
    assert product(twice, [0.75], [1.0], 1) == pytest.approx(0.9)  # odds of 3 become 9


def test_plans_that_differ_by_chance_prefer_fewer_transitions():
    """0 → 2 directly failed once in 40 attempts, the way by 1 never; half of the other transitions failed once."""
    others = [((each,), (each + 1,), 1.0) for each in range(2, 80)]
    table = table_of(numbers(81), [((0,), (2,), 1.0), ((0,), (1,), 1.0), ((1,), (2,), 1.0), *others])
    failed_once = np.where(table.source < 2, (table.source == 0) & (table.target == 2), table.source % 2 == 0)
    table = table.with_practice(np.full(len(table.source), 40.0), 40.0 - failed_once)
    start, goal = np.array([0], np.int32), partial_goal([2])
    assert len(Planner(replace(table, estimator="ratio")).plan(start, goal).edges) == 2
    assert len(Planner(replace(table, estimator="posterior")).plan(start, goal).edges) == 1


def test_a_plan_shows_the_attempts_behind_each_edge():
    space = AttributeSpace((Attribute("n", range(3)),))
    table = table_of(space, [((0,), (1,), 0.75), ((1,), (2,), 0.5)])
    table = table.with_practice(np.array([12.0, 0.0]), np.array([9.0, 0.0]))
    found = Planner(table.with_practice(np.array([12.0, 0.2]), np.array([9.0, 0.1]))).plan(
        np.array([0], np.int32), partial_goal([2])
    )
    assert [str(each) for each in found.evidence] == ["75 % (9 of 12)", "untried: 50 % assumed"]
    assert str(found).splitlines()[1:] == ["  1. n → 1  75 % (9 of 12)", "  2. n → 2  untried: 50 % assumed"]
    assert found.to_json()["evidence"][0] == {
        "probability": 0.75,
        "attempts": 12.0,
        "successes": 9.0,
        "visits": 1.0,
    }
