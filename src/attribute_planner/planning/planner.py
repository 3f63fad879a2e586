"""Plans: the most probable path through the table from where the agent is to what it was asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attribute_planner.attributes import AttributeSpace, Goal, Value, goal_from_names
from attribute_planner.parts.table import UNKNOWN, TransitionTable
from attribute_planner.planning.distances import Distances, ShortestPaths

CACHED_GOALS = 64
"""For how many goals distances are kept; the oldest is forgotten first."""


@dataclass(frozen=True)
class Plan:
    """A path through attribute space.

    space: what the values mean.
    goal: what was asked for.
    values: `int32[m + 1, A]` the sets on the path, the current one first; only that one if there is no path.
    edges: the probability c_π of each transition on it.
    reachable: whether the path ends where the goal is satisfied.
    reason: why there is no path, in words; empty if there is one.
    """

    space: AttributeSpace
    goal: Goal
    values: np.ndarray
    edges: tuple[float, ...]
    reachable: bool
    reason: str = ""

    @property
    def probability(self) -> float:
        """The product of the edges' probabilities; zero if the goal cannot be reached."""
        return float(np.prod(self.edges)) if self.reachable else 0.0

    @cached_property
    def steps(self) -> list[dict[str, Value]]:
        """The attribute sets on the path, by name, the current one first."""
        return [self.space.decode(values) for values in self.values]

    @cached_property
    def changes(self) -> list[dict[str, Value]]:
        """What each transition on the path changes."""
        return [
            {name: value for name, value in after.items() if before[name] != value}
            for before, after in zip(self.steps, self.steps[1:], strict=False)
        ]

    def __str__(self) -> str:
        if not self.reachable:
            return f"No plan: {self.reason}"
        lines = [f"{len(self.edges)} steps, probability {self.probability:.1%}"]
        for number, (change, probability) in enumerate(zip(self.changes, self.edges, strict=True), start=1):
            shown = ", ".join(f"{name} → {value}" for name, value in change.items())
            lines.append(f"{number:3d}. {shown}  ({probability:.1%})")
        return "\n".join(lines)


class Planner:
    """Plans on one table. Distances are kept per goal: planning again for a known goal is a look-up."""

    def __init__(self, table: TransitionTable) -> None:
        self.table = table
        self.paths = ShortestPaths(table)
        self._distances: dict[tuple[int, int], Distances] = {}

    def distances(self, goal: Goal) -> Distances:
        """How far every set is from the goal."""
        key = goal.key(self.table.space)
        if key not in self._distances:
            if len(self._distances) >= CACHED_GOALS:
                self._distances.pop(next(iter(self._distances)))
            self._distances[key] = self.paths.to_goal(goal)
        return self._distances[key]

    def plan(self, values: np.ndarray, goal: Goal) -> Plan:
        """The most probable path from attribute values `[A]` to the goal."""
        if goal.satisfied_by(values):
            return Plan(self.table.space, goal, values[None], (), reachable=True)
        number = self.table.number_of(np.asarray(self.table.space.pack(values)))
        if number == UNKNOWN:
            return self._no_plan(values, goal, "the current attribute set was never seen in training.")
        distances = self.distances(goal)
        if not np.isfinite(distances.cost[number]):
            return self._no_plan(values, goal, self._why_unreachable(goal))
        path = np.array(distances.path(number))
        return Plan(self.table.space, goal, self.table.values[path], self._probabilities(path), reachable=True)

    def plan_named(self, attributes: Mapping[str, Value], goal: Mapping[str, Value]) -> Plan:
        """The same, by names."""
        return self.plan(self.table.space.encode(attributes), goal_from_names(self.table.space, goal))

    def edge(self, source: int, target: int) -> int:
        """The number of the edge between two sets, which must exist."""
        row = self.table.edges_of(source)
        return row.start + int(np.searchsorted(self.table.target[row], target))

    def _probabilities(self, path: np.ndarray) -> tuple[float, ...]:
        edges = [self.edge(source, target) for source, target in zip(path, path[1:], strict=False)]
        return tuple(self.table.probability[edges].tolist())

    def _no_plan(self, values: np.ndarray, goal: Goal, reason: str) -> Plan:
        return Plan(self.table.space, goal, values[None], (), reachable=False, reason=reason)

    def _why_unreachable(self, goal: Goal) -> str:
        if not len(self.table.satisfying(goal)):
            return "no attribute set that was ever seen satisfies the goal."
        return "no chain of transitions that ever worked leads from the current attribute set to the goal."
