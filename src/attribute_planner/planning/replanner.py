"""Pursuits: deciding, during an episode, which neighbouring set to aim at next.

`PaperPursuit` is Algorithm 2 as published. `RememberingPursuit`, the default, also learns from failures within the
episode: where several states share an attribute set, a transition that the table believes in may be impossible here
and now.
"""

import abc
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.errors import unknown_name
from attribute_planner.planning.distances import NOWHERE
from attribute_planner.planning.nearest_set import most_alike
from attribute_planner.planning.planner import Planner
from attribute_planner.transitions.table import UNKNOWN


@dataclass(frozen=True)
class Choice:
    """What to do next: aim at set `target` along `edge`; both `UNKNOWN` if there is no way to the goal."""

    target: int
    edge: int


NO_WAY = Choice(UNKNOWN, UNKNOWN)


class Pursuit(abc.ABC):
    """One episode's pursuit of one goal."""

    patience: int | None
    """After how many steps without a change an attempt has failed; `None` for never."""

    @abc.abstractmethod
    def choose(self, number: int) -> Choice:
        """What to aim at from set `number`, which does not satisfy the goal."""

    def stand_in(self, values: np.ndarray) -> int:
        """The number of a set from which to act where no way leads on from the values `[A]`; `UNKNOWN` if there is
        none."""
        del values
        return UNKNOWN

    @abc.abstractmethod
    def failed(self, number: int, edge: int) -> None:
        """The attempt to take `edge` out of set `number` did not arrive there."""


class PaperPursuit(Pursuit):
    """Always the next set on the shortest path, however often that has failed (Algorithm 2)."""

    def __init__(self, planner: Planner, goal: Goal, patience: int) -> None:
        del patience
        self.patience = None
        self._planner, self._distances = planner, planner.distances(goal)

    def choose(self, number: int) -> Choice:
        if number == UNKNOWN or self._distances.successor[number] == NOWHERE:
            return NO_WAY
        target = int(self._distances.successor[number])
        return Choice(target, self._planner.table.edge(number, target))

    def failed(self, number: int, edge: int) -> None:
        del number, edge


FAILURE_FACTOR = 0.2
"""How much less likely an edge is believed to work after each failure within the episode."""


@dataclass
class RememberingPursuit(Pursuit):
    """The next set on the shortest path, given what has failed in this episode.

    Learning real-time A*: every failure makes its edge costlier, and the cost of the set where it happened is raised to
    what its best remaining edge implies. So the agent never walks into the same wall for ever, and a choice costs no
    more than a look at the edges of one set. Distances of other sets stay as planned.
    """

    planner: Planner
    goal: Goal
    patience: int | None
    _penalty: dict[int, float] = field(default_factory=dict)
    _raised: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._distances = self.planner.distances(self.goal)

    def choose(self, number: int) -> Choice:
        if number == UNKNOWN or self._distances.successor[number] == NOWHERE:
            return NO_WAY
        if not self._raised:
            target = int(self._distances.successor[number])
            return Choice(target, self.planner.table.edge(number, target))
        edge, cost = self._best_edge(number)
        self._raised[number] = max(cost, self._raised.get(number, 0.0))
        return Choice(int(self.planner.table.target[edge]), edge)

    def stand_in(self, values: np.ndarray) -> int:
        return most_alike(self.planner.table, values, self.goal, self._distances.successor != NOWHERE)

    def failed(self, number: int, edge: int) -> None:
        self._penalty[edge] = self._penalty.get(edge, 0.0) - np.log(FAILURE_FACTOR)
        self._raised[number] = self._best_edge(number)[1]

    def _best_edge(self, number: int) -> tuple[int, float]:
        """The edge out of a set with the cheapest way to the goal behind it, and what that way costs."""
        table, row = self.planner.table, self.planner.table.edges_of(number)
        targets = table.target[row]
        cost = self.planner.paths.cost[row] + self._distances.cost[targets]
        for position, target in enumerate(targets.tolist()):
            if target in self._raised:
                cost[position] = self.planner.paths.cost[row.start + position] + self._raised[target]
            cost[position] += self._penalty.get(row.start + position, 0.0)
        best = int(np.argmin(cost))
        return row.start + best, float(cost[best])


PURSUITS: dict[str, Callable[[Planner, Goal, int], Pursuit]] = {
    "default": RememberingPursuit,
    "memory": RememberingPursuit,
    "outlook": RememberingPursuit,
    "paper": PaperPursuit,
}


def pursuit_for(mode: str, planner: Planner, goal: Goal, patience: int) -> Pursuit:
    """The pursuit of a goal in an execution mode."""
    if mode not in PURSUITS:
        raise unknown_name("execution mode", mode, PURSUITS)
    return PURSUITS[mode](planner, goal, patience)
