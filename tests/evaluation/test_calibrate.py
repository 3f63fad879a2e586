import jax
import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.evaluation.calibrate import calibrate, fitted_odds
from attribute_planner.planning.episode_model import AttemptModel, EpisodeModel, Odds
from attribute_planner.planning.plan import Plan, Planner
from tests.probes import numbers, partial_goal, ring_agent, table_of


def plans(c: float, count: int) -> list[Plan]:
    """Plans of one transition, one attempt each."""
    table = table_of(numbers(2), [((0,), (1,), c)])
    planner = Planner(table, 1.0, attempts=AttemptModel(EpisodeModel(aliasing=1.0)))
    return [planner.plan(np.array([0], np.int32), partial_goal([1]))] * count


def numbers_of(odds: Odds) -> tuple[float, float]:
    return odds.log_odds, odds.slope


def test_odds_are_those_with_which_plans_come_true():
    """Planned 50 %, reached 73 %: the log odds are 1; with nothing to explain they are 0."""
    assert numbers_of(fitted_odds(plans(0.5, 1000), np.arange(1000) < 731)) == pytest.approx((1.0, 1.0), abs=0.1)
    assert numbers_of(fitted_odds(plans(0.5, 1000), np.arange(1000) < 500)) == pytest.approx((0.0, 1.0), abs=0.1)


def test_what_is_easy_can_be_easier_and_what_is_hard_harder():
    """Planned 20 and 80 %, reached 6 and 94 %: the log odds are twice those of practice."""
    success = np.concatenate([np.arange(1000) < 59, np.arange(1000) < 941])
    found = fitted_odds(plans(0.2, 1000) + plans(0.8, 1000), success)
    assert numbers_of(found) == pytest.approx((0.0, 2.0), abs=0.15)


def test_plans_that_seemed_certain_and_often_fail_are_not_certain():
    odds = fitted_odds(plans(0.9999, 400), np.arange(400) < 300)
    attempts = AttemptModel(EpisodeModel(aliasing=1.0), odds=odds)
    planner = Planner(table_of(numbers(2), [((0,), (1,), 0.9999)]), 1.0, attempts=attempts)
    assert planner.plan(np.array([0], np.int32), partial_goal([1])).probability == pytest.approx(0.75, abs=0.03)


def test_goals_that_mention_fewer_attributes_may_be_reached_in_more_ways():
    """Planned 50 % for all: of complete goals 50 % are reached, of partial ones 80 %."""
    pair = AttributeSpace((Attribute("a", range(2)), Attribute("b", range(2))))
    planner = Planner(table_of(pair, [((0, 0), (1, 0), 0.5)]), 1.0, attempts=AttemptModel(EpisodeModel(aliasing=1.0)))
    start = np.zeros(2, np.int32)
    asked = [planner.plan(start, partial_goal(goal)) for goal in ([1, 0], [1, None]) for _ in range(200)]
    odds = fitted_odds(asked, np.concatenate([np.arange(200) < 100, np.arange(200) < 160]))
    assert set(odds.by_goal) == {"11", "10"}
    calibrated = Planner(planner.listing, 1.0, attempts=AttemptModel(EpisodeModel(aliasing=1.0), odds=odds))
    promised = [calibrated.plan(start, partial_goal(goal)).probability for goal in ([1, 0], [1, None])]
    assert promised == pytest.approx([0.5, 0.8], abs=0.03)


def test_some_episodes_calibrate_an_agent():
    """12 episodes may take as many steps as there are; they take fewer, and some more are pursued."""
    found = calibrate(ring_agent(), 5_000, key=jax.random.key(0))
    assert found is not None and found.episodes > 12
    assert found.reached >= 0.9 and found.odds.log_odds >= -1
    assert calibrate(ring_agent(), 2_000, key=jax.random.key(0)) is None
