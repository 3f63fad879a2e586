"""Search on a transition model: from every attribute set the cheapest way to a goal, exact on a listed model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import jax
import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csc_array, csr_array
from scipy.sparse.csgraph import dijkstra

from attribute_planner.attributes import Goal
from attribute_planner.planning.bellman_ford import bellman_ford
from attribute_planner.planning.episode_model import edge_cost
from attribute_planner.transitions.model import TransitionModel
from attribute_planner.transitions.numbering import UNKNOWN

TIE_BREAKER = 1e-9
"""Added to the cost of each transition (nats), so that of equally probable paths the shortest is taken."""


@dataclass(frozen=True)
class Distances:
    """The best path from every set of a table to a goal.

    cost: −log of the value of the best path; infinite where there is none.
    successor: the next set on that path; `UNKNOWN` at the goal and where there is no path.
    graph: where the costs come from.
    """

    cost: Float[np.ndarray, " N"]
    successor: Int[np.ndarray, " N"]
    graph: "Graph"

    def path(self, number: int) -> tuple[int, ...]:
        """The sets on the best path, beginning with `number`."""
        path, successor = [number], self.successor.item
        while (number := successor(number)) != UNKNOWN:
            path.append(number)
        return tuple(path)

    @cached_property
    def steps(self) -> Float[np.ndarray, " N"]:
        """Expected environment steps along the best path; 0 at the goal and where there is no path."""
        return self.sum_along(self.graph.attempt_steps)

    def sum_along(self, of: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Float[np.ndarray, " N"]:
        """The sum along the best path of what `of` says of each transition; 0 at the goal and where there is no path.

        of: takes the sets `[n]` in which transitions begin, and those in which they end.
        """
        on_a_path = np.flatnonzero(self.successor != UNKNOWN)
        total, onward = np.zeros(len(self.cost)), np.arange(len(self.cost))
        onward[on_a_path] = self.successor[on_a_path]
        total[on_a_path] = of(on_a_path, onward[on_a_path])
        # Pointer jumping: after k rounds, `total` covers 2^k transitions.
        while (onward[onward] != onward).any():
            total, onward = total + total[onward], onward[onward]
        return total

    def value(self, numbers: Int[np.ndarray, " K"], left: Float[np.ndarray, " K"] | float) -> Float[np.ndarray, " K"]:
        """The probability of reaching the goal in time, with `left` steps remaining; 0 for unknown sets (−1)."""
        cost = self.cost[numbers]
        if not np.isfinite(self.graph.horizon):
            return np.where(numbers < 0, 0.0, np.exp(-cost))
        steps = self.steps[numbers]
        success = np.exp(steps / self.graph.horizon - cost)
        return np.where(numbers < 0, 0.0, success * self.graph.in_time(steps, left))


class Graph:
    """A listed transition model with the cost of each transition. Each goal takes one Dijkstra on the reversed graph.

    horizon: number of steps of an episode, for the cost of durations; infinite to ignore durations.
    probability: that of each transition; by default c_π.
    """

    def __init__(
        self, model: TransitionModel, horizon: float = np.inf, probability: Float[np.ndarray, " E"] | None = None
    ) -> None:
        self.listing, self.horizon = model.listing(), horizon
        self.probability = self.listing.probability if probability is None else probability

    @cached_property
    def cost(self) -> Float[np.ndarray, " E"]:
        """The cost of each transition; infinite if it is not possible."""
        return self._costs()

    def _costs(self) -> Float[np.ndarray, " E"]:
        steps = self.listing.steps if np.isfinite(self.horizon) else None
        cost = edge_cost(self.probability, steps, self.horizon)
        cost += TIE_BREAKER
        return cost

    def in_time(self, steps: Float[np.ndarray, " K"], left: Float[np.ndarray, " K"] | float) -> Float[np.ndarray, " K"]:
        """The probability that so many steps are in time, with `left` steps remaining; 1 if durations are ignored."""
        if not np.isfinite(self.horizon):
            return np.ones(len(steps))
        return np.exp(-np.where(steps > 0, steps / np.maximum(left, 1e-9), 0.0))

    def attempt_steps(self, source: Int[np.ndarray, " B"], target: Int[np.ndarray, " B"]) -> Float[np.ndarray, " B"]:
        """Steps of attempts at transitions that exist."""
        return np.maximum(self.listing.steps[self.listing.edges_between(source, target)], 1.0)

    @cached_property
    def reversed(self) -> csr_array:
        """The graph with every edge reversed: one search from the goal finds the ways from everywhere."""
        cost, target, starts = self._costs(), self.listing.target, self.listing.row_starts
        possible = np.isfinite(cost)
        if not possible.all():
            starts = np.concatenate([[0], np.cumsum(possible)])[starts]
            cost, target = cost[possible], target[possible]
        size = self.listing.num_nodes
        # Edges are sorted by source: the columns of the reversed graph.
        return csc_array((cost, target, starts.astype(np.int32)), shape=(size, size)).tocsr()

    def to_goal(self, goal: Goal) -> Distances:
        """The ways to the nearest of all sets that satisfy a goal."""
        return self.to_sets(self.listing.satisfying(goal))

    def to_sets(self, numbers: Int[np.ndarray, " n"]) -> Distances:
        """The ways to the nearest of some sets."""
        size = self.listing.num_nodes
        if not len(numbers):
            return Distances(np.full(size, np.inf), np.full(size, UNKNOWN, np.int32), self)
        cost, successor, _ = dijkstra(self.reversed, indices=numbers, min_only=True, return_predecessors=True)
        return Distances(cost, np.maximum(successor, UNKNOWN), self)  # SciPy's own sentinel is −9999

    @property
    def finds_many_at_once(self) -> bool:
        """Whether many goals take hardly longer than one: on an accelerator, if 32-bit sums resolve every cost."""
        return jax.default_backend() != "cpu" and np.isfinite(self.horizon)

    def to_goals(self, goals: Sequence[Goal]) -> list[Distances]:
        """The ways to each of several goals, all at once."""
        possible = np.isfinite(self.cost)
        source, target = self.listing.source[possible], self.listing.target[possible]
        ends = [self.listing.satisfying(goal) for goal in goals]
        costs, successors = bellman_ford(source, target, self.cost[possible], self.listing.num_nodes, ends)
        return [Distances(cost, successor, self) for cost, successor in zip(costs, successors, strict=True)]
