"""Proposals: candidate actions for lookahead. All actions if they are discrete; otherwise the result of a search.

The actions that lead to an attribute set may fill a region of a few per cent of the box. The search starts from random
actions and the policy's own and repeatedly samples around the best, with a shrinking spread: a cross-entropy search.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from attribute_planner.environments.spaces import Action, Discrete, Observation, nearby_actions
from attribute_planner.models.beliefs import Beliefs, certain
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.forward_model import ForwardModel, actions_to_try, likeliest
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array


@dataclass(frozen=True)
class ActionSearch:
    """How actions are searched for where they cannot be listed."""

    random: int = 192
    """Uniformly random actions at the start."""
    policy: int = 32
    """Actions sampled from the policy at the start, for each of the wanted sets."""
    best: int = 8
    """How many of the best actions each round samples around."""
    around: int = 8
    """Samples around each of them."""
    spreads: tuple[float, ...] = (0.1, 0.03, 0.01)
    """Standard deviation of the samples in each round, as a fraction of the box."""


SEARCH = ActionSearch()
"""The search that lookahead uses."""


def propose(
    forward_model: ForwardModel,
    policy: GoalPolicy,
    observation: Observation,
    features: jax.Array,
    beliefs: Beliefs,
    wanted: tuple[jax.Array, ...],
    *,
    key: Key,
) -> Action:
    """`[B, K]` actions, some of which may lead to each of the wanted sets, if the most probable belief is right.

    features: the forward model's features of the observation.
    wanted: attribute values `[B, A]` each, `NO_VALUE` for unconstrained attributes.
    """
    random_key, *wanted_keys = jax.random.split(key, 1 + len(wanted))
    actions = actions_to_try(forward_model.actions, len(features), SEARCH.random, key=random_key)
    if isinstance(forward_model.actions, Discrete):
        return actions
    believed = beliefs.values[:, 0]
    starts, near_keys = [], []
    for values, wanted_key in zip(wanted, wanted_keys, strict=True):
        policy_key, *search_keys = jax.random.split(wanted_key, 1 + len(SEARCH.spreads))
        starts.append(beside(actions, _sampled(policy, observation, believed, values, key=policy_key)))
        near_keys.append(search_keys)

    def search(start: tuple[Action, jax.Array, list[Key]]) -> Action:
        near, values, search_keys = start
        for spread, near_key in zip(SEARCH.spreads, search_keys, strict=True):
            best = likeliest(forward_model, features, certain(believed), near, values, SEARCH.best)
            around = jax.tree.map(lambda leaf: jnp.repeat(leaf, SEARCH.around, axis=1), best)
            near = beside(best, nearby_actions(forward_model.actions, around, spread, key=near_key))
        return near

    # `lax.map`, so that the search is compiled once.
    each = [*zip(starts, wanted, near_keys, strict=True)]
    found = jax.lax.map(search, jax.tree.map(lambda *leaves: jnp.stack(leaves), *each))
    return beside(actions, *(jax.tree.map(lambda leaf, place=place: leaf[place], found) for place in range(len(each))))


def beside(first: Any, *more: Any) -> Any:
    """`[B, K + L + ...]` of trees with leaves `[B, K]`, `[B, L]`, ..."""
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves, axis=1), first, *more)


def _sampled(policy: GoalPolicy, observation: Observation, values: jax.Array, wanted: jax.Array, *, key: Key) -> Action:
    """`[B, SEARCH.policy]` actions of the policy towards the wanted values, with all other attributes unchanged."""
    output = policy(observation, values, jnp.where(wanted == NO_VALUE, values, wanted))
    sampled = jax.vmap(lambda key: output.sample(key=key))(jax.random.split(key, SEARCH.policy))
    return jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, 1), sampled)
