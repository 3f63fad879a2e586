"""Plans: the most probable path through the table from where the agent is to what it was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attribute_planner.attributes import AttributeSpace, Goal, Value
from attribute_planner.planning.distances import TIE_BREAKER, Distances, ShortestPaths
from attribute_planner.transitions.table import UNKNOWN, TransitionTable

CACHED_GOALS = 64
"""For how many goals distances are kept, unless more were asked for at once; the oldest is forgotten first."""
FEW_GOALS = 8
"""Not worth the compiling."""


@dataclass(frozen=True)
class Plan:
    """A path through attribute space. Everything but the path itself is worked out when it is asked for.

    table: on which it was planned.
    goal: what was asked for.
    start: `int32[A]` the current set.
    path: numbers of the sets on the path, the current one first; empty if there is none.
    reason: why there is no path, in words; empty if there is one.
    """

    table: TransitionTable
    goal: Goal
    start: np.ndarray
    path: tuple[int, ...]
    reason: str = ""

    @property
    def space(self) -> AttributeSpace:
        return self.table.space

    @property
    def reachable(self) -> bool:
        """Whether the path ends where the goal is satisfied."""
        return not self.reason

    @cached_property
    def values(self) -> np.ndarray:
        """`int32[m + 1, A]` the sets on the path, the current one first; only that one if there is no path."""
        return np.concatenate([self.start[None], self.table.values[list(self.path[1:])]])

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """The probability c_π of each transition on the path."""
        pairs = zip(self.path, self.path[1:], strict=False)
        return tuple(float(self.table.probability[self.table.edge(*pair)]) for pair in pairs)

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
    """Plans on one table. Distances are kept per goal: planning again for a known goal is a look-up.

    step_cost: what every transition costs beside −log c_π; by default only enough to break ties.
    hurry: what every environment step costs that a transition is expected to take.
    """

    def __init__(self, table: TransitionTable, step_cost: float = TIE_BREAKER, time_cost: float = 0.0) -> None:
        self.table = table
        self.paths = ShortestPaths(table, step_cost, time_cost)
        self._distances: dict[tuple[int, int, int], Distances] = {}
        self._kept = CACHED_GOALS
        self._latest: tuple[Goal, Distances] | None = None

    def distances(self, goal: Goal) -> Distances:
        """How far every set is from the goal."""
        if self._latest is None or self._latest[0] is not goal:
            self._latest = goal, self._distances_by_key(goal)
        return self._latest[1]

    def prepare(self, goals: Sequence[Goal]) -> None:
        """Find the distances to many goals, if that is quicker for all at once than for each when it is asked for."""
        if not self.paths.finds_many_at_once:
            return
        asked = {goal.key(self.table.space): goal for goal in goals}
        known = {key: self._distances[key] for key in asked if key in self._distances}
        unknown = {key: goal for key, goal in asked.items() if key not in known}
        if len(unknown) <= FEW_GOALS:
            return
        found = zip(unknown, self.paths.to_goals(list(unknown.values())), strict=True)
        self._kept, self._distances = max(CACHED_GOALS, len(asked)), known | dict(found)

    def plan(self, values: np.ndarray, goal: Goal) -> Plan:
        """The most probable path from attribute values `[A]` to the goal."""
        number = self.table.number_of(values)
        distances = self.distances(goal)
        if number != UNKNOWN and np.isfinite(distances.cost[number]):
            return Plan(self.table, goal, values, distances.path(number))
        if goal.satisfied_by(values):
            return Plan(self.table, goal, values, (number,))
        return Plan(self.table, goal, values, (), self._why_unreachable(number, goal))

    def _distances_by_key(self, goal: Goal) -> Distances:
        key = goal.key(self.table.space)
        if key not in self._distances:
            if len(self._distances) >= self._kept:
                self._distances.pop(next(iter(self._distances)))
            self._distances[key] = self.paths.to_goal(goal)
        return self._distances[key]

    def _why_unreachable(self, number: int, goal: Goal) -> str:
        if not len(self.table.satisfying(goal)):
            return "no attribute set that was ever seen satisfies the goal."
        if number == UNKNOWN:
            return "the current attribute set was never seen in training."
        return "no chain of transitions that ever worked leads from the current attribute set to the goal."
