from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner import algorithm
from attribute_planner.evaluation import calibrate
from attribute_planner.evaluation.evaluate import evaluate
from attribute_planner.phases import practise
from attribute_planner.phases.goal_sampling import (
    FAR_SETS,
    SPREAD,
    FarSets,
    edge_on_the_way,
    optimistic,
    plan_to_far_sets,
    plan_to_learnable_sets,
)
from attribute_planner.phases.practise_config import PractiseConfig
from attribute_planner.planning.plan import Planner
from attribute_planner.transitions.numbering import UNKNOWN
from attribute_planner.transitions.table import TransitionTable
from tests.probes import RING, TINY, Hosted, numbers, partial_goal, table_of

LINE = table_of(numbers(4), [((0,), (1,), 1.0), ((1,), (2,), 1.0), ((2,), (3,), 1.0), ((0,), (3,), 0.1)])
"""Sets 0 to 3 in a row, and a doubtful short cut, which is edge 1."""
TO_LAST, TO_FIRST = [0, 2, 3, UNKNOWN], [UNKNOWN] * 4
ALIKE = jnp.ones((4, 4))


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
    far = FarSets(jnp.arange(4), jnp.array([TO_LAST, TO_FIRST, [0, *[UNKNOWN] * 3], TO_LAST], jnp.int32), ALIKE)
    # Environment b goes to far set b + turn · SPREAD; here SPREAD is 1 modulo 4.
    assert SPREAD % 4 == 1
    number = jnp.array([1, 1, 0, UNKNOWN], jnp.int32)
    assert far.edge(jnp.zeros(4, jnp.int32), number).tolist() == [2, UNKNOWN, 0, UNKNOWN]
    assert far.edge(jnp.array([3, 2, 2, 0], jnp.int32), number).tolist() == [2, 2, 0, UNKNOWN]


def test_a_far_set_is_kept_while_a_way_leads_there_and_drawn_from_those_that_can_be_reached():
    edges = jnp.array([TO_FIRST, TO_LAST, [0, *[UNKNOWN] * 3]], jnp.int32)
    far = FarSets(jnp.array([0, 3, 1], jnp.int32), edges, jnp.array([[1.0], [3.0], [1.0]]).repeat(4, axis=1))
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
    assert float((chosen == 1).mean()) == pytest.approx(0.75, abs=0.1)
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


def test_transitions_that_were_never_seen_are_not_assumed_to_succeed():
    passed = LINE.with_pairs(LINE.words[1:2], LINE.words[3:4])
    new = int(passed.listing().edges_between(np.array([1]), np.array([3]))[0])
    tried = passed.with_practice(np.full(passed.num_edges, 2.0), np.zeros(passed.num_edges))
    assert np.delete(optimistic(tried).probability, new).tolist() == [0.5] * 4
    assert optimistic(tried).probability[new] == 0
    assert optimistic(passed).probability[new] == 0


def test_what_sometimes_succeeds_is_pursued_more_often_than_what_never_or_always_does():
    # Set 1 is always reached from 0, set 2 from there in half of the attempts, and set 3 never.
    table = LINE.with_practice(np.array([98.0, 98.0, 98.0, 98.0]), np.array([98.0, 0.0, 49.0, 0.0]))
    far = plan_to_learnable_sets(table, padded_to=5, key=jax.random.key(0))
    assert (sorted(far.number[:4].tolist()), set(far.number[4:].tolist())) == ([0, 1, 2, 3], {UNKNOWN})
    assert set(far.edges[4:].ravel().tolist()) == {UNKNOWN}
    weight = {number: row for number, row in zip(far.number[:4].tolist(), far.weight.tolist(), strict=False)}
    rarity = {1: 99**-0.5, 2: 50**-0.5, 3: 1.0}
    success = {1: 0.99, 2: 0.99 * 0.5, 3: 0.01}
    learnable = {target: success[target] * (1 - success[target]) * rarity[target] for target in rarity}
    for target in rarity:
        share = rarity[target] / sum(rarity.values()) + learnable[target] / sum(learnable.values())
        assert weight[target][0] == pytest.approx(share, rel=1e-4)
    assert weight[3][2] == pytest.approx(2.0), "from set 2 nothing else can be reached"
    assert weight[0][0] == weight[1][2] == 0
    chosen, _ = far.keep_or_draw(
        jnp.full(500, UNKNOWN), jnp.zeros(500, jnp.int32), jnp.zeros(500, jnp.int32), key=jax.random.key(1)
    )
    assert float((far.number[chosen] == 2).mean()) == pytest.approx(weight[2][0] / 2, abs=0.06)


def path_to_last(table: TransitionTable, horizon: float | None) -> list[int]:
    """The edges of practice's paths to set 2."""
    far = plan_to_learnable_sets(table, horizon, padded_to=3, key=jax.random.key(0))
    return dict(zip(far.number.tolist(), far.edges.tolist(), strict=True))[2]


def test_practice_takes_the_paths_of_execution_if_it_is_given_the_length_of_an_episode():
    """A doubtful direct way that is fast, and a detour of which nothing is known any more."""
    ways = table_of(numbers(3), [((0,), (1,), 1.0), ((0,), (2,), 1.0), ((1,), (2,), 1.0)])
    table = ways.with_practice(np.array([0.0, 100, 0]), np.array([0.0, 70, 0]), np.array([0.0, 200, 0]))
    start, last = np.array([0], np.int32), partial_goal([2])
    detour, direct = [0, 2, UNKNOWN], [1, UNKNOWN, UNKNOWN]
    assert path_to_last(table, None) == detour, "optimism: what was not tried succeeds"
    assert len(Planner(table, 10.0).plan(start, last).durations) == 1
    assert path_to_last(table, 10.0) == direct


def test_of_ways_that_are_equally_safe_it_is_then_the_fastest():
    ways = table_of(numbers(3), [((0,), (1,), 1.0), ((0,), (2,), 1.0), ((1,), (2,), 1.0)])
    always, steps = np.full(3, 1e6), np.array([2e6, 50e6, 2e6])
    assert path_to_last(ways.with_practice(always, always, steps), 100.0) == [0, 2, UNKNOWN]


def test_practice_alternates_between_what_is_possible_and_what_execution_would_do(monkeypatch: pytest.MonkeyPatch):
    horizons = []

    def plan(model: TransitionTable, horizon: float | None, **settings: Any) -> FarSets:
        horizons.append(horizon)
        return plan_to_learnable_sets(model, horizon, **settings)

    monkeypatch.setattr(practise, "plan_to_learnable_sets", plan)
    monkeypatch.setattr(calibrate, "SHARE", 0.0)
    config = replace(
        TINY,
        explore=replace(TINY.explore, num_envs=4),
        practise=PractiseConfig(
            method="dqn",
            steps=160,
            num_envs=4,
            rollout_length=5,
            rollouts_per_epoch=2,
            hidden_size=8,
            goal_sampling="planned",
        ),
    )
    algorithm.train(Hosted(RING), config, key=jax.random.key(0))
    assert horizons == [None, RING.episode_steps] * 2


@pytest.mark.slow
def test_an_agent_that_practised_along_plans_reaches_its_goals():
    config = replace(TINY, practise=replace(TINY.practise, goal_sampling="planned"))
    agent = algorithm.train(RING, config, key=jax.random.key(0))
    assert agent.table.spent is not None
    # In the ring every attempt takes one step.
    np.testing.assert_allclose(agent.table.spent, agent.table.attempts)
    result = evaluate(agent, episodes=40)
    assert result.success == 1
    assert result.oracle is None
