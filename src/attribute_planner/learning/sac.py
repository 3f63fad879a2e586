"""SAC with hindsight, for actions in a box: an actor and two critics, learned off-policy from replayed steps.

As in `dqn`, Q(s, a, ρ_goal) is the discounted probability of reaching the goal in a state that leads on. The actor
maximises log Q, the smaller of two estimates, plus its entropy; its baseline learns that Q, for
`planning.state_success`. The weight of the entropy is adjusted until the entropy is minus the number of dimensions of
the action, measured where the box is [−1, 1].
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Float, Int

from attribute_planner.data.replay_batch import ReplayBatch
from attribute_planner.data.seeds import batched
from attribute_planner.environments.seen_from_agent import for_acting
from attribute_planner.environments.spaces import Action, Box, Observation
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.learning.dqn import DQNConfig, follow, optimiser_for, scaled
from attribute_planner.learning.policy_gradient import TrainState, weighted_mean
from attribute_planner.models.distributions import SquashedNormal
from attribute_planner.models.encoders import Encoder, encoder_for
from attribute_planner.models.layers import Dense, Tower
from attribute_planner.models.observation_scaling import ObservationStatistics, with_statistics
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array

FIRST_TEMPERATURE = 0.05
"""Initial weight of the entropy: about −log of the discount over three steps, at a discount factor of 0.98."""

VALUE_COEF = 0.5
"""Weight of the squared error of the baseline."""


class Critic(eqx.Module):
    """The logit of Q(s, a, ρ_goal)."""

    encoder: Encoder
    tower: Tower
    head: Dense
    box: Box = eqx.field(static=True)

    def __init__(self, spec: EnvironmentSpec, hidden_size: int, *, key: Key) -> None:
        assert isinstance(spec.actions, Box), "SAC needs actions in a box"
        encoder_key, tower_key, head_key = jax.random.split(key, 3)
        self.encoder = encoder_for(for_acting(spec.observation), spec.attributes, hidden_size, key=encoder_key)
        self.tower = Tower(hidden_size + spec.actions.dimensions, (hidden_size, hidden_size), key=tower_key)
        self.head = Dense(hidden_size, 1, gain=0.01, key=head_key)
        self.box = spec.actions

    def __call__(
        self,
        observation: Observation,
        values: Int[jax.Array, "N A"],
        goal: Int[jax.Array, "N A"],
        action: Float[jax.Array, "N D"],
    ) -> Float[jax.Array, " N"]:
        features = self.encoder(jnp.asarray(observation), values, goal)
        return self.head(self.tower(features, in_units(self.box, action)))[..., 0]


def in_units(box: Box, action: Float[jax.Array, "N D"]) -> Float[jax.Array, "N D"]:
    """The action with each dimension between −1 and 1."""
    low, high = (jnp.array(bound, jnp.float32)[None] for bound in (box.low, box.high))
    return 2 * (action - low) / (high - low) - 1


class Critics(NamedTuple):
    """The critics and the temperature.

    critic, target: two critics each, stacked; the target follows the critic.
    log_temperature: logarithm of the weight of the entropy.
    """

    critic: Any
    target: Any
    log_temperature: jax.Array


def critics_with(critics: Critics, statistics: ObservationStatistics | None) -> Critics:
    """The critics with other statistics of observations."""
    critic, target = (
        eqx.filter_vmap(lambda one: with_statistics(one, statistics))(both) for both in (critics.critic, critics.target)
    )
    return critics._replace(critic=critic, target=target)


class Optimisers(NamedTuple):
    """The state of the optimiser of each part."""

    actor: Any
    critic: Any
    temperature: Any


def new_train_state(
    policy: GoalPolicy, spec: EnvironmentSpec, hidden_size: int, config: DQNConfig, *, key: Key
) -> TrainState:
    """The initial train state of `policy`."""
    critic = eqx.filter_vmap(lambda key: Critic(spec, hidden_size, key=key))(jax.random.split(key, 2))
    log_temperature = jnp.log(jnp.float32(FIRST_TEMPERATURE))
    optimiser = optimiser_for(config)
    parts = (eqx.filter(part, eqx.is_inexact_array) for part in (policy, critic, log_temperature))
    return TrainState(policy, Optimisers(*map(optimiser.init, parts)), Critics(critic, critic, log_temperature))


@batched
def update(
    train_state: TrainState, batches: ReplayBatch, config: DQNConfig, *, rate: Float[jax.Array, ""], key: Key
) -> tuple[TrainState, dict]:
    """The train state after an update on each of U batches `[U, N, ...]` with this step size, and metrics."""
    dynamic, static = eqx.partition(train_state, eqx.is_array)

    def step(dynamic: TrainState, given: tuple[ReplayBatch, Key]) -> tuple[TrainState, dict]:
        after, metrics = one_update(eqx.combine(dynamic, static), given[0], config, rate=rate, key=given[1])
        return eqx.filter(after, eqx.is_array), metrics

    keys = jax.random.split(key, len(batches.weight))
    dynamic, metrics = jax.lax.scan(step, dynamic, (batches, keys))
    return eqx.combine(dynamic, static), jax.tree.map(jnp.mean, metrics)


def one_update(
    train_state: TrainState, batch: ReplayBatch, config: DQNConfig, *, rate: Float[jax.Array, ""], key: Key
) -> tuple[TrainState, dict]:
    """One gradient step of critics, actor and temperature, and an update of the target critics."""
    next_key, action_key = jax.random.split(key)
    actor, critics = train_state.policy, train_state.critic
    optimisers: Optimisers = train_state.optimiser
    optimiser = optimiser_for(config)
    wanted = target_values(actor, critics.target, batch, key=next_key)

    def critic_loss(critic: Critic) -> tuple[jax.Array, dict]:
        logits = both(critic, batch.observation, batch.values, batch.goal, batch.action)
        error = optax.sigmoid_binary_cross_entropy(logits, jnp.stack([wanted, wanted])).sum(axis=0)
        error = weighted_mean(error, batch.weight)
        return error, {"q_loss": error, "q_mean": weighted_mean(jax.nn.sigmoid(logits[0]), batch.weight)}

    critic_gradient, metrics = eqx.filter_grad(critic_loss, has_aux=True)(critics.critic)
    changes, critic_state = optimiser.update(critic_gradient, optimisers.critic)
    critic = eqx.apply_updates(critics.critic, scaled(changes, rate))

    def actor_loss(actor: GoalPolicy) -> tuple[jax.Array, jax.Array]:
        output = actor(batch.observation, batch.values, batch.goal)
        assert isinstance(output.actions, SquashedNormal)
        action, log_prob = output.actions.sample_and_log_prob(key=action_key)
        entropy = -log_prob - log_half_widths(critic.box)
        log_value = jax.nn.log_sigmoid(both(critic, batch.observation, batch.values, batch.goal, action).min(axis=0))
        gain = log_value + jnp.exp(critics.log_temperature) * entropy
        error = jnp.square(output.baseline - jax.lax.stop_gradient(jnp.exp(log_value)))
        loss = -weighted_mean(gain, batch.weight) + VALUE_COEF * weighted_mean(error, batch.weight)
        return loss, weighted_mean(entropy, batch.weight)

    gradient, entropy = eqx.filter_grad(actor_loss, has_aux=True)(actor)
    changes, actor_state = optimiser.update(gradient, optimisers.actor)
    actor = eqx.apply_updates(actor, scaled(changes, rate))

    surplus = entropy + len(critic.box.low)
    change, temperature_state = optimiser.update(jnp.exp(critics.log_temperature) * surplus, optimisers.temperature)
    log_temperature = critics.log_temperature + rate * jnp.asarray(change)
    critics = Critics(critic, follow(critics.target, critic, config.target_rate), log_temperature)
    grad_norm = optax.tree.norm((critic_gradient, gradient))
    metrics |= {"entropy": entropy, "temperature": jnp.exp(log_temperature), "grad_norm": grad_norm}
    return TrainState(actor, Optimisers(actor_state, critic_state, temperature_state), critics), metrics


def target_values(actor: GoalPolicy, target: Critic, batch: ReplayBatch, *, key: Key) -> Float[jax.Array, " N"]:
    """The target value of each step."""
    place = batch.next_observation, batch.next_values, batch.next_goal
    logits = both(target, *place, actor(*place).sample(key=key)).min(axis=0)
    return jax.lax.stop_gradient(batch.wanted(jax.nn.sigmoid(logits)))


def both(
    critic: Critic,
    observation: Observation,
    values: Int[jax.Array, "N A"],
    goal: Int[jax.Array, "N A"],
    action: Action,
) -> Float[jax.Array, "2 N"]:
    """The logits of both critics."""
    return eqx.filter_vmap(lambda one: one(observation, values, goal, jnp.asarray(action)))(critic)


def log_half_widths(box: Box) -> Float[jax.Array, ""]:
    """The logarithm of the volume of the box in units of [−1, 1]."""
    return jnp.sum(jnp.log((jnp.array(box.high) - jnp.array(box.low)) / 2))
