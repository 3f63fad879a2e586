"""What the page shows of each step of an episode: the set, what happened, and the plan from there."""

from typing import Any

import numpy as np
from jaxtyping import Int

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.planning.episode import ARRIVED, DEVIATED, ENDED, LOST, ON_THE_WAY, Episode, TraceStep
from attribute_planner.planning.plan import Plan, Planner
from attribute_planner.transitions.numbering import UNKNOWN
from attribute_planner.viewer.data import NOTHING, edge_between, edge_json, evidence_json, plan_json, set_json
from attribute_planner.viewer.neighbourhood import neighbourhood

EVENTS = {ARRIVED: "arrived", DEVIATED: "drifted", LOST: "lost", ENDED: "ended"}
"""How the page calls the outcomes of steps; other outcomes are failures."""

Values = Int[np.ndarray, " A"]


class FrameWriter:
    """The frames of one episode. A plan or a part of the graph is sent only when it is another one than before."""

    def __init__(self, planner: Planner, goal: Goal) -> None:
        self._planner, self._goal = planner, goal
        self._distances = planner.distances(goal)
        self._shown: tuple[bytes, bytes] | None = None
        self._drawn: set[bytes] = set()
        self._now: Values | None = None
        self._left: Values | None = None

    def frame(
        self,
        number: int,
        values: Values,
        target: Values | None,
        *,
        before: TraceStep | None = None,
        left: float = np.inf,
        **seen: Any,
    ) -> dict[str, Any]:
        """The frame after `number` steps, as data.

        target: where the agent goes next; `None` if it goes nowhere, or the plan decides.
        before: the step that led here.
        left: steps that are left.
        seen: further entries: the image, the truth, the belief.
        """
        frame: dict[str, Any] = {"step": number, "believed": set_json(values), **seen}
        if before is not None:
            frame["event"] = self._event(before)
        if self._now is not None and not np.array_equal(self._now, values):
            self._left = self._now
            frame["walked"] = self._walked(self._left, values)
        self._now = values.copy()
        shown = values.tobytes(), b"" if target is None else target.tobytes()
        if shown != self._shown:
            self._shown = shown
            path, frame["plan"] = self._plan_from(values, target, left)
            if not {each.tobytes() for each in path} <= self._drawn:
                around = neighbourhood(self._planner, self._distances, path, self._left)
                self._drawn = {np.asarray(each).tobytes() for each in around.values}
                frame["graph"] = around.to_json(self._planner.listing)
        return frame

    def _walked(self, source: Values, target: Values) -> dict[str, Any]:
        """The transition by which the agent came to the current set."""
        ends = {"source": set_json(source), "target": set_json(target)}
        return ends | edge_json(self._planner.listing, source, target)

    def _event(self, step: TraceStep) -> dict[str, Any] | None:
        """What happened, with the evidence of the transition that was attempted."""
        listing = self._planner.listing
        event = event_json(listing.space, step)
        if event is not None and event["target"] is not None:
            known = edge_between(listing, np.array(event["source"]), np.array(event["target"]))
            event["edge"] = None if known is None else evidence_json(known)
        return event

    def _plan_from(self, values: Values, target: Values | None, left: float) -> tuple[list[np.ndarray], dict[str, Any]]:
        """The path through the next target, and the plan as data."""
        planned = self._planner.plan(values, self._goal)
        if target is None:
            return list(planned.values), plan_json(planned)
        listing, onward = self._planner.listing, self._planner.plan(target, self._goal)
        ends = listing.number_of(values), listing.number_of(target)
        first = edge_between(listing, values, target)
        if first is not None and onward.reachable and UNKNOWN not in ends:
            horizon = min(left, planned.horizon) if np.isfinite(planned.horizon) else planned.horizon
            plan = Plan(listing, self._goal, values, (ends[0], *onward.path), "", horizon, planned.attempts)
            return list(plan.values), plan_json(plan)
        edges = [evidence_json(first or NOTHING), *map(evidence_json, onward.evidence)]
        path = [values, *onward.values]
        data = {"reachable": True, "probability": None, "reason": "", "horizon": None, "edges": edges}
        return path, {**data, "sets": [set_json(each) for each in path]}


def event_json(space: AttributeSpace, step: TraceStep) -> dict[str, Any] | None:
    """What happened in a step; `None` if an attempt goes on."""
    if step.outcome == ON_THE_WAY and not step.failed:
        return None
    kind = EVENTS.get(step.outcome, "failed")
    if kind == "failed" and step.posterior < step.probability / 2:
        kind = "aliased"
    return {
        "kind": kind,
        "source": set_json(space.encode(step.observed)),
        "target": None if step.target is None else set_json(space.encode(step.target)),
        "replanned": step.replanned or step.failed,
        "probability": step.probability,
        "posterior": step.posterior,
    }


def result_json(episode: Episode) -> dict[str, Any]:
    """How an episode ended."""
    return {
        "success": episode.success,
        "reason": episode.reason,
        "steps": episode.steps,
        "transitions": episode.transitions,
        "replans": episode.replans,
    }
