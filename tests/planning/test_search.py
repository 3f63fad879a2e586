from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribute_planner.attributes import Goal
from attribute_planner.planning import bellman_ford
from attribute_planner.planning.search import Graph
from attribute_planner.transitions.numbering import UNKNOWN
from attribute_planner.transitions.table import TransitionTable
from tests.probes import numbers, table_of

SETS = 6
edges = st.dictionaries(
    st.tuples(st.integers(0, SETS - 1), st.integers(0, SETS - 1)).filter(lambda pair: pair[0] != pair[1]),
    st.sampled_from([0.0, 0.001, 0.1, 0.3, 0.5, 0.9, 1.0]),
    min_size=1,
    max_size=20,
)
goal_sets = st.sets(st.integers(0, SETS - 1), min_size=1, max_size=3)


def table_with(edges: dict[tuple[int, int], float], *, size: int = SETS, seed: int | None = None) -> TransitionTable:
    """The table of these edges on all sets; with a seed, attempts took 1 to 9 steps."""
    every = [(i,) for i in range(SETS)]
    table = table_of(numbers(size), [((s,), (t,), p) for (s, t), p in edges.items()], also=every)
    if seed is None:
        return table
    return replace(table, spent=table.attempts * np.random.default_rng(seed).uniform(1, 9, table.num_edges))


def best_probability(edges: dict[tuple[int, int], float], start: int, goals: set[int]) -> float:
    """The most probable way to any goal, by following every path that visits no set twice."""

    def follow(here: int, visited: frozenset[int]) -> float:
        if here in goals:
            return 1.0
        onward = [(to, chance) for (source, to), chance in edges.items() if source == here and to not in visited]
        return max([chance * follow(to, visited | {to}) for to, chance in onward], default=0.0)

    return follow(start, frozenset({start}))


@given(edges, goal_sets)
def test_published_costs_and_paths_are_those_of_brute_force(edges, goals):
    distances = Graph(table_with(edges)).to_sets(np.array(sorted(goals)))
    for start in range(SETS):
        expected = best_probability(edges, start, goals)
        assert np.exp(-distances.cost[start]) == pytest.approx(expected, abs=1e-6)
        path = distances.path(start)
        if expected > 0:
            assert path[-1] in goals
            assert np.prod([edges[pair] for pair in pairwise(path)]) == pytest.approx(expected)
        else:
            assert path == (start,)
            assert distances.successor[start] == UNKNOWN


@given(edges, goal_sets, st.integers(0, 2**32))
def test_costs_with_durations_are_those_of_networkx(edges, goals, seed):
    table = table_with(edges, seed=seed)
    graph = Graph(table, horizon=30.0)
    peer = nx.DiGraph()
    peer.add_nodes_from(range(SETS))
    possible = [each for each in zip(table.target, table.source, graph.cost, strict=True) if np.isfinite(each[2])]
    peer.add_weighted_edges_from(possible)
    expected = nx.multi_source_dijkstra_path_length(peer, goals)
    assert graph.to_sets(np.array(sorted(goals))).cost == pytest.approx([expected.get(i, np.inf) for i in range(SETS)])


@given(edges, goal_sets, st.integers(0, 2**32))
def test_steps_are_the_sum_along_the_path(edges, goals, seed):
    table = table_with(edges, seed=seed)
    graph = Graph(table, horizon=30.0)
    distances = graph.to_sets(np.array(sorted(goals)))
    for start in range(SETS):
        total = sum(max(table.duration[table.edge(*pair)], 1.0) for pair in pairwise(distances.path(start)))
        assert distances.steps[start] == pytest.approx(total)


def test_steps_of_a_long_chain():
    length = 100
    space = numbers(length + 1)
    graph = Graph(table_of(space, [((i,), (i + 1,), 1.0) for i in range(length)]), horizon=500.0)
    distances = graph.to_sets(np.array([length]))
    np.testing.assert_allclose(distances.steps, length - np.arange(length + 1))


@given(edges, goal_sets, st.integers(0, 2**32))
def test_value_falls_with_the_steps_that_are_left(edges, goals, seed):
    distances = Graph(table_with(edges, seed=seed), horizon=30.0).to_sets(np.array(sorted(goals)))
    every = np.arange(SETS)
    values = np.stack([distances.value(every, left) for left in (60.0, 30.0, 10.0, 1.0, 0.0)])
    assert (np.diff(values, axis=0) <= 1e-12).all()
    on_the_way = distances.successor != UNKNOWN
    assert (values[2][on_the_way] < values[1][on_the_way]).all()
    assert (values[:, sorted(goals)] == 1.0).all(), "at the goal, no time is needed"
    assert (values[:, np.isinf(distances.cost)] == 0.0).all()
    # With the horizon left, the value is what the cost says.
    np.testing.assert_allclose(values[1], np.exp(-distances.cost))


