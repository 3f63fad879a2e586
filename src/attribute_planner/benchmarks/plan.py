"""`benchmark plan`: planning on a synthetic graph of 50,000 sets and 420,000 edges."""

import time

import numpy as np
from scipy.sparse.csgraph import dijkstra

from attribute_planner.attributes import Attribute, AttributeSpace, Goal
from attribute_planner.benchmarks.measuring import Measurement, seconds, times
from attribute_planner.planning.plan import Planner
from attribute_planner.planning.search import Graph
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import TransitionTable, table_of_counts

SETS, EDGES, GOALS = 50_000, 420_000, 15
MANY = 256
"""Number of goals whose distances are computed together."""

HORIZON = 20.0
"""Environment steps of an episode."""
PEER = "one bare call of SciPy's Dijkstra"


def measure() -> list[Measurement]:
    """Time of a plan for a new goal, of a replan for a known goal, and per goal for many new goals at once."""
    table = synthetic_table(np.random.default_rng(0))
    bare, new = _new_goal_seconds(table)
    again = _replan_seconds(table)
    return [
        times("new goal", 1e3 * new, 1e3 * bare, "ms", PEER),
        times("replan on a known goal", 1e6 * again, 1e6 * bare, "µs", PEER),
        times(f"one of {MANY} new goals, all at once", 1e3 * _many_goals_seconds(table), 1e3 * bare, "ms", PEER),
    ]


def synthetic_table(random: np.random.Generator) -> TransitionTable:
    """A random graph in which every edge has attempts."""
    space = AttributeSpace(tuple(Attribute(f"a{i}", range(32)) for i in range(4)))
    keys = random.choice(2**20, SETS, replace=False).astype(np.uint32)[:, None]
    source, target = random.integers(0, SETS, (2, int(EDGES * 1.01)))
    ring = np.arange(SETS)
    source, target = np.concatenate([ring, source])[:EDGES], np.concatenate([(ring + 1) % SETS, target])[:EDGES]
    counts = TransitionCounts(1)
    counts.record(keys[source], keys[target])
    table = table_of_counts(space, counts)
    attempts = random.integers(1, 50, table.num_edges).astype(float)
    return table.with_practice(attempts, attempts * random.uniform(0.1, 1.0, table.num_edges))


def _new_goal_seconds(table: TransitionTable) -> tuple[float, float]:
    """Median seconds of the bare Dijkstra and of a whole plan, for the same goals, one after the other."""
    planner, random = Planner(table), np.random.default_rng(1)
    planner.plan(table.values[0], _goal(table, 1))
    bare, ours = [], []
    for number in random.integers(0, table.num_nodes, GOALS):
        graph = planner.graph.reversed
        bare.append(seconds(lambda n=number, g=graph: dijkstra(g, indices=n, return_predecessors=True), repeats=1))
        ours.append(_seconds_once(planner, table, int(number)))
    return float(np.median(bare)), float(np.median(ours))


def _seconds_once(planner: Planner, table: TransitionTable, number: int) -> float:
    """Time of a plan for a goal that is new to the planner; a first call to compile would make it a known one."""
    goal, start = _goal(table, number), table.values[(number + 7) % table.num_nodes]
    begin = time.perf_counter()
    planner.plan(start, goal)
    return time.perf_counter() - begin


def _replan_seconds(table: TransitionTable) -> float:
    planner, goal = Planner(table), _goal(table, 5)
    starts = table.values[np.random.default_rng(2).integers(0, table.num_nodes, 1000)]
    return seconds(lambda: [planner.plan(start, goal) for start in starts]) / len(starts)


def _many_goals_seconds(table: TransitionTable) -> float:
    """Seconds per goal if the distances to many goals are computed in one call."""
    paths = Graph(table, HORIZON)
    goals = [_goal(table, int(number)) for number in np.random.default_rng(3).integers(0, table.num_nodes, MANY)]
    return seconds(lambda: paths.to_goals(goals), repeats=1) / MANY


def _goal(table: TransitionTable, number: int) -> Goal:
    return Goal(table.values[number], np.ones(len(table.space), bool))
