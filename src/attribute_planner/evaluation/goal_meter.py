"""How many goals the agent reaches during training: random sets that were observed, from new starts.

Episodes of the measurement are neither learned from nor counted, and draw from a random key of their own: what is
learned is the same with and without them.
"""

import time
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from attribute_planner.algorithm import Progress, agent_so_far
from attribute_planner.aliasing.records import change_words
from attribute_planner.attributes import AttributeSpace
from attribute_planner.configuration import TrainConfig
from attribute_planner.data.seeds import num_together
from attribute_planner.environments.interface import Environment
from attribute_planner.evaluation.random_goals import pursue_random_goals
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.plan import Plan

Key = jax.Array

EPISODES = 32
"""Episodes of a measurement, at most; one for each environment of practice if those are fewer."""

SHARE = 0.03
"""Largest share of the time that measurements take, those of all seeds that train together; but see `LONGEST_PAUSE`."""

LONGEST_PAUSE = 0.25
"""Largest share of practice without a measurement: an old one says little."""

FIRST_AFTER = 20.0
"""Seconds of training before the first measurement, whose duration is not known yet."""


class GoalMeter:
    """Measures the current agent during training, as often as the budget of measurements allows.

    env: the environment; to be replaced where hidden attributes are added.
    """

    def __init__(self, env: Environment, config: TrainConfig, *, key: Key) -> None:
        self.env, self._config, self._key = env, config, key
        self._started, self._seconds, self._last_seconds, self._done = time.monotonic(), 0.0, 0.0, 0.0

    def measure_if_due(self, progress: Progress) -> dict[str, Any]:
        """The metrics of a measurement; empty if none is due, or nothing can act yet."""
        practised = progress.practised
        if practised is None:
            return {}
        done = practised.steps / max(self._config.practise.steps, 1)
        if not self._is_due(done):
            return {}
        began = time.monotonic()
        agent = agent_so_far(self.env, self._config, progress)
        if agent is None:
            return {}
        count = min(EPISODES, self._config.practise.num_envs)
        episodes = pursue_random_goals(agent, count, key=jax.random.fold_in(self._key, practised.epoch))
        self._last_seconds = time.monotonic() - began
        self._seconds += self._last_seconds
        self._done = done
        return metrics_of(episodes)

    def _is_due(self, done: float) -> bool:
        """Whether another measurement like the last one stays within its share of the time, or the last one is old."""
        elapsed = time.monotonic() - self._started
        if elapsed >= FIRST_AFTER and done - self._done >= LONGEST_PAUSE:
            return True
        return elapsed >= FIRST_AFTER and self._seconds + self._last_seconds <= SHARE / num_together() * elapsed


def metrics_of(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Goals reached and planned, and the weakest edge on the plans."""
    weakest = weakest_edge([each.plan for each in episodes])
    return {
        "goals_reached": float(np.mean([each.success for each in episodes])),
        "goals_planned": float(np.mean([each.plan.probability for each in episodes])),
        "goals_measured": len(episodes),
        **({} if weakest is None else {"weakest_edge": weakest}),
    }


def weakest_edge(plans: Sequence[Plan]) -> str | None:
    """The transition on plans with the smallest c_π, with its evidence; `None` if there are no transitions."""
    steps = [(evidence.probability, plan, place) for plan in plans for place, evidence in enumerate(plan.evidence)]
    if not steps:
        return None
    _, plan, place = min(steps, key=lambda step: step[0])
    change = change_words(plan.space, plan.values[place], plan.values[place + 1], rest=False)
    return f"{change}: {plan.evidence[place]}"


def num_unseen_values(space: AttributeSpace, words: np.ndarray) -> int:
    """Number of declared values that no packed set `[N, W]` has."""
    values = np.asarray(space.unpack(words))
    return int(sum(size - len(np.unique(column)) for size, column in zip(space.sizes, values.T, strict=True)))