def test_value_by_hand():
    # One step of the 4 that are left. An unknown set is worth nothing.
    distances = Graph(table_of(numbers(2), [((0,), (1,), 0.6)]), horizon=10.0).to_sets(np.array([1]))
    assert distances.value(np.array([0, 1, -1]), 4.0) == pytest.approx([0.6 * np.exp(-1 / 4), 1.0, 0.0])


def test_without_a_horizon_time_does_not_count():
    distances = Graph(table_of(numbers(2), [((0,), (1,), 0.6)])).to_sets(np.array([1]))
    assert distances.value(np.array([0]), 1.0) == pytest.approx(distances.value(np.array([0]), 50.0)) == 0.6


def test_of_equally_probable_paths_the_shortest_is_taken():
    table = table_of(numbers(4), [((0,), (1,), 1.0), ((1,), (2,), 1.0), ((2,), (3,), 1.0), ((0,), (3,), 1.0)])
    assert Graph(table).to_sets(np.array([3])).path(0) == (0, 3)


def test_the_shortest_is_taken_also_if_a_longer_one_is_found_first():
    # 0.5³ by way of 2 and 3, 0.125 by way of 1: the search from 4 comes to 0 by way of 3 and 2 first.
    halves = [((0,), (2,), 0.5), ((2,), (3,), 0.5), ((3,), (4,), 0.5)]
    table = table_of(numbers(5), [*halves, ((0,), (1,), 1.0), ((1,), (4,), 0.125)])
    assert Graph(table).to_sets(np.array([4])).path(0) == (0, 1, 4)


def test_a_longer_path_of_reliable_transitions_loses_when_time_is_short():
    # By way of 1 and 2 with certainty, in 30 steps; directly in 10 steps, but not from every state.
    table = table_of(numbers(4), [((0,), (1,), 1.0), ((1,), (2,), 1.0), ((2,), (3,), 1.0), ((0,), (3,), 0.6)])
    table = replace(table, spent=10 * table.attempts)
    paths = [Graph(table, horizon).to_sets(np.array([3])).path(0) for horizon in (1000.0, 20.0)]
    assert paths == [(0, 1, 2, 3), (0, 3)]


def test_without_a_goal_there_is_no_path():
    distances = Graph(table_of(numbers(2), [((0,), (1,), 1.0)])).to_sets(np.array([], int))
    assert np.isinf(distances.cost).all()
    assert distances.path(0) == (0,)
    assert distances.steps.tolist() == [0.0, 0.0]


@given(edges, st.lists(st.tuples(st.integers(0, SETS), st.booleans()), min_size=1, max_size=3))
def test_bellman_ford_finds_what_dijkstra_finds(edges, wanted):
    # One number more than there are sets: no set satisfies a goal that asks for it.
    table = table_with(edges, size=SETS + 1)
    graph = Graph(table, horizon=10.0)
    goals = [Goal(np.array([number]), np.array([True]), np.array([or_more])) for number, or_more in wanted]
    for goal, distances in zip(goals, graph.to_goals(goals), strict=True):
        alone = graph.to_goal(goal)
        assert distances.cost == pytest.approx(alone.cost, rel=1e-5, abs=1e-5)
        assert ((distances.successor == UNKNOWN) == (alone.successor == UNKNOWN)).all()
        for start in np.flatnonzero(np.isfinite(alone.cost)).tolist():
            path = distances.path(start)
            assert goal.satisfied_by(table.values[path[-1]])
            cost = sum(graph.cost[table.edge(*pair)] for pair in pairwise(path))
            assert cost == pytest.approx(alone.cost[start], rel=1e-5)


def test_more_goals_than_fit_one_sweep_take_several(monkeypatch: pytest.MonkeyPatch):
    table = table_of(numbers(4), [((0,), (1,), 0.5), ((1,), (2,), 0.5), ((2,), (3,), 0.5)])
    graph, goals = Graph(table, 10.0), [Goal(np.array([n]), np.array([True])) for n in range(4)]
    together = graph.to_goals(goals)
    monkeypatch.setattr(bellman_ford, "MOST_NUMBERS", 3 * table.num_edges)
    for distances, again in zip(together, graph.to_goals(goals), strict=True):
        np.testing.assert_array_equal(distances.cost, again.cost)
        np.testing.assert_array_equal(distances.successor, again.successor)


def test_within_an_episode_a_more_probable_path_is_taken_although_it_is_longer():
    # By way of 1 with certainty; the steps of the episode are too many to matter.
    table = table_of(numbers(3), [((0,), (1,), 1.0), ((1,), (2,), 1.0), ((0,), (2,), 0.99)])
    assert Graph(table, horizon=1e6).to_sets(np.array([2])).path(0) == (0, 1, 2)
    assert Graph(table, horizon=10.0).to_sets(np.array([2])).path(0) == (0, 2), "one step more costs a tenth"
