"""The judge: knows the true attributes and says whether a goal was reached. The agent never sees what it sees."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from attribute_planner.attributes import Goal
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.planning.episode import Episode


class Judge:
    """Watches a batch of environments, one goal in each. Without a true f, it takes the agent's word."""

    def __init__(self, goals: Goal, timestep: TimeStep) -> None:
        self._goals = goals
        self._satisfied = self._now(timestep)
        self._was_satisfied = self._satisfied

    def watch(self, timestep: TimeStep, active: Bool[np.ndarray, " B"]) -> None:
        """Look at the environments that have just been stepped."""
        now = self._now(timestep)
        if now is not None and self._satisfied is not None and self._was_satisfied is not None:
            self._satisfied = np.where(active, now, self._satisfied)
            self._was_satisfied = self._was_satisfied | (active & now)

    def verdicts(self, episodes: Sequence[Episode]) -> list[Episode]:
        """The episodes with success and, where it is missing, the reason."""
        if self._satisfied is None or self._was_satisfied is None:
            return [episode.judged(episode.claimed, episode.reason) for episode in episodes]
        verdicts = zip(episodes, self._satisfied.tolist(), self._was_satisfied.tolist(), strict=True)
        return [_judged(episode, satisfied, was_satisfied) for episode, satisfied, was_satisfied in verdicts]

    def _now(self, timestep: TimeStep) -> Bool[np.ndarray, " B"] | None:
        if timestep.attributes is None:
            return None
        return np.asarray(self._goals.satisfied_by(np.asarray(timestep.attributes)))


def _judged(episode: Episode, satisfied: bool, was_satisfied: bool) -> Episode:
    if episode.claimed and satisfied:
        return episode.judged(True, "")
    if episode.claimed:
        return episode.judged(False, "the detector took another attribute set for the goal.")
    if was_satisfied:
        return episode.judged(False, "the goal was reached on the way, but the detector did not see it.")
    return episode.judged(False, episode.reason)
