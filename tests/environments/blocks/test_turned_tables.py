"""Tables in the mirror, where blocks may lie anywhere: neither the attributes nor physics care."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.blocks.continuous import ContinuousBlocks, describe_all, drop_uncovered
from attribute_planner.environments.blocks.physics import Scenes
from attribute_planner.environments.blocks.symmetry import COLOUR_TRADES, TURNED_TABLES
from attribute_planner.environments.spaces import MixedAction, uniform_action

ENV = ContinuousBlocks()
COUNT = 192


@pytest.fixture(scope="module")
def poses():
    return ENV.vector_env(COUNT).reset(jax.random.key(0)).states


def test_there_are_as_many_as_trades_times_mirrors():
    assert TURNED_TABLES.attributes.shape == (192, 36)
    assert len({tuple(order) for order in TURNED_TABLES.attributes.tolist()}) == 192
    np.testing.assert_array_equal(TURNED_TABLES.attributes[:24], COLOUR_TRADES.attributes)
    np.testing.assert_array_equal(TURNED_TABLES.counted, COLOUR_TRADES.attributes)


def test_attributes_are_those_of_the_mirrored_table(poses):
    which = jnp.arange(COUNT)
    mirrored = jax.vmap(TURNED_TABLES.rename_state)(poses, which)
    expected = TURNED_TABLES.rename_values(np.asarray(describe_all(poses)), which)
    np.testing.assert_array_equal(describe_all(mirrored), expected)


def test_a_mirrored_drop_ends_in_the_mirror(poses):
    which = jnp.arange(COUNT)
    scenes = Scenes(COUNT)
    action = uniform_action(ENV.actions, (COUNT,), key=jax.random.key(1))
    mirrored_action = jax.vmap(TURNED_TABLES.rename_action)(action, which)
    assert isinstance(action, MixedAction)
    assert isinstance(mirrored_action, MixedAction)
    after = drop_uncovered(scenes, poses, np.asarray(action.choice), np.asarray(action.point))
    mirrored = jax.tree.map(np.asarray, jax.vmap(TURNED_TABLES.rename_state)(poses, which))
    after_in_mirror = drop_uncovered(
        scenes, mirrored, np.asarray(mirrored_action.choice), np.asarray(mirrored_action.point)
    )
    expected = jax.vmap(TURNED_TABLES.rename_state)(after, which)
    distance = np.abs(after_in_mirror.positions - np.asarray(expected.positions)).max(axis=(1, 2))
    # A block that balances on an edge falls to either side, in the mirror as well as before it.
    assert np.mean(distance < 0.01) > 0.9
