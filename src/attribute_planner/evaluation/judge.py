"""The judge: decides by the true attributes whether a goal was reached. The agent does not observe them."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.planning.episode import Episode


def judge(
    episodes: Sequence[Episode],
    start: Int[np.ndarray, "B A"] | None,
    trajectories: Trajectories,
    space: AttributeSpace,
) -> list[Episode]:
    """The episodes with their success and, for failures, the reason.

    start: true attributes at the start; `None` if there is no f, in which case the agent's detector decides.
    trajectories: the steps of all environments, with their true attributes.
    """
    if start is None:
        return [episode.judged(episode.claimed, episode.reason) for episode in episodes]
    truth = start[None]
    if trajectories.size:
        truth = np.concatenate([truth, np.asarray(space.unpack(np.asarray(trajectories.next_attributes)))])
    return [_judged(episode, truth[: episode.steps + 1, i]) for i, episode in enumerate(episodes)]


def _judged(episode: Episode, truth: Int[np.ndarray, "T A"]) -> Episode:
    """The verdict on one episode, by its true attributes from the start to the end."""
    satisfied: Bool[np.ndarray, " T"] = np.asarray(episode.goal.satisfied_by(truth))
    if episode.claimed and satisfied[-1]:
        return episode.judged(True, "")
    if episode.claimed:
        return episode.judged(False, "the detector took another attribute set for the goal.")
    if satisfied.any():
        return episode.judged(False, "the goal was reached on the way, but the detector did not see it.")
    return episode.judged(False, episode.reason)
