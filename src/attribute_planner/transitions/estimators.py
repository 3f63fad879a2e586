"""Estimators of c_π: from attempts and successes of each transition to the probability that an attempt arrives.

A posterior mean lies between what was counted and a prior: the success rate of similar transitions. How many attempts
the prior is worth depends on the environment. Where similar transitions differ by no more than chance explains, it is
worth many, and the estimates become equal; where they differ, few. This weight is fitted to the counts (empirical
Bayes), so that plans are not diverted by differences that are noise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize_scalar
from scipy.special import betaln

PRIOR_ATTEMPTS = 2.0
"""Weight of a prior, in attempts, before anything is counted."""

WEIGHTS = (0.5, 10_000.0)
"""Least and greatest weight of a prior, in attempts."""

WEIGHT_DEVIATION = 3.0
"""Standard deviation of the logarithm of that weight, before anything is counted."""

FITTED_EDGES = 20_000
"""The weight is fitted to at most this many transitions, evenly spaced."""


UNSEEN_PRIOR_ATTEMPTS = 10.0
"""Weight of a prior of 0, in attempts, for a transition that was never seen to happen by itself, such as one from a set
that attempts passed on the way to a distant one. There are many; the few that seem good must not divert plans."""


@dataclass(frozen=True)
class Statistics:
    """What was observed of E transitions.

    source: position of the set that each transition leaves; there are `num_nodes` sets.
    visits: how often exploration observed it (c_πe).
    attempts, successes: how often practice tried it, and arrived (A_π, S_π).
    groups: groups of similar transitions, from large to small, each of which divides those before.
    """

    num_nodes: int
    source: Int[np.ndarray, " E"]
    visits: Float[np.ndarray, " E"]
    attempts: Float[np.ndarray, " E"]
    successes: Float[np.ndarray, " E"]
    groups: Callable[[], tuple[Int[np.ndarray, " E"], ...]]


def success_ratio(observed: Statistics) -> Float[np.ndarray, " E"]:
    """S_π / A_π, the last line of Algorithm 1; zero for a transition that was never tried."""
    zero = np.zeros(len(observed.attempts))
    return np.divide(observed.successes, observed.attempts, out=zero, where=observed.attempts > 0)


def posterior_mean(observed: Statistics) -> Float[np.ndarray, " E"]:
    """Mean of a Beta posterior whose prior is the success rate of similar transitions.

    All transitions are divided into groups, these into smaller ones, down to the single transition. The prior of a
    part is the success rate of the rest of its group, which has a prior of the same kind. The weight of the prior is
    fitted for all parts of one kind together. A transition that was tried but never seen has a prior of 0, with weight
    `UNSEEN_PRIOR_ATTEMPTS`.
    """
    group, prior, weight = np.zeros(len(observed.attempts), np.int32), np.full(1, 0.5), PRIOR_ATTEMPTS
    attempts, successes = (np.full(1, each.sum()) for each in (observed.attempts, observed.successes))
    for part in (*observed.groups(), np.arange(len(group))):
        tried, arrived = (np.bincount(part, weights=each) for each in (observed.attempts, observed.successes))
        whole = np.zeros(len(tried), np.int32)
        whole[part] = group
        others, successful = np.maximum(attempts[whole] - tried, 0.0), np.maximum(successes[whole] - arrived, 0.0)
        prior = np.minimum((successful + weight * prior[whole]) / (others + weight), 1.0)
        weight = fitted_weight(tried, arrived, prior)
        group, attempts, successes = part, tried, arrived
    mean = (successes + weight * prior) / (attempts + weight)
    unseen = (observed.visits == 0) & (attempts > 0)
    mean[unseen] = successes[unseen] / (attempts[unseen] + UNSEEN_PRIOR_ATTEMPTS)
    return mean


def fitted_weight(
    attempts: Float[np.ndarray, " E"], successes: Float[np.ndarray, " E"], prior: Float[np.ndarray, " E"] | float
) -> float:
    """The most probable weight of the prior, in attempts: c_π is Beta distributed around it, successes binomially."""
    tried = np.flatnonzero(attempts > 0)
    tried = tried[:: 1 + len(tried) // FITTED_EDGES]
    mean = np.clip(np.broadcast_to(prior, attempts.shape)[tried], 1e-4, 1 - 1e-4)
    won, lost = successes[tried], np.maximum(attempts[tried] - successes[tried], 0.0)

    def loss(log_weight: float) -> float:
        alpha, beta = np.exp(log_weight) * mean, np.exp(log_weight) * (1 - mean)
        penalty = ((log_weight - np.log(PRIOR_ATTEMPTS)) / WEIGHT_DEVIATION) ** 2 / 2
        return float(penalty - (betaln(won + alpha, lost + beta) - betaln(alpha, beta)).sum())

    found: Any = minimize_scalar(loss, bounds=np.log(WEIGHTS), method="bounded")
    return float(np.exp(found.x))


def visit_frequency(observed: Statistics) -> Float[np.ndarray, " E"]:
    """The paper's ablation without c_π: the fraction of observed transitions out of a set that went to the target."""
    leaving = np.bincount(observed.source, weights=observed.visits, minlength=observed.num_nodes)
    return observed.visits.astype(float, copy=False) / np.maximum(leaving[observed.source], 1e-12)


ESTIMATORS: dict[str, Callable[[Statistics], np.ndarray]] = {
    "ratio": success_ratio,
    "posterior": posterior_mean,
    "visits": visit_frequency,
}
