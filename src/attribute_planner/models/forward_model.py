"""The forward model P(ρ' | s, a): the attribute set after an action, given the current observation.

The transition table holds averages over all states with the same attribute set. The forward model conditions on the
observation. It is learned from the same random single steps as the inverse model.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Float, Int

from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.spaces import (
    Action,
    ActionSpace,
    Box,
    Discrete,
    MixedAction,
    Observation,
    UnitObservation,
    uniform_action,
)
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.models.beliefs import Beliefs
from attribute_planner.models.encoders import encoder_for, no_values
from attribute_planner.models.layers import Dense, Tower

Key = jax.Array

STAYS = 2.0
"""Initial log odds that an attribute keeps its value."""


class Products(eqx.Module):
    """Products of linear functions of the features and of the action.

    Whether a point lies left or right of an object is a sum of such products, but not a sum of functions of either.
    """

    seen: Dense
    done: Dense

    def __init__(self, seen: int, done: int, count: int, *, key: Key) -> None:
        seen_key, done_key = jax.random.split(key)
        self.seen = Dense(seen, count, gain=1.0, key=seen_key)
        self.done = Dense(done, count, gain=1.0, key=done_key)

    def __call__(
        self, seen: Float[jax.Array, "*batch features"], done: Float[jax.Array, "*actions action"]
    ) -> Float[jax.Array, "*both count"]:
        return self.seen(seen) * self.done(done)


class ForwardModel(eqx.Module):
    """P(ρ' | s, a): a distribution over the values of each attribute after an action."""

    encoder: eqx.Module
    products: Products | None
    tower: Tower
    heads: Dense
    stays: jax.Array
    space: AttributeSpace = eqx.field(static=True)
    actions: ActionSpace = eqx.field(static=True)
    observation_rank: int = eqx.field(static=True)

    def __init__(self, spec: EnvironmentSpec, hidden_size: int, keypoints: int = 0, *, key: Key) -> None:
        encoder_key, tower_key, head_key, product_key = jax.random.split(key, 4)
        outputs = int(spec.attributes.sizes.sum())
        seen, done, products = hidden_size + outputs, action_size(spec.actions), 0
        self.encoder = encoder_for(spec.observation, spec.attributes, hidden_size, keypoints, key=encoder_key)
        self.products = None
        if not isinstance(spec.actions, Discrete):
            products = 2 * hidden_size
            self.products = Products(seen, done, products, key=product_key)
        self.tower = Tower(seen + done + products, (2 * hidden_size, 2 * hidden_size), key=tower_key)
        self.heads = Dense(2 * hidden_size, outputs, gain=0.1, key=head_key)
        self.stays = jnp.array(STAYS)
        self.space, self.actions = spec.attributes, spec.actions
        self.observation_rank = len(spec.observation.shape)

    def features(self, observation: Observation) -> Float[jax.Array, "*batch width"]:
        """Features of an observation; independent of the action."""
        assert not isinstance(observation, UnitObservation), "the forward model does not support unit observations"
        observation = jnp.asarray(observation)
        nothing = no_values(self.space, observation.shape[: observation.ndim - self.observation_rank])
        return self.encoder(observation, nothing, nothing)  # pyright: ignore[reportCallIssue]

    def logits(
        self, features: Float[jax.Array, "*batch width"], values: Int[jax.Array, "*batch A"], action: Action
    ) -> Float[jax.Array, "*outputs A V"]:
        """Unnormalised log probabilities after an action in states with these features and attribute values.

        Batch axes broadcast: several actions in one state cost less than the same number of states.
        """
        now = self.space.one_hot(values)
        seen, done = jnp.concatenate([features, now], axis=-1), encode_action(self.actions, action)
        inputs = [seen, done] if self.products is None else [seen, done, self.products(seen, done)]
        outcome = self.heads(self.tower(*inputs))
        return self.space.by_attribute(outcome + self.stays.reshape((1,) * now.ndim) * now)

    def expect(
        self, features: Float[jax.Array, "*batch width"], values: Int[jax.Array, "*batch A"], action: Action
    ) -> tuple[Int[jax.Array, "*outputs A"], Float[jax.Array, "*outputs A"]]:
        """The most likely values after an action, and the log probability of each."""
        return _likeliest_values(jax.nn.log_softmax(self.logits(features, values, action)))


def log_shares(
    forward_model: ForwardModel, features: Float[jax.Array, "B width"], beliefs: Beliefs, action: Action
) -> Float[jax.Array, "B K A V"]:
    """Log probability of each value after each of K actions `[B, K]`, marginalised over the beliefs."""

    def after(values: jax.Array) -> jax.Array:
        return jax.nn.log_softmax(forward_model.logits(features[:, None], values[:, None], action))

    # A loop over beliefs: all at once would need H times the memory.
    of_each = jax.lax.map(after, jnp.moveaxis(beliefs.values, 1, 0))
    weight = jnp.log(jnp.moveaxis(beliefs.weight, 1, 0))
    return jax.nn.logsumexp(of_each + weight[:, :, None, None, None], axis=0)


def expect_all(
    forward_model: ForwardModel, features: Float[jax.Array, "B width"], beliefs: Beliefs, action: Action
) -> tuple[Int[jax.Array, "B K A"], Float[jax.Array, "B K A"]]:
    """The most likely values after each of K actions `[B, K]`, and the log probability of each."""
    return _likeliest_values(log_shares(forward_model, features, beliefs, action))


def log_prob_of(
    forward_model: ForwardModel,
    features: Float[jax.Array, "B width"],
    beliefs: Beliefs,
    action: Action,
    outcome: Int[jax.Array, "B A"],
) -> Float[jax.Array, "B K A"]:
    """Log probability that K actions `[B, K]` lead to the values `outcome`; zero where a value is negative."""
    shares, outcome = log_shares(forward_model, features, beliefs, action), outcome[:, None]
    of_outcome = jnp.take_along_axis(shares, jnp.maximum(outcome, 0)[..., None], axis=-1)[..., 0]
    return jnp.where(outcome < 0, 0.0, of_outcome)


def likeliest(
    forward_model: ForwardModel,
    features: Float[jax.Array, "B width"],
    beliefs: Beliefs,
    action: Action,
    outcome: Int[jax.Array, "B A"],
    most: int,
) -> Action:
    """The `most` of K actions `[B, K]` that are most likely to lead to the values `outcome`."""
    log_prob = jnp.sum(log_prob_of(forward_model, features, beliefs, action, outcome), axis=-1)
    best = jax.lax.top_k(log_prob, most)[1]
    return jax.tree.map(lambda leaf: jax.vmap(lambda row, places: row[places])(leaf, best), action)


def _likeliest_values(shares: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The most likely values `int32[..., A]` of log probabilities `[..., A, V]`, and the log probability of each."""
    return jnp.argmax(shares, axis=-1).astype(jnp.int32), jnp.max(shares, axis=-1)


def actions_to_try(space: ActionSpace, batch: int, most: int, *, key: Key) -> Action:
    """All actions `[B, K]` of a discrete space, otherwise `most` random ones."""
    if isinstance(space, Discrete):
        return jnp.broadcast_to(jnp.arange(space.count, dtype=jnp.int32), (batch, space.count))
    return uniform_action(space, (batch, most), key=key)


def action_size(space: ActionSpace) -> int:
    """Size of `encode_action`'s result."""
    if isinstance(space, Discrete):
        return space.count
    if isinstance(space, Box):
        return POINT_FEATURES * space.dimensions
    return space.choice.count * (1 + POINT_FEATURES * space.point.dimensions)


POINT_FEATURES = 16
"""Number of radial basis functions per coordinate of a continuous action."""


def encode_action(space: ActionSpace, action: Action) -> Float[jax.Array, "*batch size"]:
    """An action as input of a network. In a mixed action, each choice has separate features for its point."""
    if isinstance(space, Discrete):
        return jax.nn.one_hot(jnp.asarray(action), space.count)
    if isinstance(space, Box):
        return _bumps(space, jnp.asarray(action))
    assert isinstance(action, MixedAction)
    choice = jax.nn.one_hot(jnp.asarray(action.choice), space.choice.count)
    bumps = _bumps(space.point, jnp.asarray(action.point))
    each = (choice[..., :, None] * bumps[..., None, :]).reshape(*choice.shape[:-1], -1)
    return jnp.concatenate([choice, each], axis=-1)


def _bumps(box: Box, point: jax.Array) -> jax.Array:
    """`[..., POINT_FEATURES * dimensions]` Gaussian radial basis functions of each coordinate."""
    low, high = jnp.array(box.low, jnp.float32), jnp.array(box.high, jnp.float32)
    lead = (1,) * (point.ndim - 1)
    share = (point - low.reshape(*lead, -1)) / (high - low).reshape(*lead, -1)
    centres = jnp.linspace(0.0, 1.0, POINT_FEATURES).reshape(*lead, 1, -1)
    bumps = jnp.exp(-0.5 * ((share[..., None] - centres) * POINT_FEATURES) ** 2)
    return bumps.reshape(*point.shape[:-1], -1)
