"""REINFORCE with a learned baseline: how policies learn where nobody can tell what the right action was."""

from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array


@dataclass(frozen=True)
class ReinforceConfig:
    """How a policy learns from the returns of its own actions.

    With one pass and one minibatch this is REINFORCE with a baseline; more passes reuse each batch, with the importance
    ratio clipped so that the policy does not run away from the data.
    """

    learning_rate: float = 2e-3
    """Step size of Adam."""
    anneal: bool = True
    """Whether step size and entropy bonus fall linearly to zero over the phase."""
    discount: float = 0.99
    """How much a reward one step later counts."""
    gae_lambda: float = 0.95
    """λ: how far returns are followed before the baseline is trusted instead; 1 for plain REINFORCE."""
    entropy_coef: float = 0.01
    """Weight of the bonus for undecided policies."""
    value_coef: float = 0.5
    """Weight of the baseline's squared error."""
    update_epochs: int = 4
    """How often each batch is used."""
    num_minibatches: int = 4
    """Into how many parts a batch is split in each pass."""
    clip_eps: float = 0.2
    """How far a reused batch may move the probability of an action, as a ratio."""
    max_grad_norm: float = 0.5
    """Gradients longer than this (global norm) are shortened to it."""


class Batch(NamedTuple):
    """Steps to learn from, `[T, B, ...]`.

    observation, values, goal: what the policy saw: attribute and goal values are `int32[T, B, A]`.
    action, log_prob, baseline: what it did, and thought then.
    reward: what the step earned.
    ended: after this step nothing more is earned.
    cut: what would have followed is unknown (a time limit, the end of the batch): the baseline stands in for it.
    weight: 1 for steps to learn from, 0 for those to ignore.
    imitate: the goal is not the one that was pursued but the one that was reached by chance (hindsight): the step is
        learned from only as far as it did better than expected.
    """

    observation: Observation
    values: jax.Array
    goal: jax.Array
    action: Action
    log_prob: jax.Array
    baseline: jax.Array
    reward: jax.Array
    ended: jax.Array
    cut: jax.Array
    weight: jax.Array
    imitate: jax.Array


class TrainState(eqx.Module):
    """A policy and the state of its optimiser."""

    policy: GoalPolicy
    optimiser: optax.OptState


def optimiser_for(config: ReinforceConfig) -> optax.GradientTransformation:
    """Adam on gradients of bounded length."""
    return optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.adam(config.learning_rate, eps=1e-5))


def new_train_state(policy: GoalPolicy, config: ReinforceConfig) -> TrainState:
    """A learner that begins with `policy`."""
    return TrainState(policy, optimiser_for(config).init(eqx.filter(policy, eqx.is_array)))


def returns(batch: Batch, config: ReinforceConfig) -> jax.Array:
    """`[T, B]` what each step earned in the end: λ-returns, which for λ = 1 are plain sums of discounted rewards.

    A step whose sequel was cut away is worth what the baseline thought of it: it teaches nothing itself, and the steps
    before it are not told that the world ended there. Imitated steps have no baseline of their own; their returns are
    plain sums.
    """

    def backwards(later: tuple[jax.Array, jax.Array], step: tuple[jax.Array, ...]):
        earned_later, baseline_later = later
        reward, ended, cut, baseline, imitate = step
        gae_lambda = jnp.where(imitate, 1.0, config.gae_lambda)
        mixed = gae_lambda * earned_later + (1 - gae_lambda) * baseline_later
        earned = reward + config.discount * jnp.where(ended, 0.0, mixed)
        earned = jnp.where(cut & ~ended, baseline, earned)
        return (earned, baseline), earned

    cut = batch.cut.at[-1].set(True)
    nothing = jnp.zeros(batch.reward.shape[1:])
    steps = (batch.reward, batch.ended, cut, batch.baseline, batch.imitate)
    return jax.lax.scan(backwards, (nothing, nothing), steps, reverse=True)[1]


