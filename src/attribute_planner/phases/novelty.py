"""Gathering examples: at random first; then, with an outlook learned from those, where rare things are expected.

Random drops hardly ever build a tower. An outlook that has seen a block on another one expects what a third on top of
them would lead to, and that this was seen rarely, if ever. To try just that takes no reward and no exploring policy.

What is rare is told by pairs of attribute values. Whole sets are no good for that where there are many attributes:
nearly every one is rare in some way that does not matter.
"""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.examples import (
    Choose,
    Examples,
    collect_examples,
    joined,
    random_choice,
    require_change,
)
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.learning.inverse import InverseConfig
from attribute_planner.learning.progress import Watch, nobody
from attribute_planner.models.beliefs import certain
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.forward_model import ForwardModel, actions_to_try, expect_all
from attribute_planner.phases.explore import ExploreConfig
from attribute_planner.phases.forward_model import ForwardModelConfig, fit_forward_model

Key = jax.Array

ROUNDS = 2
"""How often an outlook is learned, from all examples so far, and followed to new ones."""
SHORTER = 4
"""Such an outlook is learned in this fraction of the updates that the last one gets."""
ACTIONS_WEIGHED = 64
"""How many random actions are weighed against each other where they cannot be listed."""
BOLD = 0.75
"""Share of the steps that go where the outlook promises something rare; the others are random."""


def gather_examples(
    env: Environment,
    detector: AttributeDetector | None,
    explore: ExploreConfig,
    inverse: InverseConfig,
    config: ForwardModelConfig,
    *,
    key: Key,
    watch: Watch,
) -> Examples:
    """`explore.steps` examples, of which the share `config.curious` is sought where rare things are expected."""
    sought = int(explore.steps * config.novelty_fraction) // ROUNDS if config.learn else 0
    collect = partial(
        collect_examples, env, detector, num_envs=explore.num_envs, steps_per_episode=inverse.steps_per_episode
    )
    by_chance = random_choice(env, explore.action_repeat)
    examples = collect(explore.steps - ROUNDS * sought, key=key, watch=watch, choose=by_chance)
    require_change(examples)
    for number in range(ROUNDS if sought else 0):
        fit_key, collect_key = jax.random.split(jax.random.fold_in(key, number))
        choose = novelty_choice(env, examples, config, key=fit_key)
        examples = joined(examples, collect(sought, key=collect_key, watch=nobody, choose=choose))
        watch("explore", examples.size / explore.steps, {"steps": examples.size}, None)
    return examples


def novelty_choice(env: Environment, examples: Examples, config: ForwardModelConfig, *, key: Key) -> Choose:
    """Picks the action that promises the rarest outcome, by an outlook and counts from the examples so far."""
    fit = replace(config.fit, updates=max(config.fit.updates // SHORTER, 1))
    forward_model = fit_forward_model(env, examples, replace(config, fit=fit), key=key, watch=nobody).forward_model
    return follow(env, forward_model, seen_together(env, examples, symmetric=config.symmetric))


def follow(env: Environment, forward_model: ForwardModel, together: np.ndarray) -> Choose:
    """Picks the action that promises the rarest pair of attribute values, by how often each was seen `together`."""
    rarity = jnp.asarray((together + 1.0) ** -0.5, jnp.float32)

    def choose(timestep: TimeStep, values: np.ndarray, key: Key) -> Action:
        try_key, lot_key, bold_key = jax.random.split(key, 3)
        actions = actions_to_try(env.actions, len(values), ACTIONS_WEIGHED, key=try_key)
        promise = np.asarray(
            _promises(forward_model, rarity, timestep.observation, jnp.asarray(values, jnp.int32), actions)
        )
        bold = np.asarray(jax.random.uniform(bold_key, (len(values),))) < BOLD
        lot = np.asarray(jax.random.randint(lot_key, (len(values),), 0, promise.shape[1]))
        chosen = np.where(bold, promise.argmax(axis=1), lot)
        return jax.tree.map(lambda leaf: leaf[np.arange(len(values)), chosen], actions)

    return choose


def seen_together(env: Environment, examples: Examples, *, symmetric: bool) -> np.ndarray:
    """`float64[C, C]` how often each two of the C attribute values came about together; if so wanted, under symmetries.

    Only steps that changed something count. A value is together with itself whenever it comes about.
    """
    space = env.attributes
    total = np.zeros((int(space.sizes.sum()),) * 2)
    after = np.asarray(examples.take(examples.changed).values_after)
    for start in range(0, len(after), COUNTED_AT_ONCE):
        hot = np.asarray(space.one_hot(after[start : start + COUNTED_AT_ONCE]))
        total += hot.T @ hot
    if not symmetric or env.symmetries is None:
        return total
    places = [np.arange(size) + offset for size, offset in zip(space.sizes, space.offsets, strict=True)]
    orders = [np.concatenate([places[attribute] for attribute in order]) for order in env.symmetries.counted]
    return np.sum([total[np.ix_(order, order)] for order in orders], axis=0)


COUNTED_AT_ONCE = 100_000


@eqx.filter_jit
def _promises(
    forward_model: ForwardModel, rarity: jax.Array, observation: Observation, values: jax.Array, actions: Action
) -> jax.Array:
    """`[B, K]` what each action promises."""
    expected, log_prob = expect_all(forward_model, forward_model.features(observation), certain(values), actions)
    return promise_of(forward_model.space, rarity, values, expected, jnp.exp(jnp.sum(log_prob, axis=-1)))


def promise_of(
    space: AttributeSpace, rarity: jax.Array, values: jax.Array, expected: jax.Array, sure: jax.Array
) -> jax.Array:
    """`[B, K]` the `rarity` `[C, C]` of the rarest pair of values that an outcome would bring about, times how `sure`.

    values: `int32[B, A]` before. expected, sure: `[B, K, A]` and `[B, K]`, each outcome and how likely it is. One value
    of a pair must be new: what is there already promises nothing.
    """

    def rarest(outcome: tuple[jax.Array, jax.Array]) -> jax.Array:
        new, there = outcome
        return jnp.max(jnp.where((new[:, :, None] > 0) & (there[:, None, :] > 0), rarity[None], 0.0), axis=(1, 2))

    there = space.one_hot(expected)
    new = there * (1 - space.one_hot(values)[:, None])
    # One world after the other: all pairs of all worlds at once would take gigabytes.
    return sure * jax.lax.map(rarest, (new, there))
