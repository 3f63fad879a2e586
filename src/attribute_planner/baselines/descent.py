"""One gradient step per batch: how actor-critic and Option-Critic learn, as A3C does."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from attribute_planner.learning.policy_gradient import returns_of

Network = TypeVar("Network", bound=eqx.Module)
Loss = Callable[[Any, jax.Array], tuple[jax.Array, dict[str, jax.Array]]]
"""Network, anneal (1 at the start of training, 0 at its end) → a number to make small, what to show people."""


@dataclass(frozen=True)
class DescentConfig:
    """How actor-critic and Option-Critic learn; the same for both, and like REINFORCE where nothing is said.

    The entropy bonus was picked from 0.01, 0.03 and 0.1, with step sizes of 0.5, 1 and 2 · 10⁻³, by the success on
    1-step tasks of the blocks, seen as a vector of cells, of one run each of 1 or 1.5 million steps. Actor-critic came
    to 60 % with 0.01 and either of the greater step sizes, 87 % with 0.03 and 1 · 10⁻³, 94 % as it is now.
    """

    learning_rate: float = 2e-3
    """Step size of Adam; A3C had RMSProp."""
    anneal: bool = True
    """Whether step size and entropy bonus fall linearly to zero over training."""
    discount: float = 0.99
    """How much a reward one step later counts."""
    entropy_coef: float = 0.1
    """Weight of the bonus for undecided policies. REINFORCE has 0.01, with surprises in units of their spread."""
    value_coef: float = 0.5
    """Weight of the critic's squared error."""
    max_grad_norm: float = 0.5
    """Gradients longer than this (global norm) are shortened to it."""


class TrainState(eqx.Module, Generic[Network]):
    """A network and the state of its optimiser."""

    network: Network
    optimiser: optax.OptState


def new_train_state(network: Network, config: DescentConfig) -> TrainState[Network]:
    """An train_state that begins with `network`."""
    return TrainState(network, optimiser_for(config).init(eqx.filter(network, eqx.is_array)))


def optimiser_for(config: DescentConfig) -> optax.GradientTransformation:
    """Adam on gradients of bounded length."""
    return optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.adam(config.learning_rate, eps=1e-5))


def descend(
    train_state: TrainState[Network], loss: Loss, config: DescentConfig, remaining: jax.Array
) -> tuple[TrainState[Network], dict[str, jax.Array]]:
    """The train_state after one step down the loss, and its metrics; `remaining` is the share of training to come."""
    anneal = remaining if config.anneal else jnp.ones_like(remaining)
    gradient, metrics = eqx.filter_grad(loss, has_aux=True)(train_state.network, anneal)
    changes, state = optimiser_for(config).update(gradient, train_state.optimiser)
    changes = jax.tree.map(lambda change: anneal * change, changes)
    return TrainState(eqx.apply_updates(train_state.network, changes), state), metrics


def bootstrapped_returns(batch: Any, config: DescentConfig) -> jax.Array:
    """`[T, B]` rewards up to the end of the trial or of the batch; there the critic's opinion stands for the rest."""
    return returns_of(batch, config.discount)
