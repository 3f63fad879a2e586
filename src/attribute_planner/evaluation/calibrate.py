"""Calibration: how often attempts succeed when goals are pursued, compared with practice.

c_π counts attempts of practice. When a goal is pursued, the policy is better than it was at most of these attempts, and
a search leads it out of loops; but what fails for a reason that it cannot change, fails again. Some episodes tell by
how much: two numbers, by which the log odds of all transitions are multiplied and increased. Goals that mention the
same attributes have a third one in common: a plan is one way, and the fewer attributes a goal mentions, the more others
may lead to it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import minimize, minimize_scalar

from attribute_planner.agent import Agent
from attribute_planner.errors import AttributePlannerError
from attribute_planner.evaluation.evaluate import attempt_tasks
from attribute_planner.evaluation.random_goals import pursue_random_goals
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.episode_model import Odds, mentioned
from attribute_planner.planning.executor import EXECUTORS
from attribute_planner.planning.plan import Plan

Key = jax.Array

SHARE = 0.05
"""Largest number of environment steps that calibration takes, as a share of those of training."""

MIN_EPISODES, MAX_EPISODES = 8, 400
"""With fewer episodes, nothing is measured; more are not needed."""

AT_ONCE = 32
"""Largest number of episodes in a batch. Episodes that succeed are short: steps are left for further batches."""

PRIOR_DEVIATION, SLOPE_DEVIATION = 3.0, 0.7
"""Standard deviation of the log odds, and of the logarithm of the slope, before anything is measured."""

LIMITS = ((-6.0, 8.0), (-2.0, 2.0))
"""Least and greatest log odds, and logarithm of the slope."""

KIND_DEVIATION, LARGEST_OWN = 1.0, 4.0
"""Standard deviation of the log odds that goals of one kind add, before anything is measured, and their limit."""


SURPRISE = 0.01
"""The share of episodes whose success says nothing about the odds: a few that fail do not refute a sure plan."""


class Calibration(NamedTuple):
    """What the episodes told.

    odds: how likely attempts succeed, compared with practice.
    planned, reached: mean probability of the plans without it, and share of the goals reached, where there was a plan.
    episodes: their number.
    """

    odds: Odds
    planned: float
    reached: float
    episodes: int

    @property
    def metrics(self) -> dict[str, float]:
        """The numbers that all goals share."""
        shared = {"log_odds": self.odds.log_odds, "slope": self.odds.slope}
        return {**shared, "planned": self.planned, "reached": self.reached, "episodes": self.episodes}


def calibrate(agent: Agent, steps: int, *, key: Key) -> Calibration | None:
    """Pursue goals within a share of the steps of training; `None` if that allows too few episodes.

    Half of the goals are random sets, half are those of the tasks.
    """
    pursued = pursue_within(agent, int(SHARE * steps), key=key)
    done = [each for each in pursued if each.plan.reachable]
    if len(done) < MIN_EPISODES // 2:
        return None
    plans, success = [each.plan for each in done], np.array([each.success for each in done])
    planned = float(np.mean([plan.probability for plan in plans]))
    return Calibration(fitted_odds(plans, success), planned, float(success.mean()), len(done))


def pursue_within(agent: Agent, steps: int, *, key: Key) -> list[Episode]:
    """Episodes that together take about so many environment steps; none if that allows only few.

    The first ones may all take as long as possible. After them it is known how long episodes are.
    """
    done: list[Episode] = []
    longest = agent.env.episode_steps
    count = max(MIN_EPISODES, min(steps // (2 * longest), AT_ONCE)) if MIN_EPISODES * longest <= steps else 0
    number = 0
    while count >= MIN_EPISODES and len(done) < MAX_EPISODES:
        random_key, task_key = jax.random.split(jax.random.fold_in(key, number))
        done += pursue_random_goals(agent, count // 2, key=random_key)
        done += _pursue_task(agent, number, count - count // 2, key=task_key)
        spent, number = sum(each.steps for each in done), number + 1
        count = min(AT_ONCE, int((steps - spent) * len(done) / max(spent, 1)))
    return done


def _pursue_task(agent: Agent, number: int, count: int, *, key: Key) -> list[Episode]:
    """Episodes of one task after the other; none if there is no task, or its goals always hold at the start."""
    tasks = list(agent.env.tasks.values())
    try:
        return (
            attempt_tasks(agent, tasks[number % len(tasks)], count, EXECUTORS["default"], key=key)[0] if tasks else []
        )
    except AttributePlannerError:
        return []


def fitted_odds(plans: Sequence[Plan], success: Bool[np.ndarray, " N"]) -> Odds:
    """The most probable odds, given which plans succeeded: those of all goals, then those of each kind of goal."""
    shared = _shared_odds(plans, success)
    kinds = np.array([mentioned(plan.goal) for plan in plans])
    if len(set(kinds)) < 2:
        return shared
    of_kind = {str(kind): np.flatnonzero(kinds == kind).tolist() for kind in np.unique(kinds)}
    own = {kind: _own_log_odds(shared, [plans[each] for each in of], success[of]) for kind, of in of_kind.items()}
    return replace(shared, by_goal=own)


def _shared_odds(plans: Sequence[Plan], success: Bool[np.ndarray, " N"]) -> Odds:
    outcomes = _outcomes(plans, success)

    def loss(x: np.ndarray) -> float:
        prior = (x[0] / PRIOR_DEVIATION) ** 2 / 2 + (x[1] / SLOPE_DEVIATION) ** 2 / 2
        return prior - _log_likelihood(Odds(float(x[0]), float(np.exp(x[1]))), outcomes)

    log_odds, log_slope = minimize(loss, np.zeros(2), method="Nelder-Mead", bounds=LIMITS, options=PRECISION).x
    return Odds(float(log_odds), float(np.exp(log_slope)))


def _own_log_odds(shared: Odds, plans: Sequence[Plan], success: Bool[np.ndarray, " N"]) -> float:
    """What goals of one kind add to the log odds that all share."""
    outcomes = _outcomes(plans, success)

    def loss(own: float) -> float:
        shifted = replace(shared, log_odds=shared.log_odds + own)
        return (own / KIND_DEVIATION) ** 2 / 2 - _log_likelihood(shifted, outcomes)

    found: Any = minimize_scalar(loss, bounds=(-LARGEST_OWN, LARGEST_OWN), method="bounded")
    return float(found.x)


PRECISION = {"xatol": 0.02, "fatol": 0.02, "initial_simplex": [[0.0, 0.0], [1.0, 0.0], [0.0, 0.5]]}


class Outcomes(NamedTuple):
    """Plans that differ, and how often each succeeded and failed."""

    plans: list[Plan]
    counts: Float[np.ndarray, "K 2"]


def _outcomes(plans: Sequence[Plan], success: Bool[np.ndarray, " N"]) -> Outcomes:
    """Plans whose probability depends on the same numbers are taken together."""

    def kind(plan: Plan) -> tuple:
        return (tuple(each.probability for each in plan.evidence), plan.durations, plan.horizon)

    same, won = Counter(map(kind, plans)), Counter[tuple]()
    for plan, succeeded in zip(plans, success, strict=True):
        won[kind(plan)] += bool(succeeded)
    one_of_each = {kind(plan): plan for plan in plans}
    counts = np.array([[won[each], same[each] - won[each]] for each in one_of_each], float)
    return Outcomes(list(one_of_each.values()), counts)


def _log_likelihood(odds: Odds, outcomes: Outcomes) -> float:
    chance = [replace(plan, attempts=replace(plan.attempts, odds=odds)).probability for plan in outcomes.plans]
    chance = SURPRISE / 2 + (1 - SURPRISE) * np.array(chance)
    return float((outcomes.counts * np.log(np.stack([chance, 1 - chance], axis=1))).sum())
