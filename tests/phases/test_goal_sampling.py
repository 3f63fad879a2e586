from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner import algorithm
from attribute_planner.evaluation.evaluate import evaluate
from attribute_planner.phases.goal_sampling import FAR_SETS, edge_on_the_way, plan_to_far_sets
from attribute_planner.transitions.table import UNKNOWN
from tests.probes import RING, TINY, numbers, table_of

LINE = table_of(numbers(4), [((0,), (1,), 1.0), ((1,), (2,), 1.0), ((2,), (3,), 1.0), ((0,), (3,), 0.1)])
"""Sets 0 to 3 in a row, and a doubtful short cut, which is edge 1."""
TO_LAST, TO_FIRST = [0, 2, 3, UNKNOWN], [UNKNOWN] * 4


def test_plans_follow_the_likeliest_way_to_each_far_set():
    plans = np.asarray(plan_to_far_sets(LINE, key=jax.random.key(0)).edges)
    assert plans.shape == (FAR_SETS, 4)
    assert {tuple(plan) for plan in plans.tolist()} == {
        tuple(TO_FIRST),
        (0, *[UNKNOWN] * 3),
        (0, 2, UNKNOWN, UNKNOWN),
        tuple(TO_LAST),
    }


def test_an_environment_without_a_plan_takes_a_substitute_or_else_any_neighbour():
    plans = jnp.array([TO_FIRST, TO_FIRST, TO_LAST] + 5 * [TO_FIRST], jnp.int32)
    number, any_neighbour = jnp.array([0, 1, 2, 0, UNKNOWN], jnp.int32), jnp.array([8, 8, 8, 8, 9], jnp.int32)
    # Environments 0 and 1 follow the plan of a later one; environment 3 has no plan; the last one is in an unknown set.
    assert edge_on_the_way(plans, number, any_neighbour).tolist() == [0, 2, 3, 8, 9]


@pytest.mark.slow
def test_an_agent_that_practised_along_plans_reaches_its_goals():
    config = replace(TINY, practise=replace(TINY.practise, goal_sampling="planned"), estimator="alike")
    agent = algorithm.train(RING, config, key=jax.random.key(0))
    assert agent.table.spent is not None
    # In the ring every attempt takes one step.
    np.testing.assert_allclose(agent.table.spent, agent.table.attempts)
    result = evaluate(agent, episodes=40)
    assert result.success == 1
    assert result.oracle is None
