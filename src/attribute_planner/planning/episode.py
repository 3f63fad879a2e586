"""What happened when the agent pursued a goal."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attribute_planner.attributes import AttributeSpace, Goal, Value
from attribute_planner.planning.planner import Plan

ON_THE_WAY, ARRIVED, DEVIATED, GAVE_UP, LOST, ENDED = (
    "on the way",
    "arrived",
    "deviated",
    "gave up",
    "lost",
    "episode ended",
)
"""Outcomes of a step: the set is unchanged; it is the one aimed at; it is another one; patience ran out; there was no
plan to follow; the environment ended the episode."""


@dataclass(frozen=True)
class TraceStep:
    """One environment step.

    step: its number, from 0.
    observed: the attribute set in which the action was taken.
    aim: the set that the policy was told to reach, `None` if there was no plan.
    probability: c_π of that transition, zero if there was no plan.
    action: what it did.
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

    success: whether the goal was satisfied within the limit.
    steps: environment steps taken.
    transitions: attribute changes on the way.
    replans: how often the path had to be computed anew.
    plan: the path planned at the start.
    reason: why it did not succeed, in words.
    trace: what was planned, tried and observed at every step (empty unless recorded).
    frames: pictures `uint8[H, W, 3]` before every step and after the last (empty unless recorded).
    """

    goal: Goal
    success: bool
    steps: int
    transitions: int
    replans: int
    plan: Plan
    reason: str
    final: np.ndarray
    trace: list[TraceStep] = field(default_factory=list, repr=False)
    frames: list[np.ndarray] = field(default_factory=list, repr=False)

    @property
    def space(self) -> AttributeSpace:
        return self.plan.space
