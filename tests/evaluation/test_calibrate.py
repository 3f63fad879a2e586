import jax
import numpy as np
import pytest

from attribute_planner.evaluation.calibrate import calibrate, fitted_log_odds
from attribute_planner.planning.episode_model import AttemptModel, EpisodeModel
from attribute_planner.planning.plan import Plan, Planner
from tests.probes import numbers, partial_goal, ring_agent, table_of


def plans(c: float, count: int) -> list[Plan]:
    """Plans of one transition, one attempt each."""
    table = table_of(numbers(2), [((0,), (1,), c)])
    planner = Planner(table, 1.0, attempts=AttemptModel(EpisodeModel(aliasing=1.0)))
    return [planner.plan(np.array([0], np.int32), partial_goal([1]))] * count


@pytest.mark.slow
def test_the_log_odds_are_those_with_which_plans_come_true():
    """Planned 50 %, reached 73 %: the log odds are 1; with nothing to explain they are 0."""
    found = fitted_log_odds(plans(0.5, 1000), np.arange(1000) < 731)
    assert found == pytest.approx(1.0, abs=0.13)
    assert fitted_log_odds(plans(0.5, 1000), np.arange(1000) < 500) == pytest.approx(0.0, abs=0.13)


def test_a_few_episodes_calibrate_an_agent():
    found = calibrate(ring_agent(), 5_000, key=jax.random.key(0))
    assert found is not None and found.episodes == 12
    assert found.reached >= 0.9 and found.log_odds >= -1
    assert calibrate(ring_agent(), 2_000, key=jax.random.key(0)) is None