def loss(
    policy: GoalPolicy, steps: Batch, earned: jax.Array, config: ReinforceConfig, entropy: jax.Array
) -> tuple[jax.Array, dict]:
    """Policy-gradient loss with baseline and entropy on steps `[N, ...]`, and what to show people of it."""
    output = policy(steps.observation, steps.values, steps.goal)
    log_prob = output.log_prob(steps.action)
    surprise = earned - jnp.where(steps.imitate, jax.lax.stop_gradient(output.baseline), steps.baseline)
    surprise = jnp.where(steps.imitate, jnp.maximum(surprise, 0.0), surprise)
    advantage = surprise / (weighted_mean(surprise**2, steps.weight) ** 0.5 + 1e-6)
    gain = jnp.where(steps.imitate, log_prob * advantage, _clipped_gain(log_prob, steps.log_prob, advantage, config))
    error = jnp.where(steps.imitate & (output.baseline > earned), 0.0, (output.baseline - earned) ** 2)
    shown = {
        "entropy": weighted_mean(output.entropy(), steps.weight),
        "baseline_error": weighted_mean(error, steps.weight),
        "return": weighted_mean(earned, steps.weight),
    }
    total = config.value_coef * shown["baseline_error"] - entropy * shown["entropy"]
    return total - weighted_mean(gain, steps.weight), shown


def _clipped_gain(
    log_prob: jax.Array, log_prob_then: jax.Array, advantage: jax.Array, config: ReinforceConfig
) -> jax.Array:
    """What making the action likelier gains; at the first use of a batch its gradient is REINFORCE's."""
    ratio = jnp.exp(log_prob - log_prob_then)
    clipped = jnp.clip(ratio, 1 - config.clip_eps, 1 + config.clip_eps)
    return jnp.minimum(ratio * advantage, clipped * advantage)


def weighted_mean(quantity: jax.Array, weight: jax.Array) -> jax.Array:
    """The mean over steps; zero if none has any weight."""
    return jnp.sum(quantity * weight) / jnp.maximum(jnp.sum(weight), 1.0)


@eqx.filter_jit
def update(
    train_state: TrainState, batch: Batch, config: ReinforceConfig, *, remaining: float | jax.Array = 1.0, key: Key
) -> tuple[TrainState, dict]:
    """The learner after one batch, and its metrics; `remaining` is the share of the phase that is still to come."""
    warmth = jnp.asarray(remaining if config.anneal else 1.0, jnp.float32)
    earned = returns(batch, config)
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), (batch, earned))
    optimiser = optimiser_for(config)

    def minibatch(train_state: TrainState, chosen: jax.Array) -> tuple[TrainState, dict]:
        steps, gains = jax.tree.map(lambda leaf: leaf[chosen], flat) if config.num_minibatches > 1 else flat
        gradient, metrics = eqx.filter_grad(loss, has_aux=True)(
            train_state.policy, steps, gains, config, config.entropy_coef * warmth
        )
        changes, state = optimiser.update(gradient, train_state.optimiser)
        changes = jax.tree.map(lambda change: warmth * change, changes)
        return TrainState(eqx.apply_updates(train_state.policy, changes), state), metrics

    dynamic, static = eqx.partition(train_state, eqx.is_array)

    def scanned(dynamic: TrainState, chosen: jax.Array) -> tuple[TrainState, dict]:
        train_state, metrics = minibatch(eqx.combine(dynamic, static), chosen)
        return eqx.filter(train_state, eqx.is_array), metrics

    dynamic, metrics = jax.lax.scan(scanned, dynamic, _minibatches(earned.size, config, key))
    return eqx.combine(dynamic, static), jax.tree.map(jnp.mean, metrics)


def _minibatches(size: int, config: ReinforceConfig, key: Key) -> jax.Array:
    """`[passes * minibatches, n]` which steps make up each minibatch; every pass shuffles anew.

    A single minibatch is the whole batch as it stands: `n` is then 0, since nothing needs to be picked.
    """
    if config.num_minibatches == 1:
        return jnp.zeros((config.update_epochs, 0), jnp.int32)
    share = size // config.num_minibatches
    orders = [
        jax.random.permutation(k, size)[: share * config.num_minibatches]
        for k in jax.random.split(key, config.update_epochs)
    ]
    return jnp.concatenate([order.reshape(config.num_minibatches, share) for order in orders])
