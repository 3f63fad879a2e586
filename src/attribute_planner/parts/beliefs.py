"""Beliefs: what may be the case, where a detector is not sure of what it sees."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from attribute_planner.attributes import Goal
from attribute_planner.environments.spaces import Array, Observation
from attribute_planner.parts.detector import AttributeDetector


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


@eqx.filter_jit
def beliefs(detector: AttributeDetector, observation: Observation, most: int) -> Beliefs:
    """What a detector sees in a batch of observations, and the same with one value changed of which it is unsure."""
    shares = jax.nn.log_softmax(detector.logits(jnp.asarray(observation)))
    best, second = jnp.moveaxis(jax.lax.top_k(shares, 2)[0], -1, 0)
    first_value, second_value = jnp.moveaxis(jax.lax.top_k(shares, 2)[1], -1, 0)
    odds, doubtful = jax.lax.top_k(second - best, most - 1)
    changed = jax.nn.one_hot(doubtful, shares.shape[1], dtype=bool)
    others = jnp.where(changed, second_value[:, None], first_value[:, None])
    values = jnp.concatenate([first_value[:, None], others], axis=1).astype(jnp.int32)
    return Beliefs(values, jax.nn.softmax(jnp.pad(odds, ((0, 0), (1, 0)))))


@eqx.filter_jit
def chance_of_goal(detector: AttributeDetector, observation: Observation, goal: Goal) -> jax.Array:
    """`[B]` how likely a detector takes each of a batch of observations to show what its goal `[B]` asks for."""
    shares = jax.nn.log_softmax(detector.logits(jnp.asarray(observation)))
    value = jnp.arange(shares.shape[-1], dtype=jnp.int32).reshape(1, 1, -1)
    wanted_value = jnp.asarray(goal.values, jnp.int32)[..., None]
    will_do = value == wanted_value
    if goal.at_least is not None:
        will_do |= jnp.asarray(goal.at_least)[..., None] & (value > wanted_value)
    met = jax.nn.logsumexp(jnp.where(will_do, shares, -jnp.inf), axis=-1)
    return jnp.exp(jnp.sum(jnp.where(jnp.asarray(goal.wanted), met, 0.0), axis=-1))
