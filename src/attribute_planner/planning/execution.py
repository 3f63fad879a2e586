"""Execution (Algorithm 2): act towards the next set on the path, look where that led, replan.

Many goals are pursued at once, one in each copy of the environment: the networks see whole batches, and only copies
whose attributes changed, or whose patience ran out, cost a look at the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.environments.spaces import Action, Observation, uniform_action
from attribute_planner.environments.worlds import Moment, Worlds, where_batch
from attribute_planner.parts.bodies import NO_VALUE
from attribute_planner.parts.detector import AttributeDetector, detected_values
from attribute_planner.parts.distributions import Categorical
from attribute_planner.parts.outlook import Outlook
from attribute_planner.parts.policy import GoalPolicy
from attribute_planner.parts.table import UNKNOWN
from attribute_planner.planning.episode import ARRIVED, DEVIATED, ENDED, GAVE_UP, LOST, ON_THE_WAY, Episode, TraceStep
from attribute_planner.planning.foresight import Foresight, Options, consider
from attribute_planner.planning.planner import Planner
from attribute_planner.planning.pursuit import NO_WAY, Choice, pursuit_for
from attribute_planner.planning.trails import Trails

Key = jax.Array


@dataclass(frozen=True)
class ExecutionConfig:
    """How a plan is carried out."""

    mode: str = "default"
    """`paper`: Algorithm 2 as published; `memory`: also remembers within the episode what failed; `default`: with
    memory, and with foresight where the agent has an outlook."""
    patience: int = 160
    """After how many steps without a change the default mode gives an attempt up."""
    record: bool = False
    """Whether to keep a trace of every step."""
    pictures: bool = False
    """Whether to keep a picture of every step."""


@dataclass(frozen=True)
class Driver:
    """The parts of an agent that act.

    detector: `None` if the true f is asked.
    greedy: whether the policy always takes its likeliest action.
    outlook: with it, plans are made by `foresight_planner`, to which long ways are dear.
    """

    detector: AttributeDetector | None
    policy: GoalPolicy
    planner: Planner
    greedy: bool
    outlook: Outlook | None
    foresight_planner: Planner


def pursue(
    driver: Driver,
    worlds: Worlds,
    moment: Moment,
    goals: Sequence[Goal],
    max_steps: int,
    config: ExecutionConfig,
    *,
    key: Key,
) -> list[Episode]:
    """Algorithm 2 for a batch: one goal in each copy, from the given moment, for at most `max_steps` steps."""
    values, truth = detect(driver, moment), true_values(driver, moment)
    looks_ahead = config.mode == "default" and driver.outlook is not None
    planner = driver.foresight_planner if looks_ahead else driver.planner
    walks = [Walk(planner, goal, values[i], truth[i], config, looks_ahead) for i, goal in enumerate(goals)]
    trails = Trails(driver.policy.action_space, len(walks))
    pictures = [_picture(worlds, i, config) for i in range(len(walks))]
    for step in range(max_steps):
        active = np.array([walk.active for walk in walks])
        if not active.any():
            break
        act_key, chance_key = jax.random.split(jax.random.fold_in(key, step))
        remembering = (
            ~looks_ahead & active & trails.apply_to(moment.observation) & np.array([walk.remembers for walk in walks])
        )
        if looks_ahead:
            action = _look_ahead(driver, moment, values, walks, key=act_key)
        else:
            action = _choose_actions(driver, moment, values, walks, trails, remembering, key=act_key)
        before, moment = moment.observation, worlds.step(action, chance_key)
        values, truth = detect(driver, moment), true_values(driver, moment)
        for i in np.flatnonzero(active).tolist():
            taken = _action_of(action, i)
            attempt = walks[i].attempt
            walks[i].advance(step, values[i], truth[i], bool(moment.over[i]), taken)
            if walks[i].attempt != attempt:
                trails.forget(i)
            elif remembering[i]:
                trails.remember(i, np.asarray(before), taken, np.asarray(moment.observation))
            pictures[i] += _picture(worlds, i, config)
    return [walk.episode(max_steps, pictures[i]) for i, walk in enumerate(walks)]


def _choose_actions(
    driver: Driver,
    moment: Moment,
    values: np.ndarray,
    walks: Sequence["Walk"],
    trails: Trails,
    remembering: np.ndarray,
    *,
    key: Key,
) -> Action:
    """An action for each copy: what the policy says, and what the trails of the copies `remembering` make of it."""
    aims = np.stack([walk.aim for walk in walks])
    action, log_probs = _act(
        driver.policy, moment.observation, jnp.asarray(values), jnp.asarray(aims), driver.greedy, key
    )
    if not remembering.any():
        return action
    return trails.decide(remembering, np.asarray(moment.observation), np.asarray(log_probs), np.asarray(action))


def _look_ahead(driver: Driver, moment: Moment, values: np.ndarray, walks: Sequence["Walk"], *, key: Key) -> Action:
    """An action for each copy: the one that is expected to lead nearest to its goal; the policy's where none does."""
    assert driver.outlook is not None
    aims = np.stack([walk.aim for walk in walks])
    options = consider(
        driver.outlook, driver.policy, driver.foresight_planner, moment.observation, values, aims, key=key
    )
    chosen = np.array([walk.look_ahead(options, copy) if walk.active else 0 for copy, walk in enumerate(walks)])
    return jax.tree.map(lambda leaf: leaf[np.arange(len(walks)), chosen], options.actions)


