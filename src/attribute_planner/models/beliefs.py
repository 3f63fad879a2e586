"""Beliefs: what may be the case, where a detector is not sure of what it sees."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.environments.spaces import Array


class Beliefs(NamedTuple):
    """What may be the case, for a batch: H attribute sets each, the likeliest first.

    values: `int32[B, H, A]`.
    weight: `float32[B, H]` how likely each is; all of a state together are 1.
    """

    values: jax.Array
    weight: jax.Array


def certain(values: Array) -> Beliefs:
    """The values `[B, A]`, and nothing else."""
    return Beliefs(jnp.asarray(values)[:, None], jnp.ones((len(values), 1)))


def beliefs_of(log_shares: np.ndarray, most: int) -> Beliefs:
    """Of log probabilities `[B, A, V]`: the likeliest values, and the same with one of the least sure ones changed."""
    order = np.argsort(-log_shares, axis=-1)
    best, second = (np.take_along_axis(log_shares, order[..., place, None], axis=-1)[..., 0] for place in (0, 1))
    doubtful = np.argsort(best - second, axis=-1)[:, : most - 1]
    count = 1 + doubtful.shape[1]
    values = np.repeat(order[:, None, :, 0], count, axis=1).astype(np.int32)
    rows, places = np.arange(len(values))[:, None], np.arange(1, count)
    values[rows, places, doubtful] = order[rows, doubtful, 1]
    odds = np.exp(second - best)[rows, doubtful]
    weight = np.concatenate([np.ones((len(values), 1)), odds], axis=1)
    return Beliefs(jnp.asarray(values), jnp.asarray(weight / weight.sum(axis=1, keepdims=True), jnp.float32))


def chance_of_goal(log_shares: np.ndarray, goal: Goal) -> np.ndarray:
    """`[B]` how likely what each goal `[B]` asks for is the case, by log probabilities `[B, A, V]` of the values."""
    value, asked_for = np.arange(log_shares.shape[-1]), np.asarray(goal.values)[..., None]
    will_do = value == asked_for
    if goal.at_least is not None:
        will_do |= np.asarray(goal.at_least)[..., None] & (value > asked_for)
    met = np.where(will_do, np.exp(log_shares), 0.0).sum(axis=-1)
    return np.where(np.asarray(goal.wanted), met, 1.0).prod(axis=-1)
