"""The model of one episode: the success probability of an attempt, given earlier attempts (docs/execution.md).

A transition with success probability c fails for two reasons. Either it is not available from the current state,
although other states of the same attribute set allow it (aliasing), or it is available and the attempt fails by chance.
`aliasing` is the share of failures of the first kind:

    availability a = 1 − aliasing · (1 − c),    reliability q = c / a,    c = a · q

A failed attempt is evidence against availability, by Bayes' rule. The published execution uses no evidence and ignores
time.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Probability = Float[np.ndarray, "..."] | float


@dataclass(frozen=True)
class EpisodeModel:
    """How the probability of an attempt follows from c_π and the failures so far.

    aliasing: the fraction of failures that are due to the state, and so repeat themselves; between 0 and 1.
    """

    aliasing: float = 0.5

    def availability(self, c: Probability, failures: Probability = 0.0) -> np.ndarray:
        """The posterior probability that a transition is available after a number of failed attempts."""
        prior = 1.0 - self.aliasing * (1.0 - np.asarray(c, float))
        by_chance = (1.0 - self.reliability(c)) ** failures
        with np.errstate(invalid="ignore"):
            posterior = prior * by_chance / (prior * by_chance + (1.0 - prior))
        # With c = 1 a failure has probability 0 under both explanations: the limit c → 1 is used.
        repeated = 1.0 if self.aliasing == 0.0 else 0.0
        limit = np.where(np.asarray(failures) > 1, repeated, 1.0 - self.aliasing)
        return np.where(np.isnan(posterior), limit, posterior)

    def reliability(self, c: Probability) -> np.ndarray:
        """The probability that an attempt at an available transition arrives."""
        c = np.asarray(c, float)
        prior = 1.0 - self.aliasing * (1.0 - c)
        return np.divide(c, prior, out=np.zeros_like(c), where=prior > 0)

    def attempt(self, c: Probability, failures: Probability = 0.0) -> np.ndarray:
        """The probability that the next attempt arrives."""
        return np.asarray(self.availability(c, failures) * self.reliability(c))


def edge_cost(
    c: Float[np.ndarray, " E"], steps: Float[np.ndarray, " E"], horizon: float = np.inf
) -> Float[np.ndarray, " E"]:
    """The cost of a transition on a plan: −log c_π, and its share of the steps of an episode.

    The deadline is modelled as geometric with mean `horizon`, so that a plan of d steps is in time with probability
    exp(−d / horizon). An infinite horizon leaves −log c_π, as published.
    """
    cost, possible = np.full(len(c), np.inf), c > 0
    cost[possible] = -np.log(c[possible]) + np.maximum(steps[possible], 1.0) / horizon
    return cost


EPISODE_MODEL = EpisodeModel()
"""The model of the default executor."""

DETERMINISTIC = EpisodeModel(aliasing=0.95)
"""The same for a policy that always takes its most probable action: in the same state it fails in the same way. It is
below 1 because an agent that returns to a set may be in another of its states."""
