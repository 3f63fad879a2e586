"""Plans: the best path through the table from the current attribute set to a goal."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int

from attribute_planner.attributes import AttributeSpace, Goal, Value, value_text
from attribute_planner.planning.episode_model import AttemptModel
from attribute_planner.planning.search import Distances, Graph
from attribute_planner.transitions.evidence import EdgeEvidence
from attribute_planner.transitions.model import Listing, TransitionModel
from attribute_planner.transitions.numbering import UNKNOWN

if TYPE_CHECKING:
    from PIL import Image


@dataclass(frozen=True)
class Plan:
    """A path through attribute space. Everything but the path itself is computed on demand.

    listing: the transitions that it was planned on.
    goal: what was asked for.
    start: values of the current set.
    path: numbers of the sets on the path, the current one first; empty if there is none.
    reason: why there is no path, in words; empty if there is one.
    horizon: steps of the episode that it is made for.
    attempts: how attempts turn out in an episode.
    """

    listing: Listing
    goal: Goal
    start: Int[np.ndarray, " A"]
    path: tuple[int, ...]
    reason: str = ""
    horizon: float = np.inf
    attempts: AttemptModel = AttemptModel()

    @property
    def space(self) -> AttributeSpace:
        return self.listing.space

    @property
    def reachable(self) -> bool:
        """Whether the path ends where the goal is satisfied."""
        return not self.reason

    @cached_property
    def values(self) -> Int[np.ndarray, "m_plus_1 A"]:
        """The sets on the path, the current one first; only that one if there is no path."""
        return np.concatenate([self.start[None], self.listing.values_of(self.path[1:])])

    @cached_property
    def evidence(self) -> tuple[EdgeEvidence, ...]:
        """The evidence of each transition on the path."""
        pairs = zip(self.path, self.path[1:], strict=False)
        return tuple(self.listing.evidence(self.listing.edge(*pair)) for pair in pairs)

    @cached_property
    def durations(self) -> tuple[float, ...]:
        """Mean steps of an attempt at each transition on the path; zero if they were not counted."""
        pairs = zip(self.path, self.path[1:], strict=False)
        return tuple(float(self.listing.steps[self.listing.edge(*pair)]) for pair in pairs)

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """The probability of each transition on the path, within the episode.

        Attempts that fail are made again while time is left (`AttemptModel`). Without a horizon, these are c_π.
        """
        c = tuple(each.probability for each in self.evidence)
        if not np.isfinite(self.horizon):
            return c
        return self.attempts.success_within(c, self.durations, self.horizon)

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

    @property
    def summary(self) -> str:
        """`3 steps, probability 97.1%`."""
        count = len(self.edges)
        return f"{count} step{'' if count == 1 else 's'}, probability {self.probability:.1%}"

    def to_json(self) -> dict[str, Any]:
        """The plan as data for a JSON file."""
        return {
            "reachable": self.reachable,
            "probability": self.probability,
            "steps": self.steps,
            "edges": list(self.edges),
            "evidence": [vars(each) for each in self.evidence],
            "reason": self.reason,
        }

    def draw(self, path: Path | str | None = None) -> "Image.Image":
        """An image of the plan, which notebooks show; written to a .png or .svg file if a path is given.

        `table.draw(plan=plan)` draws it into the graph.
        """
        from attribute_planner.drawing.plan_picture import draw_plan

        return draw_plan(path, self)

    def to_html(self) -> str:
        """A page of one file with the plan and the graph around it."""
        from attribute_planner.viewer.episode_page import plan_page

        return plan_page(self)

    def _repr_html_(self) -> str:
        from attribute_planner.drawing.html import plan_html

        return plan_html(self)

    def __repr__(self) -> str:
        goal = self.goal.text(self.space)
        if not self.reachable:
            return f"Plan({goal}: none, {self.reason})"
        return f"Plan({goal}: {self.summary})"

    def __str__(self) -> str:
        if not self.reachable:
            return f"No plan: {self.reason}"
        within = f" within {self.horizon:.0f} environment steps" if np.isfinite(self.horizon) else ""
        lines = [f"{self.summary}{within}"]
        for number, (change, evidence) in enumerate(zip(self.changes, self.evidence, strict=True), start=1):
            shown = ", ".join(f"{name} → {value_text(value)}" for name, value in change.items())
            lines.append(f"{number:3d}. {shown}  {evidence}")
        return "\n".join(lines)


class Planner:
    """Plans on one transition model. Distances are cached per goal: planning again for a known goal is a look-up.

    horizon: steps of an episode, against which durations count (`edge_cost`); by default they do not, as published.
    attempts: how attempts turn out in an episode, for the probability of plans.
    cached_goals: how many goals distances are cached for, unless more were prepared at once.
    """

    def __init__(
        self,
        model: TransitionModel,
        horizon: float = np.inf,
        *,
        attempts: AttemptModel = AttemptModel(),
        cached_goals: int = 64,
    ) -> None:
        self.graph = Graph(model, horizon)
        self.listing = self.graph.listing
        self._attempts = attempts
        self._cache: dict[tuple[int, int, int], Distances] = {}
        self._size = cached_goals

    def distances(self, goal: Goal) -> Distances:
        """The distances from every set to the goal."""
        key = goal.key(self.listing.space)
        if key not in self._cache:
            if len(self._cache) >= self._size:
                self._cache.pop(next(iter(self._cache)))
            self._cache[key] = self.graph.to_goal(goal)
        return self._cache[key]

    def prepare(self, goals: Sequence[Goal]) -> None:
        """Find the distances to many goals at once, where that is faster than one by one."""
        asked = {goal.key(self.listing.space): goal for goal in goals}
        unknown = {key: goal for key, goal in asked.items() if key not in self._cache}
        if len(unknown) > 1 and self.graph.finds_many_at_once:
            known = {key: self._cache[key] for key in asked if key in self._cache}
            found = zip(unknown, self.graph.to_goals(list(unknown.values())), strict=True)
            self._size, self._cache = max(self._size, len(asked)), known | dict(found)

    def plan(self, values: Int[np.ndarray, " A"], goal: Goal) -> Plan:
        """The best path from a set to the goal."""
        number = self.listing.number_of(values)
        distances = self.distances(goal)
        if number != UNKNOWN and np.isfinite(distances.cost[number]):
            return self._plan(goal, values, distances.path(number))
        if goal.satisfied_by(values):
            return self._plan(goal, values, (number,))
        return self._plan(goal, values, (), self._why_unreachable(number, goal))

    def _plan(self, goal: Goal, values: np.ndarray, path: tuple[int, ...], reason: str = "") -> Plan:
        return Plan(self.listing, goal, values, path, reason, self.graph.horizon, self._attempts.for_goal(goal))

    def _why_unreachable(self, number: int, goal: Goal) -> str:
        if not len(self.listing.satisfying(goal)):
            return "no attribute set that was ever seen satisfies the goal."
        if number == UNKNOWN:
            return "the current attribute set was never seen in training."
        return "no chain of transitions that ever worked leads from the current attribute set to the goal."
