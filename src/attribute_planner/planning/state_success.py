"""Success as a function of the state: how likely a transition is from here, not only from somewhere in its set.

c_π is a mean over all states of an attribute set. A policy that learns values estimates the same for the state at hand:
v, the value of the target from here. How much each of the two tells is fitted to the attempts of practice:

    log odds of success = constant + of_table · log odds of c_π + of_value · log odds of v
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.optimize import minimize
from scipy.special import expit, logit

from attribute_planner.environments.spaces import Observation
from attribute_planner.models.policy import GoalPolicy

Success = Callable[[Int[np.ndarray, "K A"], Float[np.ndarray, " K"]], Float[np.ndarray, " K"]]
"""From targets and c_π to the probability of arriving at each from the present state."""

LEAST = 1e-3
"""Probabilities below count as this, and those above 1 − LEAST as that."""

PRIOR_DEVIATION = 1.0
"""Standard deviation of each weight around that of `TABLE_ALONE`, before anything is measured."""

LIMITS = ((-10.0, 10.0), (0.0, 5.0), (0.0, 5.0))
"""Least and greatest of each weight: neither estimate is evidence of the opposite."""


class SuccessModel(NamedTuple):
    """The weights of both estimates."""

    constant: float = 0.0
    of_table: float = 1.0
    of_value: float = 0.0

    def probability(self, c: Float[np.ndarray, " K"], value: Float[np.ndarray, " K"]) -> Float[np.ndarray, " K"]:
        """The probability of arriving from the present state; what has c_π = 0 stays impossible."""
        return np.where(c > 0, expit(_log_odds(c, value) @ np.array(self)), 0.0)


TABLE_ALONE = SuccessModel()
"""The value tells nothing."""


def fitted_success(
    c: Float[np.ndarray, " N"], value: Float[np.ndarray, " N"], reached: Bool[np.ndarray, " N"]
) -> SuccessModel:
    """The most probable weights, given which attempts arrived."""
    features, sign = _log_odds(c, value), np.where(reached, 1.0, -1.0)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        odds, off = sign * (features @ weights), (weights - np.array(TABLE_ALONE)) / PRIOR_DEVIATION
        slope = -(sign * expit(-odds)) @ features
        return float(np.logaddexp(0.0, -odds).sum() + off @ off / 2), slope + off / PRIOR_DEVIATION

    found = minimize(loss, np.array(TABLE_ALONE), jac=True, method="L-BFGS-B", bounds=LIMITS)
    return SuccessModel(*map(float, found.x))


def success_from(
    model: SuccessModel, policy: GoalPolicy, observation: Observation, values: Int[np.ndarray, " A"]
) -> Success:
    """The success of transitions from one state, of which the policy has an observation."""

    def success(targets: np.ndarray, c: np.ndarray) -> np.ndarray:
        rows = np.resize(np.arange(len(targets)), _padded(len(targets)))
        value = np.asarray(_values_from(policy, observation, jnp.asarray(values), jnp.asarray(targets[rows])))
        return model.probability(c, value[: len(targets)])

    return success


@eqx.filter_jit
def _values_from(policy: GoalPolicy, observation: Observation, values: jax.Array, targets: jax.Array) -> jax.Array:
    def repeated(leaf: jax.Array) -> jax.Array:
        return jnp.broadcast_to(leaf, (len(targets), *jnp.shape(leaf)))

    return policy(jax.tree.map(repeated, observation), repeated(values), targets).baseline


@eqx.filter_jit
def values_of(
    policy: GoalPolicy, observation: Observation, values: Int[jax.Array, "N A"], goal: Int[jax.Array, "N A"]
) -> Float[jax.Array, " N"]:
    """The value of each goal from each state."""
    return policy(observation, values, goal).baseline


def _padded(count: int) -> int:
    """The next power of two, so that few lengths are compiled."""
    return max(8, 1 << (count - 1).bit_length())


def _log_odds(c: np.ndarray, value: np.ndarray) -> Float[np.ndarray, "N 3"]:
    clipped = np.clip(np.stack([c, value]).astype(float), LEAST, 1 - LEAST)
    return np.stack([np.ones(len(c)), *logit(clipped)], axis=1)
