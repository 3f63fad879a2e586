"""The state of one episode in execution: the belief, the next set, and whether to stop."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Int

from attribute_planner.attributes import Goal
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.planning.attempt_limit import AttemptLimit, AttemptLimits
from attribute_planner.planning.episode import ARRIVED, DEVIATED, ENDED, GAVE_UP, LOST, ON_THE_WAY, Episode, TraceStep
from attribute_planner.planning.goal_relaxation import relaxed_goal, shifted_goal
from attribute_planner.planning.lookahead import Option, Options, best_option
from attribute_planner.planning.nearest_set import nearest_target
from attribute_planner.planning.plan import Planner
from attribute_planner.planning.posterior import Posterior, Target
from attribute_planner.planning.state_success import Success


class ActiveEpisode:
    """The state of one episode. `target` and `look_ahead` give the next decision, `advance` processes its result.

    posterior_of: makes the posterior of a goal, which holds what the episode learns about its transitions.
    attempt_limits: after how many steps of an attempt the plan is reconsidered; `None`: when the attributes change.
    stop_on_any_change: whether an attempt ends with any change, as it did in practice; otherwise it goes on
        until it arrives, or comes to a set from which another target is the better bet.
    nearest_set: whether to act as in the nearest known set where no way is known.
    relax_goal: whether to pursue a goal that no known set satisfies by way of one that nearly does.
    success: the probability of transitions from the present state; `None`: c_π.
    """

    def __init__(
        self,
        planner: Planner,
        posterior_of: Callable[[Goal], Posterior],
        goal: Goal,
        values: Int[np.ndarray, " A"],
        p_goal: float,
        *,
        max_steps: int,
        attempt_limits: AttemptLimits | None,
        nearest_set: bool,
        relax_goal: bool,
        record: bool,
        stop_on_any_change: bool = True,
        success: Success | None = None,
    ) -> None:
        self.goal, self.values, self.plan = goal, values, planner.plan(values, goal)
        self.active, self.claimed = True, False
        self.steps = self.transitions = self.replans = 0
        self._planner, self._p_goal, self._posterior_of = planner, p_goal, posterior_of
        self._max_steps, self._attempt_limits, self._nearest_set = max_steps, attempt_limits, nearest_set
        relax = relax_goal and not self.plan.reachable
        self._relaxed = relaxed_goal(planner, values, goal) if relax else None
        self._pursue(goal if self._relaxed is None else self._relaxed)
        self._trace: list[TraceStep] | None = [] if record else None
        self._stop_on_any_change, self._success = stop_on_any_change, success
        self._abandoned: dict[bytes, list[tuple[np.ndarray, np.ndarray, float]]] = {}
        self._option: Option | None = None
        self._begin_attempt()

    @property
    def left(self) -> int:
        """Number of remaining environment steps."""
        return self._max_steps - self.steps

    @property
    def target(self) -> Int[np.ndarray, " A"]:
        """The goal of the policy; `NO_VALUE` if there is none."""
        return np.full(len(self.values), NO_VALUE, np.int32) if self._target is None else self._target.values

    @property
    def target_or_goal(self) -> Int[np.ndarray, " A"]:
        """The target; without one, the current values with those of the goal."""
        if self._target is not None:
            return self._target.values
        return np.where(self.goal.wanted, self.goal.values, self.values).astype(np.int32)

    @property
    def wanted(self) -> Int[np.ndarray, " A"]:
        """The values of the goal; `NO_VALUE` for an attribute that it does not mention."""
        return np.where(self.goal.wanted, self.goal.values, NO_VALUE).astype(np.int32)

    @property
    def believes_goal(self) -> bool:
        """Whether the most probable set satisfies the goal."""
        return bool(self.goal.satisfied_by(self.values))

    def stop_if_done(self) -> None:
        """Stop at the goal, or if there is no target. Without lookahead, no option has a higher value than the goal."""
        if self.believes_goal:
            self._stop()
        elif self._target is None and (self.steps == 0 or not self._nearest_set):
            self.active = False

    def look_ahead(self, options: Options, row: int, model_error: float) -> int:
        """The option to take; the episode stops instead if stopping has a higher value."""
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

    def advance(
        self, values: Int[np.ndarray, " A"], p_goal: float, ended: bool, action: Any, success: Success | None = None
    ) -> None:
        """Process the result of a step; `success` is that of the new state."""
        self._success = success
        before, expected = self.values, self._expectation()
        self.steps, self._waited = self.steps + 1, self._waited + 1
        self.values, self._p_goal = values, p_goal
        outcome = self._outcome(before, expected)
        abandoned = outcome == DEVIATED and self._may_pass_sets
        failed = outcome in (DEVIATED, GAVE_UP) or (self._option is not None and outcome == ON_THE_WAY)
        if failed and expected is not None:
            share = self._failure() if abandoned or outcome == GAVE_UP else 1.0
            attempt = self._origin - self._shift, expected.values - self._shift
            self.posterior.failed(*attempt, share)
            if share < 1 and abandoned:
                self._abandoned.setdefault(self._origin.tobytes(), []).append((*attempt, 1 - share))
        # Who comes back to where an attempt was abandoned has seen it fail.
        for attempt in self._abandoned.pop(values.tobytes(), ()) if (values != before).any() else ():
            self.posterior.failed(*attempt)
        posterior = self._posterior_of_attempt(expected)
        self.transitions += bool((values != before).any())
        if outcome in (ARRIVED, DEVIATED, LOST) and not abandoned:
            self.posterior.left(self._origin - self._shift)
        if failed or outcome != ON_THE_WAY:
            self._begin_attempt()
        replanned = outcome in (DEVIATED, GAVE_UP, LOST) and not self.believes_goal
        self.replans += replanned
        if ended or self.left <= 0:
            self._end(ended)
            outcome = ENDED if ended and not self.claimed else outcome
        self._option = None
        failed = failed and not abandoned
        self._write(before, expected, action, outcome, replanned=replanned, failed=failed, posterior=posterior)

    @property
    def trace(self) -> list[TraceStep]:
        """What was planned, tried and observed at every step; empty unless recorded."""
        return self._trace or []

    def account(self, frames: list[np.ndarray]) -> Episode:
        """The episode, as the agent observed it."""
        return Episode(
            self.goal,
            self.claimed,
            self.steps,
            self.transitions,
            self.replans,
            self.plan,
            self._reason(),
            self.values,
            self.trace,
            frames,
        )

    def _begin_attempt(self) -> None:
        """Choose the next target; the attempt begins in the present set."""
        self._waited, self._origin, self._target = 0, self.values, self._next_target()
        self._attempt_limit: AttemptLimit | None = None
        if self._attempt_limits is not None:
            ends = self._origin - self._shift, self.target - self._shift
            self._attempt_limit = self._attempt_limits.of(*ends)

    def _expectation(self) -> Target | None:
        if self._option is not None:
            return Target(self._option.outcome, self._option.probability)
        return self._target

    def _outcome(self, before: np.ndarray, expected: Target | None) -> str:
        if expected is not None and (self.values == expected.values).all():
            return ARRIVED
        if (self.values == before).all() or (expected is not None and self._keeps_target(expected)):
            is_over = self._attempt_limit is not None and self._attempt_limit.is_over(self._waited)
            return GAVE_UP if is_over and self._option is None else ON_THE_WAY
        if expected is None:
            return LOST
        return DEVIATED

    def _failure(self) -> float:
        """The fraction of a failed attempt that the present one is so far."""
        return 1.0 if self._attempt_limit is None else self._attempt_limit.failure(self._waited)

    @property
    def _may_pass_sets(self) -> bool:
        """Whether attempts continue through other sets, as they did in practice."""
        return not self._stop_on_any_change and self._option is None

    def _keeps_target(self, expected: Target) -> bool:
        """Whether the attempt continues although the attributes changed."""
        if not self._may_pass_sets or self.believes_goal:
            return False
        other = self._target_from(self.values)
        return other is None or bool((other.values == expected.values).all())

    def _pursue(self, goal: Goal, shift: np.ndarray | int = 0) -> None:
        """Plan for a goal, in values that are lowered by a shift."""
        self._planned, self._shift, self.posterior = goal, shift, self._posterior_of(goal)

    def _next_target(self) -> Target | None:
        if self.believes_goal:
            return None
        if self._relaxed is not None and self._relaxed.satisfied_by(self.values):
            self._relaxed, shifted = None, shifted_goal(self._planner, self.values, self.goal)
            if shifted is not None:
                self._pursue(shifted.goal, shifted.shift)
        return self._target_from(self.values)

    def _target_from(self, values: np.ndarray) -> Target | None:
        """The best set to move to from a set."""
        there = values - self._shift
        target = None if (there < 0).any() else self.posterior.next_target(there, self.left, success=self._shifted())
        if target is None and self._nearest_set:
            target = nearest_target(self._planner, self.posterior, self._planned, there, self.left)
        return None if target is None else target._replace(values=target.values + self._shift)

    def _shifted(self) -> Success | None:
        """The success from the present state, for targets that are lowered by the shift."""
        success, shift = self._success, self._shift
        return None if success is None else lambda edges, targets, c: success(edges, targets + shift, c)

    def _stop(self) -> None:
        self.claimed, self.active = True, False

    def _end(self, ended: bool) -> None:
        """The time limit: the agent claims the goal if the most probable set satisfies it."""
        if self.believes_goal:
            self._stop()
        if ended:
            self.active = False

    def _posterior_of_attempt(self, expected: Target | None) -> float:
        """The probability of another attempt at a target from where the last one began, for the trace."""
        if self._trace is None or expected is None:
            return 0.0
        source, target = self._origin - self._shift, expected.values - self._shift
        return self.posterior.attempt(source, target, expected.probability)

    def _write(self, before: np.ndarray, expected: Target | None, action: Any, outcome: str, **noted: Any) -> None:
        if self._trace is None:
            return
        space = self.plan.space
        target, probability = (None, 0.0) if expected is None else (space.decode(expected.values), expected.probability)
        self._trace.append(
            TraceStep(self.steps - 1, space.decode(before), target, probability, action, outcome, **noted)
        )

    def _reason(self) -> str:
        if self.claimed:
            return ""
        if not self.plan.reachable:
            return self.plan.reason
        if self.left <= 0:
            return f"the goal was not reached within {self._max_steps} steps."
        return "the episode ended, or led to where no plan is known, before the goal was reached."
