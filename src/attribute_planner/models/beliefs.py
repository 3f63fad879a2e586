"""Beliefs: weighted attribute sets that may hold, given the output of a detector."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from attribute_planner.attributes import Goal
from attribute_planner.environments.spaces import Array


class Beliefs(NamedTuple):
    """H possible attribute sets for each state of a batch, the most likely first.

    values: attribute values of each set.
    weight: probability of each set; sums to 1 for each state.
    """

    values: Int[jax.Array, "B H A"]
    weight: Float[jax.Array, "B H"]


def certain(values: Int[Array, "B A"]) -> Beliefs:
    """These values with probability 1."""
    return Beliefs(jnp.asarray(values)[:, None], jnp.ones((len(values), 1)))


def beliefs_of(log_shares: Float[np.ndarray, "B A V"], most: int) -> Beliefs:
    """At most `most` sets per state: the most likely values, and variants with one uncertain attribute changed."""
    order = np.argsort(-log_shares, axis=-1)
    best, second = (np.take_along_axis(log_shares, order[..., place, None], axis=-1)[..., 0] for place in (0, 1))
    uncertain = np.argsort(best - second, axis=-1)[:, : most - 1]
    count = 1 + uncertain.shape[1]
    values = np.repeat(order[:, None, :, 0], count, axis=1).astype(np.int32)
    rows, places = np.arange(len(values))[:, None], np.arange(1, count)
    values[rows, places, uncertain] = order[rows, uncertain, 1]
    odds = np.exp(second - best)[rows, uncertain]
    weight = np.concatenate([np.ones((len(values), 1)), odds], axis=1)
    return Beliefs(jnp.asarray(values), jnp.asarray(weight / weight.sum(axis=1, keepdims=True), jnp.float32))


def chance_of_goal(log_shares: Float[np.ndarray, "B A V"], goal: Goal) -> Float[np.ndarray, "B"]:
    """Probability that each goal of a batch `[B]` holds, given log probabilities of the attribute values."""
    value, required = np.arange(log_shares.shape[-1]), np.asarray(goal.values)[..., None]
    satisfies = value == required
    if goal.at_least is not None:
        satisfies |= np.asarray(goal.at_least)[..., None] & (value > required)
    met = np.where(satisfies, np.exp(log_shares), 0.0).sum(axis=-1)
    return np.where(np.asarray(goal.wanted), met, 1.0).prod(axis=-1)
