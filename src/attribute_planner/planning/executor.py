"""A walk: one copy's way to its goal. Where it is, what it aims at, what it has learned on the way."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.planning.episode import ARRIVED, DEVIATED, ENDED, GAVE_UP, LOST, ON_THE_WAY, Episode, TraceStep
from attribute_planner.planning.goal_relaxation import nearly, shifted
from attribute_planner.planning.lookahead import STEP_COST, Lookahead, Options
from attribute_planner.planning.nearest_set import same_change
from attribute_planner.planning.planner import Planner
from attribute_planner.planning.replanner import NO_WAY, Choice, pursuit_for
from attribute_planner.transitions.table import UNKNOWN


@dataclass(frozen=True)
class ExecutionConfig:
    """How a plan is carried out."""

    mode: str = "default"
    """`paper`: Algorithm 2 as published; `memory`: also remembers within the episode what failed; `default`: with
    memory, and with foresight where the agent has an outlook; `outlook`: the same, but the outlook is never doubted."""
    patience: int = 160
    """After how many steps without a change the default mode gives an attempt up."""
    record: bool = False
    """Whether to keep a trace of every step."""
    pictures: bool = False
    """Whether to keep a picture of every step."""


SURE = float(np.exp(-STEP_COST))
"""Nothing is gained by making surer of having arrived than this: a step costs as much."""


class Expectation(NamedTuple):
    """What foresight expects of the next step.

    values: `int32[A]`. probability: how likely all of them are.
    attempted: whether it is the policy that is trusted to bring them about, and not the outlook.
    """

    values: np.ndarray
    probability: float
    attempted: bool


@dataclass
class Walk:
    """One copy's way to its goal: where it is (as detected, and in truth), what it aims at, how long it has tried.

    there: how likely the goal is met, to the detector. Whoever looks ahead may make sure of it before stopping.
    doubt: how often the outlook is wrong; `None` for a walk without foresight.
    """

    planner: Planner
    goal: Goal
    values: np.ndarray
    truth: np.ndarray
    config: ExecutionConfig
    there: float = 1.0
    model_error: float | None = None
    steps: int = 0
    transitions: int = 0
    replans: int = 0
    waited: int = 0
    trace: list[TraceStep] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plan = self.planner.plan(self.values, self.goal)
        self.success = False
        self._shift = np.zeros(len(self.values), np.int32)
        self.number = self._locate(self.values)
        self._pursue(self.goal)
        self._lowered = None
        if not self.plan.reachable and self._may_guess:
            self._lowered = nearly(self.planner, self.number, self.goal)
        if self._lowered is not None:
            self._pursue(self._lowered)
        self._foresight = None if self.model_error is None else Lookahead(self.planner, self.goal, self.model_error)
        self.active = self.plan.reachable or self._lowered is not None or self._foresight is not None
        self._origin, self._choice = self.number, NO_WAY
        if self._is_sure_to_be_there():
            self._stop()
        if self.active:
            self._choose()
        self._expected: Expectation | None = None
        self._doubted, self._overlooked = 0.0, False

    @property
    def target(self) -> int:
        """The number of the set that is aimed at; `UNKNOWN` if there is no plan."""
        return self._choice.target

    @property
    def aim(self) -> np.ndarray:
        """`int32[A]` the set that the policy is told to reach; none if there is no plan."""
        table, target = self.planner.table, self._choice.target
        if target == UNKNOWN and self._foresight is not None:
            return np.where(self.goal.wanted, self.goal.values, self.values).astype(np.int32)
        if target == UNKNOWN:
            return np.full(len(table.space), NO_VALUE, np.int32)
        if self._origin == self.number and not self._shift.any():
            return table.values[target]
        return same_change(table.space, self.values, table.values[self._origin], table.values[target])

    @property
    def wanted(self) -> np.ndarray:
        """`int32[A]` what the goal asks for; none of an attribute that it does not mention."""
        return np.where(self.goal.wanted, self.goal.values, NO_VALUE).astype(np.int32)

    @property
    def remembers(self) -> bool:
        """Whether the mode learns from what failed within the episode, and there is something to fail at."""
        return self._pursuit.patience is not None and self._choice.target != UNKNOWN

    def look_ahead(self, options: Options, copy: int, *, last: bool = False) -> int:
        """Which of the options to take; each in turn while none is expected to lead to the goal.

        If it may be there already, it stops unless some option is likelier to lead there, and options do something.

        last: whether time is up after this step.
        """
        assert self._foresight is not None
        edge, count = self._choice.edge, options.numbers.shape[1]
        trusted = 0.0 if edge == UNKNOWN else float(self.planner.table.probability[edge])
        self._expected = None
        if self._believes_to_be_there():
            # As sure as before, to the last digit: what was done about it changed nothing.
            if self.there == self._doubted or self._foresight.best_chance(options, copy) <= self.there:
                self._stop()
                return 0
            self._doubted = self.there
        best = self._foresight.choose(self.number, self.values, options, copy, trusted, last=last)
        if best is None:
            return self.steps % count
        attempted = best == count - 1
        sure = trusted if attempted else float(np.exp(options.log_prob[copy, best].sum()))
        self._expected = Expectation(options.expected[copy, best], sure, attempted)
        return best

    def advance(
        self, step: int, values: np.ndarray, truth: np.ndarray, over: bool, action: Any, there: float = 1.0
    ) -> None:
        """Take in where a step has led (as detected, and in truth), and decide what to aim at next."""
        before, choice, aim = self.values, self._choice, self.aim
        self.truth, self.there = truth, there
        if self._foresight and self._expected and (values != self._expected.values).any():
            self._foresight.failed(self.number, self._expected.values)
        self.steps, self.waited = step + 1, self.waited + 1
        outcome, replanned = ON_THE_WAY, False
        if (values != before).any():
            outcome, replanned = self._move(values)
        elif self._pursuit.patience is not None and self.waited >= self._pursuit.patience:
            outcome, replanned = GAVE_UP, True
            self._fail()
        if self._is_sure_to_be_there():
            self._stop()
        self._overlooked |= bool(self.goal.satisfied_by(truth)) and not self._believes_to_be_there()
        if over and self.active:
            outcome, self.active = ENDED, False
        if self.config.record:
            self._write(step, before, choice, aim, action, outcome, replanned)

    def episode(self, max_steps: int, pictures: list[np.ndarray]) -> Episode:
        """The account of the walk."""
        return Episode(
            self.goal,
            self.success,
            self.steps,
            self.transitions,
            self.replans,
            self.plan,
            self._reason(max_steps),
            self.values,
            self.trace,
            pictures,
        )

    def _believes_to_be_there(self) -> bool:
        return bool(self.goal.satisfied_by(self.values))

    def _is_sure_to_be_there(self) -> bool:
        """Whether it believes to be there, and cannot or need not make sure."""
        return self._believes_to_be_there() and (self._foresight is None or self.there >= SURE)

    def _stop(self) -> None:
        """It is there, as far as it can tell."""
        self.success, self.active = bool(self.goal.satisfied_by(self.truth)), False

    def _move(self, values: np.ndarray) -> tuple[str, bool]:
        """The attributes changed: the way leads on from there."""
        number = self._locate(values)
        self.transitions += 1
        arrived, lost = bool((values == self.aim).all()), self._choice.target == UNKNOWN
        if self._expected is not None:
            arrived, lost = bool((values == self._expected.values).all()), False
        if not arrived and not lost:
            self._blame_the_edge()
        self.values, self.number, self.waited = values, number, 0
        if self._believes_to_be_there():
            self._choice = NO_WAY
            return (ARRIVED if arrived else DEVIATED), False
        self._choose()
        self.replans += not arrived
        return (ARRIVED if arrived else LOST if lost else DEVIATED), not arrived

    def _fail(self) -> None:
        """Nothing changed for too long."""
        self._blame_the_edge()
        self.waited, self.replans = 0, self.replans + 1
        self._choose()

    def _blame_the_edge(self) -> None:
        """The edge did not lead where it should, if it was tried at all."""
        attempted = self._foresight is None or (self._expected is not None and self._expected.attempted)
        if attempted and self._choice.edge != UNKNOWN:
            self._pursuit.failed(self._origin, self._choice.edge)

    def _choose(self) -> None:
        """Decide what to aim at: from where it is or, if no way leads on from there, as from where it is alike."""
        if self._lowered is not None and self._lowered.satisfied_by(self.values):
            self._go_beyond()
        self._origin = self.number
        self._choice = self._pursuit.choose(self.number)
        if self._choice is not NO_WAY:
            return
        if self._pursuit.patience is None:
            self.active = False
        elif self._may_guess:
            self._origin = self._pursuit.stand_in(self.values - self._shift)
            self._choice = self._pursuit.choose(self._origin)

    @property
    def _may_guess(self) -> bool:
        """Whether to act where the table knows no way; foresight has its own means."""
        return self._pursuit.patience is not None and self.model_error is None

    def _pursue(self, goal: Goal) -> None:
        self._pursuit = pursuit_for(self.config.mode, self.planner, goal, self.config.patience)

    def _go_beyond(self) -> None:
        """As near to the goal as the table leads: what is still missing is done as where there is less."""
        less, self._lowered = shifted(self.planner, self.values, self.goal), None
        if less is not None:
            self._pursue(less.goal)
            self._shift = less.shift
            self.number = self._locate(self.values)

    def _locate(self, values: np.ndarray) -> int:
        there = values - self._shift
        return UNKNOWN if (there < 0).any() else self.planner.table.number_of(there)

    def _write(
        self,
        step: int,
        before: np.ndarray,
        choice: Choice,
        told: np.ndarray,
        action: Any,
        outcome: str,
        replanned: bool,
    ) -> None:
        table, aim, probability = self.planner.table, None, 0.0
        if self._expected is not None:
            aim, probability = table.space.decode(self._expected.values), self._expected.probability
        elif choice.target != UNKNOWN:
            aim, probability = table.space.decode(told), float(table.probability[choice.edge])
        self.trace.append(
            TraceStep(
                step,
                table.space.decode(before),
                aim,
                probability,
                action,
                outcome,
                replanned,
            )
        )

    def _reason(self, max_steps: int) -> str:
        if self.success:
            return ""
        if self._believes_to_be_there():
            return "the detector took another attribute set for the goal."
        if self._overlooked:
            return "the goal was reached on the way, but the detector did not see it."
        if not self.plan.reachable:
            return self.plan.reason
        if self.steps >= max_steps:
            return f"the goal was not reached within {max_steps} steps."
        return "the episode ended, or led to where no plan is known, before the goal was reached."
