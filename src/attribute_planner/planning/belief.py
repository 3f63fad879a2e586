"""Belief: the distribution over attribute sets given the observation, and the probability that the goal holds."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from attribute_planner.attributes import Goal
from attribute_planner.environments.spaces import Observation
from attribute_planner.models.beliefs import Beliefs, beliefs_of, certain, chance_of_goal
from attribute_planner.models.detector import AttributeDetector, detected_shares

HYPOTHESES = 4
"""How many attribute sets a belief considers (sets)."""


class Belief(NamedTuple):
    """The belief about a batch of environments.

    values: the most probable attribute set.
    log_shares: log probability of each value of each attribute; `None` if f is given.
    """

    values: Int[np.ndarray, "B A"]
    log_shares: Float[np.ndarray, "B A V"] | None

    def p_goal(self, goals: Goal) -> Float[np.ndarray, " B"]:
        """The probability that each environment satisfies its goal."""
        if self.log_shares is None:
            return np.asarray(goals.satisfied_by(self.values), float)
        return chance_of_goal(self.log_shares, goals)

    def hypotheses(self, rows: Int[np.ndarray, " R"]) -> Beliefs:
        """The most probable sets in some environments, with their probabilities."""
        return certain(self.values[rows]) if self.log_shares is None else beliefs_of(self.log_shares[rows], HYPOTHESES)


def perceive(
    detector: AttributeDetector | None, observation: Observation, attributes: Int[np.ndarray, "B A"] | None
) -> Belief:
    """The belief after an observation; without a detector, the environment's own f is used."""
    if detector is None:
        return Belief(np.asarray(attributes), None)
    log_shares = np.asarray(detected_shares(detector, observation))
    return Belief(log_shares.argmax(axis=-1).astype(np.int32), log_shares)
