"""One environment's pursuit of its goal: what it believes, which set it moves to next, when it stops."""

from typing import Any

import numpy as np
from jaxtyping import Int

from attribute_planner.attributes import Goal
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.planning.episode import ARRIVED, DEVIATED, ENDED, GAVE_UP, LOST, ON_THE_WAY, Episode, TraceStep
from attribute_planner.planning.lookahead import Option, Options, best_option
from attribute_planner.planning.nearest_set import nearest_target
from attribute_planner.planning.plan import Planner
from attribute_planner.planning.posterior import Posterior, Target


class ActiveEpisode:
    """The state of one pursuit. `decide` chooses what to do, `advance` takes in where that has led.

    posterior: what the episode has learned about its transitions.
    patience: steps after which an attempt that changed nothing has failed; `None`: never.
    extrapolate: whether to act as in the nearest known set where no way is known.
    """

    def __init__(
        self,
        planner: Planner,
        posterior: Posterior,
        goal: Goal,
        values: Int[np.ndarray, " A"],
        p_goal: float,
        *,
        max_steps: int,
        patience: int | None,
        extrapolate: bool,
        record: bool,
    ) -> None:
        self.goal, self.values, self.plan = goal, values, planner.plan(values, goal)
        self.active, self.claimed = True, False
        self.steps = self.transitions = self.replans = 0
        self._planner, self.posterior, self._p_goal = planner, posterior, p_goal
        self._max_steps, self._patience, self._extrapolate = max_steps, patience, extrapolate
        self._trace: list[TraceStep] | None = [] if record else None
        self._waited = 0
        self._option: Option | None = None
        self._target = self._next_target()

    @property
    def left(self) -> int:
        """Environment steps that are left."""
        return self._max_steps - self.steps

    @property
    def target(self) -> Int[np.ndarray, " A"]:
        """The set that the policy is told to reach; `NO_VALUE` if there is none."""
        return np.full(len(self.values), NO_VALUE, np.int32) if self._target is None else self._target.values

    @property
    def target_or_goal(self) -> Int[np.ndarray, " A"]:
        """The target; without one, the goal, all other attributes as they are."""
        if self._target is not None:
            return self._target.values
        return np.where(self.goal.wanted, self.goal.values, self.values).astype(np.int32)

    @property
    def wanted(self) -> Int[np.ndarray, " A"]:
        """What the goal asks for; `NO_VALUE` for an attribute that it does not mention."""
        return np.where(self.goal.wanted, self.goal.values, NO_VALUE).astype(np.int32)

    @property
    def believes_goal(self) -> bool:
        """Whether the most probable set satisfies the goal."""
        return bool(self.goal.satisfied_by(self.values))

    def stop_if_done(self) -> None:
        """Stop at the goal, or where there is nothing to follow. Without lookahead, nothing beats being there."""
        if self.believes_goal:
            self._stop()
        elif self._target is None and not self._extrapolate:
            self.active = False

    def look_ahead(self, options: Options, row: int, model_error: float) -> int:
        """The option to take; the episode stops instead where that is the better bet."""
        c = 0.0 if self._target is None else self._target.probability
        best = best_option(
            self.posterior,
            self.goal,
            self.values,
            options,
            row,
            policy_success=c,
            model_error=model_error,
            left=self.left,
        )
        if self.believes_goal and self._p_goal >= best.value:
            self._stop()
        self._option = best
        self.posterior.took(self.values, best.action)
        return best.place

    def advance(self, values: Int[np.ndarray, " A"], p_goal: float, ended: bool, action: Any) -> None:
        """Take in where a step has led."""
        before, expected = self.values, self._expectation()
        self.steps, self._waited = self.steps + 1, self._waited + 1
        self.values, self._p_goal = values, p_goal
        outcome = self._outcome(before, expected)
        failed = outcome in (DEVIATED, GAVE_UP) or (self._option is not None and outcome == ON_THE_WAY)
        if failed and expected is not None:
            self.posterior.failed(before, expected.values)
        if outcome in (ARRIVED, DEVIATED, LOST):
            self.transitions += 1
            self.posterior.left(before)
        if failed or outcome != ON_THE_WAY:
            self._waited = 0
            self._target = self._next_target()
        replanned = outcome in (DEVIATED, GAVE_UP, LOST) and not self.believes_goal
        self.replans += replanned
        if ended or self.left <= 0:
            self._end(ended)
            outcome = ENDED if ended and not self.claimed else outcome
        self._option = None
        self._write(before, expected, action, outcome, replanned)

    def account(self, frames: list[np.ndarray]) -> Episode:
        """What happened, as the agent knows it."""
        return Episode(
            self.goal,
            self.claimed,
            self.steps,
            self.transitions,
            self.replans,
            self.plan,
            self._reason(),
            self.values,
            self._trace or [],
            frames,
        )

    def _expectation(self) -> Target | None:
        if self._option is not None:
            return Target(self._option.outcome, self._option.probability)
        return self._target

    def _outcome(self, before: np.ndarray, expected: Target | None) -> str:
        if (self.values == before).all():
            gives_up = self._option is None and self._patience is not None and self._waited >= self._patience
            return GAVE_UP if gives_up else ON_THE_WAY
        if expected is None:
            return LOST
        return ARRIVED if (self.values == expected.values).all() else DEVIATED

    def _next_target(self) -> Target | None:
        if self.believes_goal:
            return None
        target = self.posterior.next_target(self.values, self.left)
        if target is None and self._extrapolate:
            target = nearest_target(self._planner, self.posterior, self.goal, self.values, self.left)
        return target

    def _stop(self) -> None:
        self.claimed, self.active = True, False

    def _end(self, ended: bool) -> None:
        """Time is up: the agent claims the goal if it believes to be there."""
        if self.believes_goal:
            self._stop()
        if ended:
            self.active = False

    def _write(self, before: np.ndarray, expected: Target | None, action: Any, outcome: str, replanned: bool) -> None:
        if self._trace is None:
            return
        space = self.plan.space
        aim, probability = (None, 0.0) if expected is None else (space.decode(expected.values), expected.probability)
        self._trace.append(
            TraceStep(self.steps - 1, space.decode(before), aim, probability, action, outcome, replanned)
        )

    def _reason(self) -> str:
        if self.claimed:
            return ""
        if not self.plan.reachable:
            return self.plan.reason
        if self.left <= 0:
            return f"the goal was not reached within {self._max_steps} steps."
        return "the episode ended, or led to where no plan is known, before the goal was reached."
