"""Options: policies that are followed for several steps, with the termination probability and the value of each.

One network has all options: the body of the planner's policy, and for each option a head for its actions, one for its
termination and one for its value. Several units follow one option together, and each chooses its own action.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from attribute_planner.environments.spaces import ActionSpace, Observation
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.models.distributions import Categorical, distribution_of, head_size
from attribute_planner.models.encoders import Encoder, encoder_for
from attribute_planner.models.layers import Dense
from attribute_planner.models.policy import PolicyOutput, features_of, mean_over_units

Key = jax.Array


class OptionOutput(eqx.Module):
    """Output of the options for a batch of observations.

    outputs: `[..., O, head]` of each option's policy; `[..., U, O, head]` if there are several units.
    q_value: `[..., O]` Q(s, ω): the expected return under each option.
    end: `[..., O]` β(s, ω): the probability that each option terminates here.
    active: `[..., U]` which units count, `None` for a single agent.
    """

    outputs: jax.Array
    q_value: jax.Array
    end: jax.Array
    active: jax.Array | None
    action_space: ActionSpace = eqx.field(static=True)

    def under(self, option: jax.Array) -> PolicyOutput:
        """The output of the intra-option policies `[...]`; its baseline is the value of the option."""
        everyone = option if self.active is None else jnp.broadcast_to(option[..., None], self.active.shape)
        outputs = jnp.take_along_axis(self.outputs, everyone[..., None, None], axis=-2)[..., 0, :]
        return PolicyOutput(distribution_of(self.action_space, outputs), of_option(self.q_value, option), self.active)

    def choice(self, epsilon: float) -> Categorical:
        """The ε-greedy policy over options."""
        best = jax.nn.one_hot(jnp.argmax(self.q_value, axis=-1), self.q_value.shape[-1])
        return Categorical(jnp.log((1 - epsilon) * best + epsilon / self.q_value.shape[-1]))

    def value(self, epsilon: float) -> jax.Array:
        """`[...]` V(s): the expected value under that policy."""
        return jnp.sum(jnp.exp(self.choice(epsilon).logits) * self.q_value, axis=-1)


class OptionPolicy(eqx.Module):
    """A number of options: one body, and heads for actions, terminations and values. Units share all weights."""

    encoder: Encoder
    action_head: Dense
    q_head: Dense
    end_head: Dense
    options: int = eqx.field(static=True)
    action_space: ActionSpace = eqx.field(static=True)

    def __init__(self, spec: EnvironmentSpec, hidden_size: int, options: int, *, key: Key) -> None:
        encoder_key, action_key, q_key, end_key = jax.random.split(key, 4)
        self.encoder = encoder_for(spec.observation, spec.attributes, hidden_size, key=encoder_key)
        # Small initial weights: policies are nearly uniform, values nearly zero, and termination probabilities one
        # half.
        self.action_head = Dense(hidden_size, options * head_size(spec.actions), gain=0.01, key=action_key)
        self.q_head = Dense(hidden_size, options, gain=0.1, key=q_key)
        self.end_head = Dense(hidden_size, options, gain=0.01, key=end_key)
        self.options, self.action_space = options, spec.actions

    def __call__(self, observation: Observation, values: jax.Array, goal: jax.Array) -> OptionOutput:
        """The output for observations `[...]` with attribute values and goal values `[..., A]`."""
        features, active = features_of(self.encoder, observation, values, goal)
        outputs = self.action_head(features)
        return OptionOutput(
            outputs.reshape(*outputs.shape[:-1], self.options, head_size(self.action_space)),
            mean_over_units(self.q_head(features), active),
            jax.nn.sigmoid(mean_over_units(self.end_head(features), active)),
            active,
            self.action_space,
        )


def of_option(quantity: jax.Array, option: jax.Array) -> jax.Array:
    """Select the entries of the options `[...]` from `[..., O]`."""
    return jnp.take_along_axis(quantity, option[..., None], axis=-1)[..., 0]
