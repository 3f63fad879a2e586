"""PPO: several epochs of minibatches on each batch, with clipped probability ratios and λ-returns."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Float

from attribute_planner.data.bundle import Bundle
from attribute_planner.data.seeds import batched
from attribute_planner.errors import ConfigurationError
from attribute_planner.learning.policy_gradient import (
    RANGES,
    Batch,
    TrainState,
    annealed,
    flat_steps,
    gradient_step,
    returns_of,
)
from attribute_planner.ranges import COUNT, FRACTION, POSITIVE, check_settings

Key = jax.Array


@dataclass(frozen=True)
class PPOConfig:
    """How a policy learns by PPO."""

    learning_rate: float = 2e-3
    """Step size of Adam."""
    anneal: bool = True
    """Whether step size and entropy bonus fall linearly to zero over the phase."""
    discount: float = 0.99
    """Discount factor of later rewards."""
    gae_lambda: float = 0.95
    """λ of the λ-returns: 1 for plain returns, 0 for one-step bootstrapping."""
    entropy_coef: float = 0.01
    """Weight of the entropy bonus."""
    value_coef: float = 0.5
    """Weight of the squared error of the value estimate."""
    update_epochs: int = 4
    """How often each batch is used."""
    num_minibatches: int = 4
    """Into how many parts a batch is split in each epoch."""
    clip_eps: float = 0.2
    """How far the probability ratio of an action may move from 1 before its gradient is cut off."""
    max_grad_norm: float = 0.5
    """Gradients with a larger global norm are scaled down to it."""

    def __post_init__(self) -> None:
        check_settings(
            self, **RANGES, gae_lambda=FRACTION, update_epochs=COUNT, num_minibatches=COUNT, clip_eps=POSITIVE
        )

    def check_batch(self, steps: int) -> None:
        """An error unless a batch of so many steps can be split into the minibatches."""
        if self.num_minibatches > steps:
            raise ConfigurationError(
                f"PPOConfig.num_minibatches must be at most the number of steps in a batch, num_envs × rollout_length "
                f"= {steps:,}; it is {self.num_minibatches:,}."
            )


def _clipped_gain(config: PPOConfig):
    def gain(log_prob: jax.Array, log_prob_then: jax.Array, advantages: jax.Array) -> jax.Array:
        ratio = jnp.exp(log_prob - log_prob_then)
        clipped = jnp.clip(ratio, 1 - config.clip_eps, 1 + config.clip_eps)
        return jnp.minimum(ratio * advantages, clipped * advantages)

    return gain


@batched
def update(
    train_state: TrainState, batch: Batch, config: PPOConfig, *, remaining: float | Float[jax.Array, ""] = 1.0, key: Key
) -> tuple[TrainState, dict]:
    """The train state after one batch, and metrics; `remaining` is the fraction of the phase still to come."""
    scale, gain = annealed(config, remaining), _clipped_gain(config)
    flat = flat_steps(batch, returns_of(batch, config.discount, config.gae_lambda))
    dynamic, static = eqx.partition(train_state, eqx.is_array)

    def minibatch(dynamic: TrainState, chosen: jax.Array) -> tuple[TrainState, Bundle]:
        steps, returns = jax.tree.map(lambda leaf: leaf[chosen], flat) if config.num_minibatches > 1 else flat
        train_state, metrics = gradient_step(eqx.combine(dynamic, static), steps, returns, gain, config, scale)
        return eqx.filter(train_state, eqx.is_array), Bundle.of(metrics)

    dynamic, metrics = jax.lax.scan(minibatch, dynamic, _minibatches(batch.reward.size, config, key))
    return eqx.combine(dynamic, static), jax.tree.map(jnp.mean, metrics.tree(axis=1))


def _minibatches(size: int, config: PPOConfig, key: Key) -> jax.Array:
    """`int32[update_epochs * num_minibatches, n]` the steps of each minibatch; every epoch has its own order.

    A single minibatch is the whole batch in its own order: `n` is then 0, since nothing is picked.
    """
    if config.num_minibatches == 1:
        return jnp.zeros((config.update_epochs, 0), jnp.int32)
    share = size // config.num_minibatches
    order = jnp.argsort(jax.random.bits(key, (config.update_epochs, size)))
    return order[:, : share * config.num_minibatches].reshape(-1, share)