def detect(driver: Driver, moment: Moment) -> np.ndarray:
    """`int32[B, A]` what the agent believes the attributes to be."""
    if driver.detector is None:
        return np.asarray(moment.values)
    return np.asarray(detected_values(driver.detector, moment.observation))


def true_values(driver: Driver, moment: Moment) -> np.ndarray:
    """`int32[B, A]` the attributes as they are, by which success is judged; where f is not given, as detected."""
    return detect(driver, moment) if moment.values is None else np.asarray(moment.values)


class Expectation(NamedTuple):
    """What foresight expects of the next step: values `int32[A]`, and how likely all of them are."""

    values: np.ndarray
    probability: float


@dataclass
class Walk:
    """One copy's way to its goal: where it is (as detected, and in truth), what it aims at, how long it has tried."""

    planner: Planner
    goal: Goal
    values: np.ndarray
    truth: np.ndarray
    config: ExecutionConfig
    looks_ahead: bool = False
    steps: int = 0
    transitions: int = 0
    replans: int = 0
    waited: int = 0
    attempt: int = 0
    trace: list[TraceStep] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plan = self.planner.plan(self.values, self.goal)
        self.success = self._believes_to_be_there() and bool(self.goal.satisfied_by(self.truth))
        self.active = self.plan.reachable and not self._believes_to_be_there()
        self.number = self._locate(self.values)
        self._pursuit = pursuit_for(self.config.mode, self.planner, self.goal, self.config.patience)
        self._choice = self._choose() if self.active else NO_WAY
        self._foresight = Foresight(self.planner, self.goal) if self.looks_ahead else None
        self._expected: Expectation | None = None

    @property
    def aim(self) -> np.ndarray:
        """`int32[A]` the set that the policy is told to reach; none if there is no plan."""
        if self._choice.target == UNKNOWN:
            return np.full(len(self.planner.table.space), NO_VALUE, np.int32)
        return self.planner.table.values[self._choice.target]

    @property
    def remembers(self) -> bool:
        """Whether the mode learns from what failed within the episode, and there is something to fail at."""
        return self._pursuit.patience is not None and self._choice.target != UNKNOWN

    def look_ahead(self, options: Options, copy: int) -> int:
        """Which of the options to take; a random one if none is expected to lead to the goal."""
        assert self._foresight is not None
        best = self._foresight.choose(self.number, self.values, options, copy)
        self._expected = None
        if best is None:
            return self.steps % options.numbers.shape[1]
        probability = float(np.exp(options.log_prob[copy, best].sum()))
        self._expected = Expectation(options.expected[copy, best], probability)
        return best

    def advance(self, step: int, values: np.ndarray, truth: np.ndarray, over: bool, action: Any) -> None:
        """Take in where a step has led (as detected, and in truth), and decide what to aim at next."""
        before, choice, self.truth = self.values, self._choice, truth
        if self._foresight and self._expected and (values != self._expected.values).any():
            self._foresight.failed(self.number, self._expected.values)
        self.steps, self.waited = step + 1, self.waited + 1
        outcome, replanned = ON_THE_WAY, False
        if (values != before).any():
            outcome, replanned = self._move(values)
        elif self._pursuit.patience is not None and self.waited >= self._pursuit.patience:
            outcome, replanned = GAVE_UP, True
            self._fail()
        if over and self.active:
            outcome, self.active = ENDED, False
        if self.config.record:
            self._write(step, before, choice, action, outcome, replanned)

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

    def _move(self, values: np.ndarray) -> tuple[str, bool]:
        """The attributes changed: the way leads on from there."""
        number = self._locate(values)
        self.transitions += 1
        arrived, lost = number == self._choice.target != UNKNOWN, self._choice.target == UNKNOWN
        if self._expected is not None:
            arrived, lost = bool((values == self._expected.values).all()), False
        elif not arrived and not lost:
            self._pursuit.failed(self.number, self._choice.edge)
        self.values, self.number, self.waited = values, number, 0
        if self._believes_to_be_there():
            self.success, self.active = bool(self.goal.satisfied_by(self.truth)), False
            return (ARRIVED if arrived else DEVIATED), False
        self._choice = self._choose()
        self.replans += not arrived
        return (ARRIVED if arrived else LOST if lost else DEVIATED), not arrived

    def _fail(self) -> None:
        """Nothing changed for too long."""
        if self._choice.edge != UNKNOWN:
            self._pursuit.failed(self.number, self._choice.edge)
        self.waited, self.replans = 0, self.replans + 1
        self._choice = self._choose()

    def _choose(self) -> Choice:
        self.attempt += 1
        choice = self._pursuit.choose(self.number)
        if choice is NO_WAY and self._pursuit.patience is None:
            self.active = False
        return choice

    def _locate(self, values: np.ndarray) -> int:
        return self.planner.table.number_of(values)

    def _write(self, step: int, before: np.ndarray, choice: Choice, action: Any, outcome: str, replanned: bool) -> None:
        table, aim, probability = self.planner.table, None, 0.0
        if self._expected is not None:
            aim, probability = table.space.decode(self._expected.values), self._expected.probability
        elif choice.target != UNKNOWN:
            aim = table.space.decode(table.values[choice.target])
            probability = float(table.probability[choice.edge])
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
        if not self.plan.reachable:
            return self.plan.reason
        if self.steps >= max_steps:
            return f"the goal was not reached within {max_steps} steps."
        if self._believes_to_be_there():
            return "the detector took another attribute set for the goal."
        return "the episode ended, or led to where no plan is known, before the goal was reached."


@eqx.filter_jit
def _act(
    policy: GoalPolicy, observation: Observation, values: jax.Array, aims: jax.Array, greedy: bool, key: Key
) -> tuple[Action, jax.Array | None]:
    """An action for each copy, a random one where there is no plan; and `[B, actions]` log probabilities, if listed."""
    policy_key, random_key = jax.random.split(key)
    opinion = policy(observation, values, aims)
    batch = values.shape[:1] if opinion.active is None else opinion.active.shape
    at_random = uniform_action(policy.action_space, batch, key=random_key)
    chosen = opinion.mode() if greedy else opinion.sample(key=policy_key)
    action = where_batch(aims[:, 0] == NO_VALUE, at_random, chosen)
    log_probs = jax.nn.log_softmax(opinion.actions.logits) if isinstance(opinion.actions, Categorical) else None
    return action, log_probs


def _action_of(action: Action, copy: int) -> Any:
    return jax.tree.map(lambda leaf: np.asarray(leaf[copy]).tolist(), action)


def _picture(worlds: Worlds, copy: int, config: ExecutionConfig) -> list[np.ndarray]:
    return [worlds.draw(copy)] if config.pictures else []
