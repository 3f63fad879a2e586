"""Estimators of c_π: from attempts and successes of each transition to the probability that an attempt arrives."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

PRIOR_ATTEMPTS = 2.0
"""Weight of the prior of a posterior mean, in attempts."""

UNSEEN_PRIOR_ATTEMPTS = 10.0
"""The same for a transition that was tried, but never seen to happen by itself: a set that attempts passed on the way
to a distant one. There are many of them; the few that seem good by luck must not divert plans."""

GROUP_PRIOR_ATTEMPTS = 5.0
"""Weight of the prior that a group of transitions shares, in attempts."""


@dataclass(frozen=True)
class Statistics:
    """What was observed of E transitions.

    source: position of the set that each transition leaves; there are `num_nodes` sets.
    visits: how often exploration observed it (c_πe).
    attempts, successes: how often practice tried it, and arrived (A_π, S_π).
    change: group of each transition: those of a group change the attributes in the same way.
    """

    num_nodes: int
    source: Int[np.ndarray, " E"]
    visits: Float[np.ndarray, " E"]
    attempts: Float[np.ndarray, " E"]
    successes: Float[np.ndarray, " E"]
    change: Callable[[], Int[np.ndarray, " E"]]


def success_ratio(observed: Statistics) -> Float[np.ndarray, " E"]:
    """S_π / A_π, the last line of Algorithm 1; zero for a transition that was never tried."""
    zero = np.zeros(len(observed.attempts))
    return np.divide(observed.successes, observed.attempts, out=zero, where=observed.attempts > 0)


def posterior_mean(observed: Statistics) -> Float[np.ndarray, " E"]:
    """Mean of a Beta posterior. The prior is the success rate of all attempts, with weight `PRIOR_ATTEMPTS`.

    A transition that was tried but never seen has a prior of 0, with weight `UNSEEN_PRIOR_ATTEMPTS`.
    """
    prior = (observed.successes.sum() + 1) / (observed.attempts.sum() + 2)
    mean = observed.successes + PRIOR_ATTEMPTS * prior
    mean /= observed.attempts + PRIOR_ATTEMPTS
    unseen = (observed.visits == 0) & (observed.attempts > 0)
    mean[unseen] = observed.successes[unseen] / (observed.attempts[unseen] + UNSEEN_PRIOR_ATTEMPTS)
    return mean


def grouped_posterior_mean(observed: Statistics) -> Float[np.ndarray, " E"]:
    """Mean of a Beta posterior whose prior is the success rate of the transitions that make the same change.

    In a large graph, a transition that was attempted rarely is estimated from others of its group.
    """
    group = observed.change()
    attempts, successes = (np.bincount(group, weights=each) for each in (observed.attempts, observed.successes))
    overall = (observed.successes.sum() + 1) / (observed.attempts.sum() + 2)
    prior = ((successes + PRIOR_ATTEMPTS * overall) / (attempts + PRIOR_ATTEMPTS))[group]
    return (observed.successes + GROUP_PRIOR_ATTEMPTS * prior) / (observed.attempts + GROUP_PRIOR_ATTEMPTS)


def visit_frequency(observed: Statistics) -> Float[np.ndarray, " E"]:
    """The paper's ablation without c_π: the fraction of observed transitions out of a set that went to the target."""
    leaving = np.bincount(observed.source, weights=observed.visits, minlength=observed.num_nodes)
    return observed.visits.astype(float, copy=False) / np.maximum(leaving[observed.source], 1e-12)


ESTIMATORS: dict[str, Callable[[Statistics], np.ndarray]] = {
    "ratio": success_ratio,
    "posterior": posterior_mean,
    "alike": grouped_posterior_mean,
    "visits": visit_frequency,
}
"""`alike` is named after the transitions that it groups: those that make the same change."""
