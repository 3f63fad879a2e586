"""DQN with hindsight: learns the discounted probability of reaching a goal off-policy, from replayed steps.

Q(s, a, ρ_goal) estimates E[γ^T · w(s_T)], a number between 0 and 1, where T is the number of steps until the goal is
reached. It is the sigmoid of the network's output, fitted by cross-entropy. Targets are n-step returns: values come
from a slowly updated target network, actions from the network itself (double Q-learning).

w is the worth of arriving in the state s_T. A plan goes on from there: a pole that is about to fall is no use, wherever
its cart has arrived. If f is the share of episodes that end in failure, w = 1 − f + f · S(s_T). S is the probability
that the episode goes on for as long as a transition may take: for a random time, whose mean is the horizon 1 / (1 − γ).
Q estimates it too, for steps without a goal; every step tells how long an episode lasts, whatever it pursues. w is 1 if
no transition leads on from the goal, but for the one back to where the step before was: paths end there.
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Float

from attribute_planner.data.replay_batch import GoalShares, ReplayBatch
from attribute_planner.data.seeds import batched
from attribute_planner.learning.policy_gradient import TrainState, weighted_mean
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.ranges import COUNT, FRACTION, POSITIVE, STEP_SIZE, check_settings

Key = jax.Array


@dataclass(frozen=True)
class DQNConfig:
    """How a policy learns by DQN."""

    learning_rate: float = 1e-3
    """Step size of Adam, in the beginning."""
    last_learning_rate: float = 1e-4
    """The same at the end. A policy that learns fast to the end may lose what it can do at any time."""
    batch_size: int = 256
    """Number of steps in a batch."""
    replay_ratio: float = 16.0
    """How often each step is replayed, on average."""
    capacity: int = 500_000
    """Number of steps in the replay buffer and in the run directory; fewer if they need more than 2 GiB."""
    n_step: int = 10
    """Steps after which a return is bootstrapped, in the beginning."""
    last_n_step: int = 3
    """The same at the end. Many steps spread news fast, but blame the policy for what exploration did; with a single
    one, values become too high."""
    hindsight: float = 0.6
    """Share of steps, in the beginning, whose goal is a set that was reached later, not the one that was pursued."""
    last_hindsight: float = 0.1
    """The same at the end. Where chance plays a part, what was reached with luck seems better than it is; without any,
    a policy may lose what it can do."""
    balanced: float = 0.5
    """Share of steps with goals in hindsight that are drawn by transitions, rare ones as often as others."""
    neighbours: float = 0.5
    """Share of the other steps whose goal is any neighbouring set, not the one that was pursued."""
    survival: float = 0.25
    """Share of steps without a goal, if all episodes end in failure; fewer if fewer do. Their value is the probability
    that the episode goes on, which an arrival is worth."""
    target_rate: float = 0.01
    """Update rate of the target network (Polyak averaging)."""
    max_grad_norm: float = 1.0
    """Gradients with a larger global norm are scaled down to it."""

    def __post_init__(self) -> None:
        check_settings(
            self,
            learning_rate=STEP_SIZE,
            last_learning_rate=STEP_SIZE,
            batch_size=COUNT,
            replay_ratio=POSITIVE,
            capacity=COUNT,
            n_step=COUNT,
            last_n_step=COUNT,
            hindsight=FRACTION,
            last_hindsight=FRACTION,
            balanced=FRACTION,
            neighbours=FRACTION,
            survival=FRACTION,
            target_rate=STEP_SIZE,
            max_grad_norm=POSITIVE,
        )

    def learning_rate_at(self, remaining: float) -> float:
        """The step size, given the fraction of practice that remains."""
        return self.last_learning_rate + remaining * (self.learning_rate - self.last_learning_rate)

    def goals_at(self, remaining: float) -> GoalShares:
        """Which goals sampled steps have, given the fraction of practice that remains."""
        hindsight = self.last_hindsight + remaining * (self.hindsight - self.last_hindsight)
        return GoalShares(hindsight, self.balanced, self.neighbours, self.survival)

    def n_step_at(self, remaining: float) -> int:
        """The number of steps of a return, given the fraction of practice that remains."""
        return round(self.last_n_step + remaining * (self.n_step - self.last_n_step))


@runtime_checkable
class ValueLearningConfig(Protocol):
    """The settings that an update needs."""

    @property
    def target_rate(self) -> float: ...
    @property
    def max_grad_norm(self) -> float: ...


def optimiser_for(config: ValueLearningConfig) -> optax.GradientTransformation:
    """Adam with a step size of 1, on gradients of bounded global norm."""
    return optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.adam(1.0))


def scaled(changes: Any, rate: Float[jax.Array, ""]) -> Any:
    """The changes of an optimiser with this step size."""
    return jax.tree.map(lambda change: rate * change, changes)


def new_train_state(policy: GoalPolicy, config: ValueLearningConfig) -> TrainState:
    """The initial train state of `policy`; its critic is the target network."""
    return TrainState(policy, optimiser_for(config).init(eqx.filter(policy, eqx.is_inexact_array)), policy)


@batched
def update(
    train_state: TrainState, batches: ReplayBatch, config: DQNConfig, *, rate: Float[jax.Array, ""]
) -> tuple[TrainState, dict]:
    """The train state after an update on each of U batches `[U, N, ...]` with this step size, and metrics."""
    dynamic, static = eqx.partition(train_state, eqx.is_array)

    def step(dynamic: TrainState, batch: ReplayBatch) -> tuple[TrainState, dict]:
        after, metrics = one_update(eqx.combine(dynamic, static), batch, config, rate=rate)
        return eqx.filter(after, eqx.is_array), metrics

    dynamic, metrics = jax.lax.scan(step, dynamic, batches)
    return eqx.combine(dynamic, static), jax.tree.map(jnp.mean, metrics)


def one_update(
    train_state: TrainState, batch: ReplayBatch, config: ValueLearningConfig, *, rate: Float[jax.Array, ""]
) -> tuple[TrainState, dict]:
    """One gradient step, and an update of the target network."""
    policy, target = train_state.policy, train_state.critic
    wanted = target_values(policy, target, batch)

    def loss(policy: GoalPolicy) -> tuple[jax.Array, dict]:
        logits = policy.action_values(batch.observation, batch.values, batch.goal)
        chosen = jnp.take_along_axis(logits, jnp.asarray(batch.action)[:, None].astype(jnp.int32), axis=-1)[:, 0]
        error = weighted_mean(optax.sigmoid_binary_cross_entropy(chosen, wanted), batch.weight)
        return error, {"q_loss": error, "q_mean": weighted_mean(jax.nn.sigmoid(chosen), batch.weight)}

    gradient, metrics = eqx.filter_grad(loss, has_aux=True)(policy)
    metrics["grad_norm"] = optax.tree.norm(gradient)
    changes, optimiser = optimiser_for(config).update(gradient, train_state.optimiser)
    policy = eqx.apply_updates(policy, scaled(changes, rate))
    return TrainState(policy, optimiser, follow(target, policy, config.target_rate)), metrics


def target_values(policy: GoalPolicy, target: GoalPolicy, batch: ReplayBatch) -> Float[jax.Array, " N"]:
    """The target value of each step."""
    place = batch.next_observation, batch.next_values, batch.next_goal
    best = jnp.argmax(policy.action_values(*place), axis=-1)
    values = jax.nn.sigmoid(target.action_values(*place))
    sequel = jnp.take_along_axis(values, best[:, None], axis=-1)[:, 0]
    return jax.lax.stop_gradient(batch.wanted(sequel))


def follow(target, network, rate: float):
    """The target network, a fraction `rate` closer to the network."""
    return jax.tree.map(
        lambda old, new: (1 - rate) * old + rate * new if eqx.is_inexact_array(old) else old, target, network
    )
