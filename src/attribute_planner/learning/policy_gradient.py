"""What the policy-gradient learners share: the batch, returns, the loss, and a gradient step."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.ranges import FRACTION, NOT_NEGATIVE, POSITIVE, STEP_SIZE

Key = jax.Array


@runtime_checkable
class DescendingConfig(Protocol):
    """The settings of a gradient step."""

    @property
    def learning_rate(self) -> float: ...
    @property
    def max_grad_norm(self) -> float: ...
    @property
    def anneal(self) -> bool: ...


@runtime_checkable
class PolicyGradientConfig(DescendingConfig, Protocol):
    """The settings that every policy-gradient learner has."""

    @property
    def discount(self) -> float: ...
    @property
    def entropy_coef(self) -> float: ...
    @property
    def value_coef(self) -> float: ...


RANGES = {
    "learning_rate": STEP_SIZE,
    "discount": FRACTION,
    "entropy_coef": NOT_NEGATIVE,
    "value_coef": NOT_NEGATIVE,
    "max_grad_norm": POSITIVE,
}
"""The ranges of these settings."""


class Batch(NamedTuple):
    """Steps to learn from, `[T, B, ...]`.

    observation, values, goal: the input of the policy; attribute and goal values are `int32[T, B, A]`.
    action, log_prob, value: the action, its log probability and the value estimate at the time it was taken.
    reward: the reward of the step.
    ended: nothing follows this step.
    cut: the sequel is unknown (a time limit, the end of the batch): the value estimate replaces it.
    weight: 1 for steps to learn from, 0 for steps to ignore.
    imitate: the goal is not the one that was pursued but the one that was reached (hindsight): the step is learned
        from only where its return exceeds the value estimate.
    """

    observation: Observation
    values: jax.Array
    goal: jax.Array
    action: Action
    log_prob: jax.Array
    value: jax.Array
    reward: jax.Array
    ended: jax.Array
    cut: jax.Array
    weight: jax.Array
    imitate: jax.Array


Policy = TypeVar("Policy", bound=eqx.Module)


class TrainState(eqx.Module, Generic[Policy]):
    """A policy and the state of its optimiser.

    critic: networks that only learning uses, such as target networks.
    """

    policy: Policy
    optimiser: Any
    critic: Any = ()


def optimiser_for(config: DescendingConfig) -> optax.GradientTransformation:
    """Adam on gradients of bounded global norm, which it is given as one vector: a few calls on an accelerator."""
    return optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.adam(config.learning_rate, eps=1e-5))


def new_train_state(policy: Policy, config: DescendingConfig) -> TrainState[Policy]:
    """The initial train state of `policy`."""
    return TrainState(policy, optimiser_for(config).init(ravel_pytree(eqx.filter(policy, eqx.is_inexact_array))[0]))


def returns_of(batch: Batch, discount: float, gae_lambda: float = 1.0) -> Float[jax.Array, "T B"]:
    """λ-returns, which for λ = 1 are sums of discounted rewards.

    The return of a step after which the episode is cut off is its value estimate: its own advantage is zero, and the
    steps before it bootstrap from the estimate. Imitated steps have no value estimate of their own; their λ is 1.
    """
    mix = jnp.where(batch.imitate, 1.0, gae_lambda)
    cut = batch.cut.at[-1].set(True) & ~batch.ended
    follows = jnp.where(batch.ended, 0.0, discount)
    later_value = jnp.concatenate([batch.value[1:], jnp.zeros_like(batch.value[:1])])
    # The return is a linear function of the next one: slope · return + offset.
    slope = jnp.where(cut, 0.0, follows * mix)
    offset = jnp.where(cut, batch.value, batch.reward + follows * (1 - mix) * later_value)

    def chained(later: tuple[jax.Array, jax.Array], now: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        return now[0] * later[0], now[0] * later[1] + now[1]

    return jax.lax.associative_scan(chained, (slope, offset), reverse=True)[1]


Gain = Callable[[jax.Array, jax.Array, jax.Array], jax.Array]
"""New log probability, old log probability, advantage → the quantity whose mean is maximised."""


def loss(
    policy: GoalPolicy,
    steps: Batch,
    returns: Float[jax.Array, " N"],
    gain: Gain,
    value_coef: float,
    entropy_coef: Float[jax.Array, ""],
) -> tuple[Float[jax.Array, ""], dict]:
    """The policy-gradient loss with value error and entropy bonus on steps `[N, ...]`, and metrics."""
    output = policy(steps.observation, steps.values, steps.goal)
    log_prob = output.log_prob(steps.action)
    advantages = returns - jnp.where(steps.imitate, jax.lax.stop_gradient(output.baseline), steps.value)
    advantages = jnp.where(steps.imitate, jnp.maximum(advantages, 0.0), advantages)
    advantages = advantages / (weighted_mean(advantages**2, steps.weight) ** 0.5 + 1e-6)
    gains = jnp.where(steps.imitate, log_prob * advantages, gain(log_prob, steps.log_prob, advantages))
    error = jnp.where(steps.imitate & (output.baseline > returns), 0.0, (output.baseline - returns) ** 2)
    gains, error, entropy, returns = weighted_means(jnp.stack([gains, error, output.entropy(), returns]), steps.weight)
    metrics = {"entropy": entropy, "value_error": error, "return": returns}
    return value_coef * error - entropy_coef * entropy - gains, metrics


def gradient_step(
    train_state: TrainState,
    steps: Batch,
    returns: Float[jax.Array, " N"],
    gain: Gain,
    config: PolicyGradientConfig,
    scale: Float[jax.Array, ""],
) -> tuple[TrainState, dict]:
    """The train state after one step of the optimiser on steps `[N, ...]`, and metrics.

    scale: multiplies step size and entropy bonus.
    """

    def of_policy(policy: GoalPolicy) -> tuple[jax.Array, dict]:
        return loss(policy, steps, returns, gain, config.value_coef, config.entropy_coef * scale)

    return descend(train_state, of_policy, config, scale)


def descend(
    train_state: TrainState[Policy],
    loss: Callable[[Policy], tuple[jax.Array, dict]],
    config: DescendingConfig,
    scale: Float[jax.Array, ""],
) -> tuple[TrainState[Policy], dict]:
    """The train state after one step of the optimiser down a loss of the policy, and its metrics."""
    (value, metrics), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(train_state.policy)
    vector, as_tree = ravel_pytree(gradient)
    metrics = {**metrics, "loss": value, "grad_norm": optax.tree.norm(vector)}
    changes: Any
    changes, optimiser = optimiser_for(config).update(vector, train_state.optimiser)
    return TrainState(eqx.apply_updates(train_state.policy, as_tree(scale * changes)), optimiser), metrics


def annealed(config: DescendingConfig, remaining: float | Float[jax.Array, ""]) -> Float[jax.Array, ""]:
    """The scale of step size and entropy bonus, given the fraction of the phase that remains."""
    return jnp.asarray(remaining if config.anneal else 1.0, jnp.float32)


def weighted_mean(quantity: Float[jax.Array, "*batch"], weight: Float[jax.Array, "*batch"]) -> Float[jax.Array, ""]:
    """The weighted mean over steps; zero if no step has any weight."""
    return weighted_means(quantity[None], weight)[0]


def weighted_means(
    quantities: Float[jax.Array, "K *batch"], weight: Float[jax.Array, "*batch"]
) -> Float[jax.Array, " K"]:
    """The same for several quantities at once."""
    total = jnp.sum(quantities * weight[None], axis=tuple(range(1, quantities.ndim)))
    return total / jnp.maximum(jnp.sum(weight), 1.0)


def flat_steps(batch: Batch, returns: Float[jax.Array, "T B"]) -> tuple[Batch, Float[jax.Array, " N"]]:
    """The same without the time axis, `[N, ...]`: N is T·B."""
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), (batch, returns))
