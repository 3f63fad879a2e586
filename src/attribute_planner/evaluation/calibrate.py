"""Calibration: how often attempts succeed when goals are pursued, compared with practice.

c_π counts attempts of practice. When a goal is pursued, the policy is better than it was at most of these attempts, and
a search leads it out of loops; but what fails for a reason that it cannot change, fails again. Some episodes tell by
how much: two numbers, by which the log odds of all transitions are multiplied and increased.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float
from scipy.optimize import minimize

from attribute_planner.agent import Agent
from attribute_planner.errors import AttributePlannerError
from attribute_planner.evaluation.evaluate import attempt_tasks
from attribute_planner.evaluation.random_goals import pursue_random_goals
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.executor import EXECUTORS
from attribute_planner.planning.plan import Plan

Key = jax.Array

SHARE = 0.05
"""Largest number of environment steps that calibration takes, as a share of those of training."""

MIN_EPISODES, MAX_EPISODES = 8, 192
"""With fewer episodes, nothing is measured; more are not needed."""

AT_ONCE = 32
"""Largest number of episodes in a batch. Episodes that succeed are short: steps are left for further batches."""

PRIOR_DEVIATION, SLOPE_DEVIATION = 3.0, 0.7
"""Standard deviation of the log odds, and of the logarithm of the slope, before anything is measured."""

LIMITS = ((-6.0, 8.0), (-2.0, 2.0))
"""Least and greatest log odds, and logarithm of the slope."""


class Calibration(NamedTuple):
    """What the episodes told.

    log_odds: what is added to the log odds of transitions.
    planned, reached: mean probability of the plans without it, and share of the goals reached, where there was a plan.
    episodes: their number.
    slope: the factor of the log odds.
    """

    log_odds: float
    planned: float
    reached: float
    episodes: int
    slope: float = 1.0


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
    log_odds, slope = fitted_odds(plans, success)
    return Calibration(log_odds, planned, float(success.mean()), len(done), slope)


def pursue_within(agent: Agent, steps: int, *, key: Key) -> list[Episode]:
    """Episodes that together take at most so many environment steps; none if that allows only few."""
    done: list[Episode] = []
    affordable = steps // agent.env.episode_steps
    count = max(MIN_EPISODES, min(affordable // 2, AT_ONCE))
    while sum(each.steps for each in done) + count * agent.env.episode_steps <= steps and len(done) < MAX_EPISODES:
        random_key, task_key = jax.random.split(jax.random.fold_in(key, len(done)))
        new = pursue_random_goals(agent, count // 2, key=random_key)
        new += _pursue_task(agent, len(done) // count, count - count // 2, key=task_key)
        done += new
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


def fitted_odds(plans: Sequence[Plan], success: Bool[np.ndarray, " N"]) -> tuple[float, float]:
    """The most probable log odds and slope, given which plans succeeded."""
    same, won = Counter(_kind(plan) for plan in plans), Counter[tuple]()
    for plan, succeeded in zip(plans, success, strict=True):
        won[_kind(plan)] += bool(succeeded)
    one_of_each = {_kind(plan): plan for plan in plans}
    counts = np.array([[won[kind], same[kind] - won[kind]] for kind in one_of_each], float)

    def loss(odds: np.ndarray) -> float:
        return -_log_posterior(odds, list(one_of_each.values()), counts)

    log_odds, log_slope = minimize(loss, np.zeros(2), method="Nelder-Mead", bounds=LIMITS, options=PRECISION).x
    return float(log_odds), float(np.exp(log_slope))


PRECISION = {"xatol": 0.02, "fatol": 0.02, "initial_simplex": [[0.0, 0.0], [1.0, 0.0], [0.0, 0.5]]}


def _kind(plan: Plan) -> tuple:
    """What the probability of a plan depends on."""
    return (tuple(each.probability for each in plan.evidence), plan.durations, plan.horizon)


def _log_posterior(odds: Float[np.ndarray, "2"], plans: Sequence[Plan], counts: Float[np.ndarray, "K 2"]) -> float:
    """counts: successes and failures of each plan."""
    (log_odds, log_slope), slope = odds, float(np.exp(odds[1]))
    shifted = [replace(each.attempts, log_odds=float(log_odds), slope=slope) for each in plans]
    chance = [replace(plan, attempts=model).probability for plan, model in zip(plans, shifted, strict=True)]
    chance = np.clip(chance, 0.005, 0.995)
    prior = (log_odds / PRIOR_DEVIATION) ** 2 / 2 + (log_slope / SLOPE_DEVIATION) ** 2 / 2
    return float((counts * np.log(np.stack([chance, 1 - chance], axis=1))).sum() - prior)
