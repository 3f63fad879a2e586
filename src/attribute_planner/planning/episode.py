"""The result of an episode with a goal."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int

from attribute_planner.attributes import AttributeSpace, Goal, Value
from attribute_planner.planning.plan import Plan

if TYPE_CHECKING:
    from PIL import Image

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
    observed: the attribute set in which the action was taken, as detected by the agent.
    target: the set that the action was to lead to; `None` if there was no plan.
    probability: the probability of that transition, zero if there was no plan.
    action: the action.
    outcome: one of the outcomes above.
    replanned: whether a new path was computed after the step.
    failed: whether an attempt at the target ended with the step without arriving there.
    posterior: the probability of another attempt, given the failures of the episode; `probability` if there are none.
    """

    step: int
    observed: dict[str, Value]
    target: dict[str, Value] | None
    probability: float
    action: Any
    outcome: str
    replanned: bool
    failed: bool = False
    posterior: float = 0.0


@dataclass(frozen=True)
class Episode:
    """One episode with one goal.

    claimed: whether the agent stopped because it detected that the goal holds.
    success: whether the goal holds by the true attributes (`evaluation.judge`), which the agent does not observe.
    steps: environment steps taken.
    transitions: attribute changes on the way.
    replans: number of times that the path was computed again.
    plan: the path planned at the start.
    reason: why it did not succeed, in words.
    final: the attribute set at the end, as detected by the agent.
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

    def draw(self, path: Path | str | None = None) -> "Image.Image":
        """An image of the attributes over time, which notebooks show; written to a .png or .svg file, if given."""
        from attribute_planner.drawing.episode_picture import draw_episode

        return draw_episode(path, self)

    def gif(self, path: Path | str) -> None:
        """Write an animation; `agent.reach(…, frames=True)` records the frames."""
        from attribute_planner.drawing.animation import write_gif

        write_gif(path, self)

    def to_html(self, path: Path | str | None = None) -> str:
        """A page of one file to scrub through the episode; written to a .html file, if given.

        `agent.reach(…, frames=True)` records the images of the page.
        """
        from attribute_planner.viewer.episode_page import episode_page, write_episode_page

        if path is not None:
            write_episode_page(path, self)
        return episode_page(self)

    def _repr_html_(self) -> str:
        from attribute_planner.drawing.html import episode_html

        return episode_html(self)

    def __repr__(self) -> str:
        verdict = "reached" if self.success else f"not reached: {self.reason.rstrip('.')}"
        return f"Episode({self.goal.text(self.space)}: {verdict}; {self.steps} steps, {self.replans} replans)"

    def judged(self, success: bool, reason: str) -> "Episode":
        """The same result with the judge's verdict."""
        return replace(self, success=success, reason=reason)
