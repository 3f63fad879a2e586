"""Success as a function of the state: how likely a transition is from here, not only from somewhere in its set.

c_π is a mean over the states of an attribute set. A policy that learns values estimates the same for the state at hand:
v, the value of the target from here. If v is higher than it usually was where practice attempted the same transition,
success is more likely than c_π says:

    log odds of success = log odds of c_π + weight · (log odds of v − what these usually were)

How much values tell is fitted to the attempts of practice. Of a transition that practice has not attempted, c_π is all
that is known.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from attribute_planner.environments.spaces import Observation
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.transitions.edge_numbers import EdgeNumbers

Success = Callable[[slice, Int[np.ndarray, "K A"], Float[np.ndarray, " K"]], Float[np.ndarray, " K"]]
"""From the numbers of edges, their targets and c_π to the probability of arriving from the present state."""

LEAST = 1e-3
"""Probabilities and values below count as this, and those above 1 − LEAST as that."""


@dataclass(frozen=True, eq=False)
class SuccessModel:
    """What values tell.

    weight: how much the log odds of success rise with those of the value.
    usual: the mean log odds of the values where attempts began, by transition.
    """

    weight: float
    usual: EdgeNumbers


def log_odds(probability: Float[np.ndarray, " N"]) -> Float[np.ndarray, " N"]:
    """The log odds of probabilities that are never quite 0 or 1."""
    return logit(np.clip(np.asarray(probability, float), LEAST, 1 - LEAST))


def adjusted(c: Float[np.ndarray, " K"], weight: float, surplus: Float[np.ndarray, " K"]) -> Float[np.ndarray, " K"]:
    """c_π adjusted by how much the log odds of values exceed the usual ones; NaN: not known, so that c_π stays."""
    changed = expit(log_odds(c) + weight * surplus)
    return np.where(np.isnan(surplus) | (c <= 0), c, changed)


def fitted_weight(
    c: Float[np.ndarray, " N"], surplus: Float[np.ndarray, " N"], reached: Bool[np.ndarray, " N"]
) -> float:
    """The most probable weight, given which attempts arrived; 0, with which values tell nothing, is the least.

    Before anything is measured, it is distributed around 0 with a standard deviation of 1.
    """
    sign, known = np.where(reached, 1.0, -1.0), log_odds(c)

    def loss(weight: float) -> float:
        odds = sign * (known + weight * surplus)
        return float(np.logaddexp(0.0, -odds).sum() + weight**2 / 2)

    found: Any = minimize_scalar(loss)
    return max(float(found.x), 0.0)


def success_from(
    model: SuccessModel,
    usual: Float[np.ndarray, " E"],
    policy: GoalPolicy,
    observation: Observation,
    values: Int[np.ndarray, "B A"],
    row: int,
) -> Success:
    """The success of transitions from one state of a batch.

    usual: the usual log odds of each edge of the table.
    observation, values: those of the batch.
    """

    def success(edges: slice, targets: np.ndarray, c: np.ndarray) -> np.ndarray:
        count = len(targets)
        repeated = np.full(_padded(count), row)
        here, now = jax.tree.map(lambda leaf: jnp.asarray(leaf[repeated]), (observation, values))
        value = values_of(policy, here, now, jnp.asarray(np.resize(targets, (len(repeated), targets.shape[1]))))
        return adjusted(c, model.weight, log_odds(np.asarray(value)[:count]) - usual[edges])

    return success


@eqx.filter_jit
def values_of(
    policy: GoalPolicy, observation: Observation, values: Int[jax.Array, "N A"], goal: Int[jax.Array, "N A"]
) -> Float[jax.Array, " N"]:
    """The value of each goal from each state."""
    return policy(observation, values, goal).baseline


def _padded(count: int) -> int:
    """The next power of two, so that few lengths are compiled."""
    return max(8, 1 << (count - 1).bit_length())
