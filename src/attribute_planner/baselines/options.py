"""Options: policies that are followed for a while, when each of them is given up, and what each is worth.

One network has them all: a body as the planner's policy has it, and for each option a head for its actions, one for its
end and one for its worth. Where there are several units they follow one option together, and each acts by itself.
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
    """What is thought of a batch of situations.

    outputs: `[..., O, head]` of each option's policy, of each unit where there are several: `[..., U, O, head]`.
    worth: `[..., O]` Q(s, ω): the expected return under each option.
    end: `[..., O]` β(s, ω): the probability with which each option is given up here.
    active: `[..., U]` which units count, `None` for a single agent.
    """

    outputs: jax.Array
    worth: jax.Array
    end: jax.Array
    active: jax.Array | None
    action_space: ActionSpace = eqx.field(static=True)

    def under(self, option: jax.Array) -> PolicyOutput:
        """The output of the intra-option policies `[...]`; its baseline is the value of the option."""
        everyone = option if self.active is None else jnp.broadcast_to(option[..., None], self.active.shape)
        outputs = jnp.take_along_axis(self.outputs, everyone[..., None, None], axis=-2)[..., 0, :]
        return PolicyOutput(distribution_of(self.action_space, outputs), of_option(self.worth, option), self.active)

    def choice(self, exploring: float) -> Categorical:
        """The policy over options: the worthiest, but any with probability `exploring`."""
        best = jax.nn.one_hot(jnp.argmax(self.worth, axis=-1), self.worth.shape[-1])
        return Categorical(jnp.log((1 - exploring) * best + exploring / self.worth.shape[-1]))

    def value(self, exploring: float) -> jax.Array:
        """`[...]` V(s): what a choice by that policy is worth."""
        return jnp.sum(jnp.exp(self.choice(exploring).logits) * self.worth, axis=-1)


class OptionPolicy(eqx.Module):
    """A number of options: one body, and heads for actions, ends and worth. Units share all weights."""

    encoder: Encoder
    action_head: Dense
    worth_head: Dense
    end_head: Dense
    options: int = eqx.field(static=True)
    action_space: ActionSpace = eqx.field(static=True)

    def __init__(self, spec: EnvironmentSpec, hidden_size: int, options: int, *, key: Key) -> None:
        encoder_key, action_key, worth_key, end_key = jax.random.split(key, 4)
        self.encoder = encoder_for(spec.observation, spec.attributes, hidden_size, key=encoder_key)
        # Small heads: at first nobody is decided, all options are worth nearly nothing, and half of them end.
        self.action_head = Dense(hidden_size, options * head_size(spec.actions), gain=0.01, key=action_key)
        self.worth_head = Dense(hidden_size, options, gain=0.1, key=worth_key)
        self.end_head = Dense(hidden_size, options, gain=0.01, key=end_key)
        self.options, self.action_space = options, spec.actions

    def __call__(self, observation: Observation, values: jax.Array, goal: jax.Array) -> OptionOutput:
        """The output for observations `[...]` with attribute values and goal values `[..., A]`."""
        features, active = features_of(self.encoder, observation, values, goal)
        outputs = self.action_head(features)
        return OptionOutput(
            outputs.reshape(*outputs.shape[:-1], self.options, head_size(self.action_space)),
            mean_over_units(self.worth_head(features), active),
            jax.nn.sigmoid(mean_over_units(self.end_head(features), active)),
            active,
            self.action_space,
        )


def of_option(quantity: jax.Array, option: jax.Array) -> jax.Array:
    """Of a quantity `[..., O]`, that of the options `[...]`."""
    return jnp.take_along_axis(quantity, option[..., None], axis=-1)[..., 0]
