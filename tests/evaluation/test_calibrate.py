import jax
import numpy as np
import pytest

from attribute_planner.evaluation.calibrate import calibrate, fitted_odds
from attribute_planner.planning.episode_model import AttemptModel, EpisodeModel
from attribute_planner.planning.plan import Plan, Planner
from tests.probes import numbers, partial_goal, ring_agent, table_of


def plans(c: float, count: int) -> list[Plan]:
    """Plans of one transition, one attempt each."""
    table = table_of(numbers(2), [((0,), (1,), c)])
    planner = Planner(table, 1.0, attempts=AttemptModel(EpisodeModel(aliasing=1.0)))
    return [planner.plan(np.array([0], np.int32), partial_goal([1]))] * count


def test_odds_are_those_with_which_plans_come_true():
    """Planned 50 %, reached 73 %: the log odds are 1; with nothing to explain they are 0."""
    log_odds, slope = fitted_odds(plans(0.5, 1000), np.arange(1000) < 731)
    assert (log_odds, slope) == pytest.approx((1.0, 1.0), abs=0.1)
    assert fitted_odds(plans(0.5, 1000), np.arange(1000) < 500) == pytest.approx((0.0, 1.0), abs=0.1)


def test_what_is_easy_can_be_easier_and_what_is_hard_harder():
    """Planned 20 and 80 %, reached 6 and 94 %: the log odds are twice those of practice."""
    success = np.concatenate([np.arange(1000) < 59, np.arange(1000) < 941])
    log_odds, slope = fitted_odds(plans(0.2, 1000) + plans(0.8, 1000), success)
    assert (log_odds, slope) == pytest.approx((0.0, 2.0), abs=0.15)


def test_some_episodes_calibrate_an_agent():
    """12 episodes may take as many steps as there are; they take fewer, and some more are pursued."""
    found = calibrate(ring_agent(), 5_000, key=jax.random.key(0))
    assert found is not None and found.episodes > 12
    assert found.reached >= 0.9 and found.log_odds >= -1
    assert calibrate(ring_agent(), 2_000, key=jax.random.key(0)) is None
