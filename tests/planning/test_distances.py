from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribute_planner.attributes import Goal
from attribute_planner.planning import bellman_ford
from attribute_planner.planning.distances import NOWHERE, ShortestPaths
from tests.probes import numbers, table_of

SETS = 6
edges = st.dictionaries(
    st.tuples(st.integers(0, SETS - 1), st.integers(0, SETS - 1)).filter(lambda pair: pair[0] != pair[1]),
    st.sampled_from([0.0, 0.001, 0.1, 0.3, 0.5, 0.9, 1.0]),
    min_size=1,
    max_size=20,
)


def best_probability(edges: dict[tuple[int, int], float], start: int, goals: set[int]) -> float:
    """The most probable way to any goal, by following every path that visits no set twice."""

    def follow(here: int, visited: frozenset[int]) -> float:
        if here in goals:
            return 1.0
        onward = [(to, chance) for (source, to), chance in edges.items() if source == here and to not in visited]
        return max([chance * follow(to, visited | {to}) for to, chance in onward], default=0.0)

    return follow(start, frozenset({start}))


@settings(deadline=None)
@given(edges, st.sets(st.integers(0, SETS - 1), min_size=1, max_size=3))
def test_costs_and_paths_are_those_of_brute_force(edges, goals):
    table = table_of(numbers(SETS), [((s,), (t,), p) for (s, t), p in edges.items()], also=[(i,) for i in range(SETS)])
    distances = ShortestPaths(table).to_sets(np.array(sorted(goals)))
    for start in range(SETS):
        expected = best_probability(edges, start, goals)
        assert np.exp(-distances.cost[start]) == pytest.approx(expected, abs=1e-6)
        path = distances.path(start)
        if expected > 0:
            assert path[-1] in goals
            assert np.prod([edges[pair] for pair in pairwise(path)]) == pytest.approx(expected)
        else:
            assert path == (start,)
            assert distances.successor[start] == NOWHERE


def test_of_equally_probable_ways_the_shortest_is_taken():
    table = table_of(numbers(4), [((0,), (1,), 1.0), ((1,), (2,), 1.0), ((2,), (3,), 1.0), ((0,), (3,), 1.0)])
    assert ShortestPaths(table).to_sets(np.array([3])).path(0) == (0, 3)


def test_without_a_goal_there_is_no_way():
    distances = ShortestPaths(table_of(numbers(2), [((0,), (1,), 1.0)])).to_sets(np.array([], int))
    assert np.isinf(distances.cost).all()
    assert distances.path(0) == (0,)


@settings(deadline=None)
@given(edges, st.lists(st.tuples(st.integers(0, SETS), st.booleans()), min_size=1, max_size=3))
def test_many_goals_at_once_are_as_far_as_each_by_itself(edges, wanted):
    # One number more than there are sets: nothing satisfies a goal that asks for it.
    space, everywhere = numbers(SETS + 1), [(i,) for i in range(SETS)]
    table = table_of(space, [((s,), (t,), p) for (s, t), p in edges.items()], also=everywhere)
    paths = ShortestPaths(table, step_cost=0.1)
    goals = [Goal(np.array([number]), np.array([True]), np.array([or_more])) for number, or_more in wanted]
    for goal, distances in zip(goals, paths.to_goals(goals), strict=True):
        alone = paths.to_goal(goal)
        assert distances.cost == pytest.approx(alone.cost, abs=1e-5)
        assert ((distances.successor == NOWHERE) == (alone.successor == NOWHERE)).all()
        for start in np.flatnonzero(np.isfinite(alone.cost)).tolist():
            path = distances.path(start)
            assert goal.satisfied_by(table.values[path[-1]])
            assert sum(paths.cost[table.edge(*pair)] for pair in pairwise(path)) == pytest.approx(alone.cost[start])


def test_goals_that_are_too_many_for_one_sweep_share_several(monkeypatch: pytest.MonkeyPatch):
    table = table_of(numbers(4), [((0,), (1,), 0.5), ((1,), (2,), 0.5), ((2,), (3,), 0.5)])
    paths, goals = ShortestPaths(table, step_cost=0.1), [Goal(np.array([n]), np.array([True])) for n in range(4)]
    together = paths.to_goals(goals)
    monkeypatch.setattr(bellman_ford, "MOST_NUMBERS", 3 * table.num_edges)
    for distances, again in zip(together, paths.to_goals(goals), strict=True):
        np.testing.assert_array_equal(distances.cost, again.cost)
        np.testing.assert_array_equal(distances.successor, again.successor)
