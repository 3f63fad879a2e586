"""Blocks that trade colours: the rules do not care."""

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.data.examples import random_examples, symmetric_counts
from attribute_planner.environments.blocks.discrete import Blocks
from attribute_planner.environments.blocks.symmetry import COLOUR_TRADES
from attribute_planner.environments.spaces import MixedAction
from tests.probes import counts_of

ENV = Blocks()
KEYS = jax.random.split(jax.random.key(0), 240)
STATES = jax.jit(jax.vmap(ENV.reset))(KEYS)
WHICH = jnp.arange(240) % COLOUR_TRADES.count
ACTIONS = jnp.arange(240) * 7 % 36
RENAMED = jax.jit(jax.vmap(COLOUR_TRADES.rename_state))(STATES, WHICH)


def test_the_first_one_changes_nothing_and_all_differ():
    assert COLOUR_TRADES.attributes.shape == (24, 36)
    assert COLOUR_TRADES.attributes[0].tolist() == list(range(36))
    assert len({tuple(order) for order in COLOUR_TRADES.attributes.tolist()}) == 24


def test_attributes_are_renamed_as_the_blocks_are():
    describe = jax.jit(jax.vmap(ENV.describe))
    before, after = np.asarray(describe(STATES)), np.asarray(describe(RENAMED))
    orders = COLOUR_TRADES.attributes[np.asarray(WHICH)]
    np.testing.assert_array_equal(after, np.take_along_axis(before, orders, axis=1))
    assert (before != after).any()


def test_a_renamed_action_does_the_same_to_the_renamed_state():
    step = jax.jit(jax.vmap(ENV.step))
    renamed_later = jax.vmap(COLOUR_TRADES.rename_state)(step(STATES, ACTIONS, KEYS), WHICH)
    actions = jax.jit(jax.vmap(COLOUR_TRADES.rename_action))(ACTIONS, WHICH)
    stepped_later = step(RENAMED, actions, KEYS)
    np.testing.assert_array_equal(renamed_later.cells, stepped_later.cells)
    np.testing.assert_array_equal(renamed_later.levels, stepped_later.levels)


def test_a_drop_anywhere_keeps_its_point():
    mixed = MixedAction(jnp.int32(2), jnp.array([0.25, 0.75]))
    renamed = COLOUR_TRADES.rename_action(mixed, jnp.int32(23))
    assert isinstance(renamed, MixedAction)
    assert int(renamed.choice) == 1, "in the last trade the blocks are in reversed order"
    np.testing.assert_array_equal(renamed.point, mixed.point)


def test_counts_hold_all_that_equals_what_was_seen():
    examples = random_examples(ENV, None, 64, num_envs=64, episode_steps=1, key=jax.random.key(1))
    seen = counts_of(ENV, examples)
    every = symmetric_counts(ENV, seen)
    assert every.total == 24 * seen.total
    assert 20 * len(seen.pairs) < len(every.pairs) <= 24 * len(seen.pairs)
    kept = every.copy()
    kept.add(seen.sets.rows[seen.pairs.rows[:, 0]], seen.sets.rows[seen.pairs.rows[:, 1]], seen.visits)
    assert len(kept.pairs) == len(every.pairs), "what was seen is among them"
