"""Calibration: how much more often attempts succeed when goals are pursued than they did in practice.

c_π counts attempts of practice. When a goal is pursued, the policy is better than it was at most of these attempts, and
a search leads it out of loops. By how much, a few episodes tell: one number, the log odds that all transitions gain.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import jax
import numpy as np

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

MIN_EPISODES, MAX_EPISODES = 8, 64
"""With fewer episodes, nothing is measured; more are not needed."""

PRIOR_DEVIATION = 3.0
"""Standard deviation of the log odds before anything is measured."""

CANDIDATES = np.linspace(-3.0, 8.0, 45)
"""The log odds that are compared."""


class Calibration(NamedTuple):
    """What the episodes told.

    log_odds: the log odds that transitions gain.
    planned, reached: mean probability of the plans without it, and share of the goals reached, where there was a plan.
    episodes: their number.
    """

    log_odds: float
    planned: float
    reached: float
    episodes: int


def calibrate(agent: Agent, steps: int, *, key: Key) -> Calibration | None:
    """Pursue goals within a share of the steps of training; `None` if that allows too few episodes.

    Half of the goals are random sets, half are those of the main task.
    """
    episodes = min(int(SHARE * steps / agent.env.episode_steps), MAX_EPISODES)
    if episodes < MIN_EPISODES:
        return None
    random_key, task_key = jax.random.split(key)
    pursued = pursue_random_goals(agent, episodes // 2, key=random_key)
    pursued += _pursue_task(agent, episodes - episodes // 2, key=task_key)
    done = [each for each in pursued if each.plan.reachable]
    if len(done) < MIN_EPISODES // 2:
        return None
    plans, success = [each.plan for each in done], np.array([each.success for each in done])
    planned = float(np.mean([plan.probability for plan in plans]))
    return Calibration(fitted_log_odds(plans, success), planned, float(success.mean()), len(done))


def _pursue_task(agent: Agent, count: int, *, key: Key) -> list[Episode]:
    """Episodes of the main task; none if there is no task, or its goals always hold at the start."""
    if not agent.env.tasks:
        return []
    try:
        return attempt_tasks(agent, agent.task(None), count, EXECUTORS["default"], key=key)[0]
    except AttributePlannerError:
        return []


def fitted_log_odds(plans: Sequence[Plan], success: np.ndarray) -> float:
    """The most probable one of the candidates, given which plans succeeded `bool[N]`."""
    return float(CANDIDATES[np.argmax([_log_posterior(float(each), plans, success) for each in CANDIDATES])])


def _log_posterior(log_odds: float, plans: Sequence[Plan], success: np.ndarray) -> float:
    shifted = [replace(plan, attempts=replace(plan.attempts, log_odds=log_odds)).probability for plan in plans]
    chance = np.clip(shifted, 0.005, 0.995)
    return float(np.log(np.where(success, chance, 1 - chance)).sum() - (log_odds / PRIOR_DEVIATION) ** 2 / 2)
