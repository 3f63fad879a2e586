"""The probability that an attempt arrives, given the observation in which it begins.

c_π is an average over all states of an attribute set. A policy that estimates values knows more: its value of a target
is E[γ^T], where T is the number of steps until it arrives, from this very state. Logistic regression on the attempts of
practice tells how much each of the two says about success.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize
from scipy.special import expit

CLOSEST = 1e-3
"""Probabilities are kept this far from 0 and 1 before their log odds are taken."""
RIDGE = 4.0
"""Weight of the prior, in attempts: that c_π alone counts."""


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
        return expit(_features(value, c, steps, self.discount) @ weights)


def fit_arrival(attempts: Float[np.ndarray, "N 4"], discount: float) -> ArrivalModel:
    """The model of attempts: each row holds the value when it began, c_π, usual duration, and whether it arrived."""
    value, c, steps, reached = attempts.astype(float).T
    features = _features(value, c, steps, discount)
    prior = np.array([0.0, 0.0, 1.0])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logits, off = features @ weights, weights - prior
        surprise = np.logaddexp(0.0, logits) - reached * logits
        slope = features.T @ (expit(logits) - reached) + RIDGE * off
        return float(surprise.sum() + RIDGE / 2 * off @ off), slope

    # A higher value never speaks against an attempt, nor does a higher c_π.
    bounds = [(None, None), (0.0, None), (0.0, None)]
    bias, value_weight, table_weight = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds).x.tolist()
    return ArrivalModel(bias, value_weight, table_weight, discount)


def _features(value: np.ndarray, c: np.ndarray, steps: np.ndarray, discount: float) -> np.ndarray:
    undiscounted = np.minimum(value * discount ** -np.maximum(steps, 1.0), 1.0)
    return np.stack([np.ones(len(c)), _log_odds(undiscounted), _log_odds(c)], axis=1)


def _log_odds(probability: np.ndarray) -> np.ndarray:
    inside = np.clip(probability, CLOSEST, 1 - CLOSEST)
    return np.log(inside / (1 - inside))
