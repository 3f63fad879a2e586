"""The goal-conditioned policy π(a | s, ρ_goal), with the baseline that its learning needs."""

import equinox as eqx
import jax
import jax.numpy as jnp

from attribute_planner.environments.spaces import Action, ActionSpace, Observation, UnitObservation
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.models.distributions import Distribution, distribution_of, head_size
from attribute_planner.models.encoders import Encoder, encoder_for
from attribute_planner.models.layers import Dense

Key = jax.Array


class PolicyOutput(eqx.Module):
    """What a policy thinks of a batch of situations.

    actions: the distribution over actions, of each unit where there are several.
    baseline: `[...]` expected return, the baseline of REINFORCE.
    active: `[..., U]` which units count, `None` for a single agent.
    """

    actions: Distribution
    baseline: jax.Array
    active: jax.Array | None = None

    def sample(self, *, key: Key) -> Action:
        return self.actions.sample(key=key)

    def mode(self) -> Action:
        return self.actions.mode()

    def log_prob(self, action: Action) -> jax.Array:
        """`[...]` log probability of an action, summed over the active units."""
        return self._over_units(self.actions.log_prob(action))

    def entropy(self) -> jax.Array:
        """`[...]` entropy, summed over the active units."""
        return self._over_units(self.actions.entropy())

    def _over_units(self, quantity: jax.Array) -> jax.Array:
        return quantity if self.active is None else jnp.sum(jnp.where(self.active, quantity, 0.0), axis=-1)


class GoalPolicy(eqx.Module):
    """π(a | s, ρ_goal): one body, a head for actions and a head for the baseline. Units share all weights."""

    encoder: Encoder
    action_head: Dense
    baseline_head: Dense
    action_space: ActionSpace = eqx.field(static=True)

    def __init__(self, spec: EnvironmentSpec, hidden_size: int, *, key: Key) -> None:
        encoder_key, action_key, baseline_key = jax.random.split(key, 3)
        self.encoder = encoder_for(spec.observation, spec.attributes, hidden_size, key=encoder_key)
        # Small heads: the first policy is nearly uniform, the first baseline nearly zero.
        self.action_head = Dense(hidden_size, head_size(spec.actions), gain=0.01, key=action_key)
        self.baseline_head = Dense(hidden_size, 1, gain=0.1, key=baseline_key)
        self.action_space = spec.actions

    def __call__(self, observation: Observation, values: jax.Array, goal: jax.Array) -> PolicyOutput:
        """The opinion on observations `[...]` with attribute values and goal values `[..., A]`."""
        features, active = features_of(self.encoder, observation, values, goal)
        actions = distribution_of(self.action_space, self.action_head(features))
        return PolicyOutput(actions, mean_vote(self.baseline_head(features), active)[..., 0], active)


def features_of(
    encoder: Encoder, observation: Observation, values: jax.Array, goal: jax.Array
) -> tuple[jax.Array, jax.Array | None]:
    """`[..., features]`, of each unit where there are several, `[..., U, features]`; and which units count."""
    if not isinstance(observation, UnitObservation):
        return encoder(jnp.asarray(observation), values, goal), None
    active = jnp.asarray(observation.active)
    everyone = (*active.shape, values.shape[-1])
    features = encoder(
        jnp.asarray(observation.values),
        jnp.broadcast_to(values[..., None, :], everyone),
        jnp.broadcast_to(goal[..., None, :], everyone),
    )
    return features, active


def mean_vote(votes: jax.Array, active: jax.Array | None) -> jax.Array:
    """`[..., K]` what the active units think on average, given votes `[..., U, K]`; a single agent's vote stands."""
    if active is None:
        return votes
    count = jnp.maximum(jnp.sum(active, axis=-1, dtype=votes.dtype), 1.0)
    return jnp.sum(jnp.where(active[..., None], votes, 0.0), axis=-2) / count[..., None]
