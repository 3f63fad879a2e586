"""The account of an episode in which an agent pursued a goal."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Int

from attribute_planner.attributes import AttributeSpace, Goal, Value
from attribute_planner.planning.plan import Plan

ON_THE_WAY, ARRIVED, DEVIATED, GAVE_UP, LOST, ENDED = (
    "on the way",
    "arrived",
    "deviated",
    "gave up",
    "lost",
    "episode ended",
)
"""Outcomes of a step: the set is unchanged; it is the target; it is another one; the attempt took too long; there was
no plan to follow; the environment ended the episode."""


@dataclass(frozen=True)
class TraceStep:
    """One environment step.

    step: its number, from 0.
    observed: the attribute set in which the action was taken, as the agent believed it.
    aim: the set that the action was to reach, `None` if there was no plan.
    probability: the probability of that transition, zero if there was no plan.
    action: what the agent did.
    outcome: one of the outcomes above.
    replanned: whether a new path was computed after the step.
    """

    step: int
    observed: dict[str, Value]
    aim: dict[str, Value] | None
    probability: float
    action: Any
    outcome: str
    replanned: bool


@dataclass(frozen=True)
class Episode:
    """One pursuit of one goal.

    claimed: whether the agent stopped because it believed to be at the goal.
    success: whether it was: the judge's word (`evaluation.judge`), which the agent never sees.
    steps: environment steps taken.
    transitions: attribute changes on the way.
    replans: how often the path had to be computed again.
    plan: the path planned at the start.
    reason: why it did not succeed, in words.
    final: the attribute set at the end, as the agent believed it.
    trace: what was planned, tried and observed at every step (empty unless recorded).
    frames: images `uint8[H, W, 3]` before every step and after the last (empty unless recorded).
    """

    goal: Goal
    claimed: bool
    steps: int
    transitions: int
    replans: int
    plan: Plan
    reason: str
    final: Int[np.ndarray, " A"]
    trace: list[TraceStep] = field(default_factory=list, repr=False)
    frames: list[np.ndarray] = field(default_factory=list, repr=False)
    success: bool = False

    @property
    def space(self) -> AttributeSpace:
        return self.plan.space

    def judged(self, success: bool, reason: str) -> "Episode":
        """The same account with the judge's verdict."""
        return replace(self, success=success, reason=reason)
