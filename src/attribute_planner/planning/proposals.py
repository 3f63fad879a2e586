"""Candidates: actions worth looking ahead for. All of them where they can be listed; else a search for the right ones.

What leads to a set of attributes may be a spot of a few centimetres. Random actions seldom hit it, and the policy knows
it only roughly; but near it the outlook is a little surer of what is wanted than elsewhere. So the best of what was
found is looked around, nearer and nearer.
"""

from typing import Any

import jax
import jax.numpy as jnp

from attribute_planner.environments.spaces import Action, Discrete, Observation, nearby_actions
from attribute_planner.models.beliefs import Beliefs, certain
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.forward_model import ForwardModel, actions_to_try, likeliest
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array

RANDOM_ACTIONS, POLICY_ACTIONS = 192, 32
"""How many random actions are considered, and how many that the policy proposes for each thing that is wanted."""
BEST_ACTIONS, ROUND_EACH = 8, 8
"""So many that likeliest lead to what is wanted are looked around each time: how many beside each."""
SPREADS = (0.1, 0.03, 0.01)
"""And how far, as a share of the range."""


def candidates(
    forward_model: ForwardModel,
    policy: GoalPolicy,
    observation: Observation,
    features: jax.Array,
    beliefs: Beliefs,
    wanted: tuple[jax.Array, ...],
    *,
    key: Key,
) -> Action:
    """`[B, K]` actions, among them such as may lead to any of what is wanted, if the likeliest belief is right.

    features: what the outlook makes of the observation.
    wanted: attribute values `[B, A]` each, `NO_VALUE` for what does not matter.
    """
    random_key, *wanted_keys = jax.random.split(key, 1 + len(wanted))
    actions = actions_to_try(forward_model.actions, len(features), RANDOM_ACTIONS, key=random_key)
    if isinstance(forward_model.actions, Discrete):
        return actions
    believed = beliefs.values[:, 0]
    starts, near_keys = [], []
    for values, wanted_key in zip(wanted, wanted_keys, strict=True):
        policy_key, *search_keys = jax.random.split(wanted_key, 1 + len(SPREADS))
        starts.append(beside(actions, _proposed(policy, observation, believed, values, key=policy_key)))
        near_keys.append(search_keys)

    def search(start: tuple[Action, jax.Array, list[Key]]) -> Action:
        near, values, search_keys = start
        for spread, near_key in zip(SPREADS, search_keys, strict=True):
            best = likeliest(forward_model, features, certain(believed), near, values, BEST_ACTIONS)
            around = jax.tree.map(lambda leaf: jnp.repeat(leaf, ROUND_EACH, axis=1), best)
            near = beside(best, nearby_actions(forward_model.actions, around, spread, key=near_key))
        return near

    # One search after the other, so that it is compiled but once.
    each = [*zip(starts, wanted, near_keys, strict=True)]
    found = jax.lax.map(search, jax.tree.map(lambda *leaves: jnp.stack(leaves), *each))
    return beside(actions, *(jax.tree.map(lambda leaf, place=place: leaf[place], found) for place in range(len(each))))


def beside(first: Any, *more: Any) -> Any:
    """`[B, K + L + ...]` whatever there is `[B, K]`, `[B, L]`, ... of."""
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves, axis=1), first, *more)


def _proposed(
    policy: GoalPolicy, observation: Observation, values: jax.Array, wanted: jax.Array, *, key: Key
) -> Action:
    """`[B, POLICY_ACTIONS]` what the policy might do for the sake of what is wanted, all else as it is."""
    output = policy(observation, values, jnp.where(wanted == NO_VALUE, values, wanted))
    sampled = jax.vmap(lambda key: output.sample(key=key))(jax.random.split(key, POLICY_ACTIONS))
    return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, 1), sampled)
