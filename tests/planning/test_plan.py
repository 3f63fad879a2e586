from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.planning.plan import Plan, Planner
from attribute_planner.planning.search import Graph
from attribute_planner.transitions.table import TransitionTable
from tests.probes import numbers, partial_goal, table_of

LAMP_AND_N = AttributeSpace((Attribute("lamp"), Attribute("n", range(4))))


@pytest.fixture
def table() -> TransitionTable:
    """Two ways from (0, 0) to n = 2: by way of n = 1, or with the lamp on; (1, 3) is out of reach."""
    return table_of(
        LAMP_AND_N,
        [
            ((0, 0), (0, 1), 0.5),
            ((0, 1), (0, 2), 0.5),
            ((0, 0), (1, 0), 0.9),
            ((1, 0), (1, 2), 0.8),
            ((1, 3), (0, 0), 1.0),
        ],
    )


def plan(table: TransitionTable, start: tuple[int, int], goal: list[int | None]) -> Plan:
    return Planner(table).plan(np.array(start, np.int32), partial_goal(goal))


def test_a_plan_has_sets_changes_and_probabilities(table: TransitionTable):
    found = plan(table, (0, 0), [1, 2])
    assert found.reachable
    assert found.steps == [{"lamp": False, "n": 0}, {"lamp": True, "n": 0}, {"lamp": True, "n": 2}]
    assert found.changes == [{"lamp": True}, {"n": 2}]
    assert found.edges == pytest.approx((0.9, 0.8))
    assert found.probability == pytest.approx(0.72)
    assert str(found).splitlines()[0] == "2 steps, probability 72.0%"
    assert repr(plan(table, (0, 0), [1, None])) == "Plan(lamp=true: 1 step, probability 90.0%)"


def test_a_partial_goal_takes_the_nearest_set_that_satisfies_it(table: TransitionTable):
    assert plan(table, (0, 0), [None, 2]).steps[-1] == {"lamp": True, "n": 2}
    assert plan(table, (0, 1), [None, 2]).steps[-1] == {"lamp": False, "n": 2}
    # If the lamp has to be off, only the less probable path is left.
    assert plan(table, (0, 0), [0, 2]).probability == pytest.approx(0.25)


def test_a_satisfied_goal_needs_no_step(table: TransitionTable):
    found = plan(table, (1, 0), [1, None])
    assert (found.reachable, found.probability, len(found.steps), found.edges) == (True, 1.0, 1, ())


def test_a_goal_can_be_satisfied_in_an_unknown_set(table: TransitionTable):
    found = plan(table, (1, 1), [None, 1])
    assert (found.reachable, found.steps) == (True, [{"lamp": True, "n": 1}])


@pytest.mark.parametrize(
    ("start", "goal", "reason"),
    [
        ((0, 0), [0, 3], "no attribute set that was ever seen satisfies the goal"),
        ((1, 1), [1, 2], "the current attribute set was never seen"),
        ((0, 0), [1, 3], "no chain of transitions that ever worked"),
    ],
)
def test_without_a_path_the_plan_gives_the_reason(table: TransitionTable, start, goal, reason):
    found = plan(table, start, goal)
    assert not found.reachable
    assert reason in found.reason
    assert found.probability == 0.0
    assert found.steps == [LAMP_AND_N.decode(np.array(start))]
    assert str(found) == f"No plan: {found.reason}"


def test_a_transition_that_never_worked_is_on_no_path():
    table = table_of(numbers(2), [((0,), (1,), 0.0)])
    assert "ever worked" in Planner(table).plan(np.array([0]), partial_goal([1])).reason


@given(st.integers(0, 2**32))
def test_plans_can_be_replayed(seed):
    random = np.random.default_rng(seed)
    pairs = {tuple(pair) for pair in random.integers(0, 8, (14, 2)).tolist() if pair[0] != pair[1]} or {(0, 1)}
    edges = {pair: float(random.uniform(0.1, 1)) for pair in pairs}
    table = table_of(numbers(8), [((s,), (t,), p) for (s, t), p in edges.items()])
    planner = Planner(table)
    for start in table.values[:, 0].tolist():
        for goal in range(8):
            found = planner.plan(np.array([start]), partial_goal([goal]))
            if not found.reachable:
                continue
            walked = [step["n"] for step in found.steps]
            assert (walked[0], walked[-1]) == (start, goal)
            assert found.edges == pytest.approx([edges[pair] for pair in pairwise(walked)])


def test_distances_are_computed_once_per_goal(table: TransitionTable):
    planner = Planner(table)
    goal, same, other = partial_goal([None, 2]), partial_goal([None, 2]), partial_goal([0, 2])
    first = planner.distances(goal)
    assert planner.distances(goal) is first
    assert planner.distances(other) is not first
    assert planner.distances(same) is first


def test_the_oldest_goal_leaves_the_cache_first(table: TransitionTable):
    planner = Planner(table, cached_goals=2)
    first, second, third = (planner.distances(partial_goal([None, n])) for n in range(3))
    assert planner.distances(partial_goal([None, 1])) is second
    assert planner.distances(partial_goal([None, 2])) is third
    assert planner.distances(partial_goal([None, 0])) is not first


def test_many_goals_are_found_at_once_where_that_is_faster(table: TransitionTable, monkeypatch: pytest.MonkeyPatch):
    goals = [partial_goal([lamp, n]) for lamp in (None, 0, 1) for n in range(4)]
    start = np.zeros(2, np.int32)
    one_by_one = Planner(table, 20.0)
    paths = [one_by_one.plan(start, goal).path for goal in goals]
    monkeypatch.setattr(Graph, "finds_many_at_once", True)
    planner = Planner(table, 20.0, cached_goals=2)
    known = planner.distances(goals[0])
    planner.prepare(goals)
    monkeypatch.setattr(Graph, "to_goal", None)  # all of them are cached, although they are more than two
    assert planner.distances(goals[0]) is known
    assert [planner.plan(start, goal).path for goal in reversed(goals)] == paths[::-1]
