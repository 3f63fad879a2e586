"""Shortest paths on −log c_π: from every attribute set to a goal at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import jax
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from attribute_planner.attributes import Goal
from attribute_planner.planning.bellman_ford import SMALLEST_COST, relaxed
from attribute_planner.transitions.table import TransitionTable

NOWHERE = -9999
"""The successor of a set from which the goal cannot be reached, or which satisfies it (SciPy's own sentinel)."""

TIE_BREAKER = 1e-9
"""Added to −log c_π, so that of equally probable paths the shortest is taken."""


@dataclass(frozen=True)
class Distances:
    """How far every set of a table is from a goal.

    cost: `float[N]` −log of the probability of the best path; infinite where there is none.
    successor: `int32[N]` the next set on that path; `NOWHERE` at the goal and where there is no path.
    """

    cost: np.ndarray
    successor: np.ndarray

    def path(self, number: int) -> tuple[int, ...]:
        """The sets on the best path, beginning with `number` itself."""
        path, successor = [number], self.successor.item
        while (number := successor(number)) != NOWHERE:
            path.append(number)
        return tuple(path)


class ShortestPaths:
    """Answers for one table. The graph is turned around once; each goal then costs one Dijkstra.

    step_cost: what every edge costs beside −log c_π.
    hurry: what every environment step costs that an attempt at an edge is expected to take.
    """

    def __init__(self, table: TransitionTable, step_cost: float = TIE_BREAKER, time_cost: float = 0.0) -> None:
        self.table, self.step_cost, self.time_cost = table, step_cost, time_cost

    @cached_property
    def cost(self) -> np.ndarray:
        """`float64[E]` −log c_π of each edge and what its steps cost, infinite where c_π is zero."""
        with np.errstate(divide="ignore"):
            return -np.log(self.table.probability) + self.step_cost + self.time_cost * self.table.duration

    @cached_property
    def reversed_graph(self) -> csr_array:
        """The graph with every edge turned around, so that one search from the goal finds all ways to it."""
        table, possible = self.table, np.isfinite(self.cost)
        shape = (table.num_nodes, table.num_nodes)
        edges = (self.cost[possible], (table.target[possible], table.source[possible]))
        return csr_array(edges, shape=shape)

    @property
    def finds_many_at_once(self) -> bool:
        """Whether many goals together take hardly longer than one: with an accelerator, and if steps are not free."""
        return self.step_cost >= SMALLEST_COST and jax.default_backend() != "cpu"

    def to_goals(self, goals: Sequence[Goal]) -> list[Distances]:
        """Distances to the nearest of all sets that satisfy each goal, all goals at once."""
        table, possible = self.table, np.isfinite(self.cost)
        edges = table.source[possible], table.target[possible], self.cost[possible]
        costs, successors = relaxed(*edges, table.num_nodes, [table.satisfying(goal) for goal in goals])
        successors[successors < 0] = NOWHERE
        return [Distances(cost, successor) for cost, successor in zip(costs, successors, strict=True)]

    def to_goal(self, goal: Goal) -> Distances:
        """Distances to the nearest of all sets that satisfy a goal."""
        return self.to_sets(self.table.satisfying(goal))

    def to_sets(self, numbers: np.ndarray) -> Distances:
        """Distances to the nearest of some sets."""
        if not len(numbers):
            nothing = np.full(self.table.num_nodes, np.inf)
            return Distances(nothing, np.full(self.table.num_nodes, NOWHERE, np.int32))
        cost, successor, _ = dijkstra(self.reversed_graph, indices=numbers, min_only=True, return_predecessors=True)
        return Distances(cost, successor)
