"""Sights: what an agent sees of the worlds that it acts in, and how sure it is."""

from typing import NamedTuple

import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.models.beliefs import Beliefs, beliefs_of, certain, chance_of_goal
from attribute_planner.models.detector import AttributeDetector, detected_shares


class Sight(NamedTuple):
    """What is seen of a batch of worlds.

    values: `int32[B, A]` what the agent believes the attributes to be.
    truth: `int32[B, A]` what they are, by which success is judged; where f is not given, as detected.
    log_shares: `float32[B, A, V]` how likely each value is to the detector; `None` if the true f is asked.
    """

    values: np.ndarray
    truth: np.ndarray
    log_shares: np.ndarray | None

    def chance_of(self, goals: Goal) -> np.ndarray:
        """`float[B]` how likely each world is where its goal `[B]` is; only a detector leaves room for doubt."""
        return np.ones(len(self.values)) if self.log_shares is None else chance_of_goal(self.log_shares, goals)

    def beliefs(self, rows: np.ndarray) -> Beliefs:
        """What may be the case in the worlds `rows`; where the detector is sure of all of them, only that.

        Of few worlds always all, so that what comes of it is compiled but once.
        """
        if self.log_shares is not None:
            believed = beliefs_of(self.log_shares[rows], BELIEFS)
            if len(rows) <= FEW or np.any(believed.weight[:, 1] > UNSURE):
                return believed
        return certain(self.values[rows])


BELIEFS, UNSURE = 4, 0.02
"""How many sets may be the case, and from which chance of another one on to think of them."""
FEW = 8
"""Worlds for which thinking of them costs next to nothing."""


def look(detector: AttributeDetector | None, timestep: TimeStep) -> Sight:
    """What a detector sees in a moment, and what is there; without one, the true f is asked."""
    if detector is None:
        values = np.asarray(timestep.attributes)
        return Sight(values, values, None)
    log_shares = np.asarray(detected_shares(detector, timestep.observation))
    values = log_shares.argmax(axis=-1).astype(np.int32)
    return Sight(values, values if timestep.attributes is None else np.asarray(timestep.attributes), log_shares)
