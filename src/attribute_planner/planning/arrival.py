"""The probability that an attempt arrives, given the observation in which it begins.

c_π is an average over all states of an attribute set. A policy that estimates values knows more: its value of a target
is E[γ^T], where T is the number of steps until it arrives, from this very state. Logistic regression on the attempts of
practice tells how much each of the two says about success.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

CLOSEST = 1e-3
"""Probabilities are kept this far from 0 and 1 before their log odds are taken."""
RIDGE = 4.0
"""Weight of the prior, in attempts: that c_π alone counts."""
NEWTON_STEPS = 20


class ArrivalModel(NamedTuple):
    """Log odds of success = bias + value_weight · log odds of the value + table_weight · log odds of c_π.

    discount: γ of the values, which are divided by γ^d, where d is the usual duration of an attempt at the transition.
    """

    bias: float
    value_weight: float
    table_weight: float
    discount: float

    def probability(
        self, value: Float[np.ndarray, " K"], c: Float[np.ndarray, " K"], steps: Float[np.ndarray, " K"]
    ) -> Float[np.ndarray, " K"]:
        """P(success) of attempts at K targets, given the values of their targets, c_π and usual durations."""
        weights = np.array([self.bias, self.value_weight, self.table_weight])
        return 1 / (1 + np.exp(-(_features(value, c, steps, self.discount) @ weights)))


def fit_arrival(attempts: Float[np.ndarray, "N 4"], discount: float) -> ArrivalModel:
    """The model of attempts: each row holds the value when it began, c_π, usual duration, and whether it arrived."""
    value, c, steps, reached = attempts.astype(float).T
    features = _features(value, c, steps, discount)
    prior = np.array([0.0, 0.0, 1.0])
    weights = prior
    for _ in range(NEWTON_STEPS):
        predicted = 1 / (1 + np.exp(-(features @ weights)))
        slope = features.T @ (reached - predicted) - RIDGE * (weights - prior)
        curvature = (features * (predicted * (1 - predicted))[:, None]).T @ features + RIDGE * np.eye(3)
        weights = weights + np.linalg.solve(curvature, slope)
    # A higher value never speaks against an attempt.
    bias, value_weight, table_weight = weights.tolist()
    return ArrivalModel(bias, max(value_weight, 0.0), max(table_weight, 0.0), discount)


def _features(value: np.ndarray, c: np.ndarray, steps: np.ndarray, discount: float) -> np.ndarray:
    undiscounted = np.minimum(value * discount ** -np.maximum(steps, 1.0), 1.0)
    return np.stack([np.ones(len(c)), _log_odds(undiscounted), _log_odds(c)], axis=1)


def _log_odds(probability: np.ndarray) -> np.ndarray:
    inside = np.clip(probability, CLOSEST, 1 - CLOSEST)
    return np.log(inside / (1 - inside))
