"""The goal-conditioned policy π(a | s, ρ_goal) with its value baseline."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int

from attribute_planner.environments.seen_from_agent import for_acting
from attribute_planner.environments.spaces import Action, ActionSpace, Observation, UnitObservation
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.models.distributions import Categorical, Distribution, distribution_of, head_size, sharpened
from attribute_planner.models.encoders import Encoder, encoder_for
from attribute_planner.models.layers import Dense

Key = jax.Array


class PolicyOutput(eqx.Module):
    """Output of a policy for a batch of observations.

    actions: distribution over actions, per unit if there are several units.
    baseline: estimate of the expected return.
    active: mask of the units that exist; `None` for a single agent.
    """

    actions: Distribution
    baseline: Float[jax.Array, "*batch"]
    active: Bool[jax.Array, "*batch U"] | None = None

    def sample(self, *, key: Key) -> Action:
        return self.actions.sample(key=key)

    def mode(self) -> Action:
        return self.actions.mode()

    def sharpened(self, factor: Float[jax.Array, "*batch"] | float) -> "PolicyOutput":
        """The same with log probabilities multiplied by a factor: more than 1 is closer to the mode."""
        return replace(self, actions=sharpened(self.actions, jnp.asarray(factor, jnp.float32)))

    def log_prob(self, action: Action) -> Float[jax.Array, "*batch"]:
        """Log probability of an action, summed over the active units."""
        return self._over_units(self.actions.log_prob(action))

    def entropy(self) -> Float[jax.Array, "*batch"]:
        """Entropy, summed over the active units."""
        return self._over_units(self.actions.entropy())

    def _over_units(self, quantity: jax.Array) -> jax.Array:
        return quantity if self.active is None else jnp.sum(jnp.where(self.active, quantity, 0.0), axis=-1)


class GoalPolicy(eqx.Module):
    """π(a | s, ρ_goal): an encoder, an action head and a baseline head. Units share all weights.

    temperature: if given, the action head outputs the logit of each action's value, and actions are sampled by a
        softmax of log value / temperature.
    """

    encoder: Encoder
    action_head: Dense
    baseline_head: Dense
    action_space: ActionSpace = eqx.field(static=True)
    temperature: float | None = eqx.field(static=True)

    def __init__(self, spec: EnvironmentSpec, hidden_size: int, *, key: Key, temperature: float | None = None) -> None:
        encoder_key, action_key, baseline_key = jax.random.split(key, 3)
        self.encoder = encoder_for(for_acting(spec.observation), spec.attributes, hidden_size, key=encoder_key)
        # Small initial weights: the initial policy is nearly uniform, the initial baseline nearly zero.
        self.action_head = Dense(hidden_size, head_size(spec.actions), gain=0.01, key=action_key)
        self.baseline_head = Dense(hidden_size, 1, gain=0.1, key=baseline_key)
        self.action_space, self.temperature = spec.actions, temperature

    def __call__(
        self, observation: Observation, values: Int[jax.Array, "*batch A"], goal: Int[jax.Array, "*batch A"]
    ) -> PolicyOutput:
        """Action distribution and baseline, given observations `[*batch, ...]`, attribute values and goal values."""
        features, active = features_of(self.encoder, observation, values, goal)
        if self.temperature is not None:
            log_values = jax.nn.log_sigmoid(self.action_head(features))
            return PolicyOutput(
                Categorical(log_values / self.temperature), jnp.exp(jnp.max(log_values, axis=-1)), active
            )
        actions = distribution_of(self.action_space, self.action_head(features))
        return PolicyOutput(actions, mean_over_units(self.baseline_head(features), active)[..., 0], active)

    def action_values(
        self, observation: Observation, values: Int[jax.Array, "*batch A"], goal: Int[jax.Array, "*batch A"]
    ) -> Float[jax.Array, "*batch count"]:
        """The value of each action as a logit, if this policy was made with a temperature."""
        return self.action_head(features_of(self.encoder, observation, values, goal)[0])


def features_of(
    encoder: Encoder, observation: Observation, values: Int[jax.Array, "*batch A"], goal: Int[jax.Array, "*batch A"]
) -> tuple[Float[jax.Array, "*batch_or_units F"], Bool[jax.Array, "*batch U"] | None]:
    """Features `[*batch, F]` and `None`; with several units, features `[*batch, U, F]` and the mask of active units."""
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


def mean_over_units(
    outputs: Float[jax.Array, "*batch_or_units K"], active: Bool[jax.Array, "*batch U"] | None
) -> Float[jax.Array, "*batch K"]:
    """Mean of outputs `[*batch, U, K]` over the active units; outputs `[*batch, K]` of a single agent are returned."""
    if active is None:
        return outputs
    count = jnp.maximum(jnp.sum(active, axis=-1, dtype=outputs.dtype), 1.0)
    return jnp.sum(jnp.where(active[..., None], outputs, 0.0), axis=-2) / count[..., None]
