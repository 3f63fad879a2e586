from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner import algorithm
from attribute_planner.evaluation.evaluate import evaluate
from attribute_planner.phases.goal_sampling import (
    FAR_SETS,
    SPREAD,
    FarSets,
    edge_on_the_way,
    optimistic,
    plan_to_far_sets,
    rarely_reached,
)
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


def test_far_sets_are_drawn_by_weight_and_padded():
    far = plan_to_far_sets(LINE, np.array([0.0, 0.0, 1.0, 0.0]), padded_to=6, key=jax.random.key(0))
    assert set(np.asarray(far.number).tolist()) == {2}
    assert far.edges.shape == (FAR_SETS, 6)
    assert far.edges[0].tolist() == [0, 2] + [UNKNOWN] * 4


def test_each_environment_takes_the_far_sets_in_turn():
    far = FarSets(jnp.arange(4), jnp.array([TO_LAST, TO_FIRST, [0, *[UNKNOWN] * 3], TO_LAST], jnp.int32))
    # Environment b goes to far set b + turn · SPREAD; here SPREAD is 1 modulo 4.
    assert SPREAD % 4 == 1
    number = jnp.array([1, 1, 0, UNKNOWN], jnp.int32)
    assert far.edge(jnp.zeros(4, jnp.int32), number).tolist() == [2, UNKNOWN, 0, UNKNOWN]
    assert far.edge(jnp.array([3, 2, 2, 0], jnp.int32), number).tolist() == [2, 2, 0, UNKNOWN]


def test_a_far_set_is_kept_while_a_way_leads_there_and_drawn_from_those_that_can_be_reached():
    far = FarSets(jnp.array([0, 3, 1], jnp.int32), jnp.array([TO_FIRST, TO_LAST, [0, *[UNKNOWN] * 3]], jnp.int32))
    many = 300
    otherwise = jnp.full(many, 8, jnp.int32)
    draw = lambda so_far, number: far.keep_or_draw(  # noqa: E731
        jnp.full(many, so_far, jnp.int32), jnp.full(many, number, jnp.int32), otherwise, key=jax.random.key(0)
    )
    chosen, edge = draw(1, 0)
    assert (set(chosen.tolist()), set(edge.tolist())) == ({1}, {0}), "the way to set 3 goes on"
    chosen, edge = draw(2, 1)
    assert (set(chosen.tolist()), set(edge.tolist())) == ({1}, {2}), "from set 1 only set 3 can be reached"
    chosen, edge = draw(UNKNOWN, 0)
    assert set(chosen.tolist()) == {1, 2}
    assert float((chosen == 1).mean()) == pytest.approx(0.5, abs=0.1)
    for nowhere in (3, UNKNOWN):
        assert set(draw(UNKNOWN, nowhere)[1].tolist()) == {8}


ROW = table_of(numbers(8), [((i,), (i + 1,), 1.0) for i in range(7)])
"""Sets 0 to 7 in a row, one way."""


def ends(table) -> set[tuple[int, int]]:
    pairs = zip(table.values[table.source, 0].tolist(), table.values[table.target, 0].tolist(), strict=True)
    return set(pairs)


def test_estimates_are_optimistic():
    tried = LINE.with_practice(np.array([0.0, 2.0, 6.0, 2.0]), np.array([0.0, 0.0, 0.0, 2.0]))
    # Two successes are added: 2/2, 2/4, 2/8, 4/4.
    assert optimistic(tried).probability.tolist() == [1.0, 0.5, 0.25, 1.0]


def test_sets_that_were_seldom_reached_are_pursued_more_often():
    # Edges 0 → 1, 0 → 3, 1 → 2, 2 → 3: set 0 was never reached, 1 three times, 2 eight times, 3 fifteen times.
    table = LINE.with_practice(np.full(4, 20.0), np.array([3.0, 5.0, 8.0, 10.0]))
    seldom = np.array([1, 1 / 2, 1 / 3, 1 / 4])
    np.testing.assert_allclose(rarely_reached(table), seldom / seldom.sum() + 1 / 4)


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
