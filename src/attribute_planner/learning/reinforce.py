"""REINFORCE with a learned value baseline: one gradient step on each batch of plain returns."""

from dataclasses import dataclass

import jax
from jaxtyping import Float

from attribute_planner.data.seeds import batched
from attribute_planner.learning.policy_gradient import (
    RANGES,
    Batch,
    TrainState,
    annealed,
    flat_steps,
    gradient_step,
    returns_of,
)
from attribute_planner.ranges import check_settings

Key = jax.Array


@dataclass(frozen=True)
class ReinforceConfig:
    """How a policy learns by REINFORCE."""

    learning_rate: float = 2e-3
    """Step size of Adam."""
    discount: float = 0.99
    """Discount factor of later rewards."""
    entropy_coef: float = 0.01
    """Weight of the entropy bonus."""
    value_coef: float = 0.5
    """Weight of the squared error of the value estimate."""
    max_grad_norm: float = 0.5
    """Gradients with a larger global norm are scaled down to it."""
    anneal: bool = False
    """Whether step size and entropy bonus fall linearly to zero over the phase."""

    def __post_init__(self) -> None:
        check_settings(self, **RANGES)


def _gain(log_prob: jax.Array, log_prob_then: jax.Array, advantages: jax.Array) -> jax.Array:
    del log_prob_then
    return log_prob * advantages


@batched
def update(
    train_state: TrainState,
    batch: Batch,
    config: ReinforceConfig,
    *,
    remaining: float | Float[jax.Array, ""] = 1.0,
    key: Key,
) -> tuple[TrainState, dict]:
    """The train state after one batch, and metrics; `remaining` is the fraction of the phase still to come."""
    del key
    steps, returns = flat_steps(batch, returns_of(batch, config.discount))
    return gradient_step(train_state, steps, returns, _gain, config, annealed(config, remaining))
