import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.baselines.inverse import (
    InverseBaselineConfig,
    collect,
    later_goals,
    train,
    with_partial_goals,
)
from attribute_planner.data.examples import Examples
from attribute_planner.errors import UnknownNameError
from attribute_planner.learning.progress import no_callback
from attribute_planner.models.encoders import NO_VALUE
from tests.probes import RING, Levers


def example(values: list[list[int]], after: list[list[int]]) -> Examples:
    return Examples(np.zeros(len(values)), np.zeros(len(values), np.int32), np.array(values), np.array(after))


def test_goals_are_those_of_a_later_step_of_the_same_episode():
    # Walk b goes from 10 b to 10 b + 4; its episode ends with the third step.
    after = (10 * np.arange(50)[None, :] + np.arange(1, 5)[:, None])[..., None]
    over = np.zeros((4, 50), bool)
    over[2] = True
    ahead = (later_goals(after, over, key=jax.random.key(0)) - after)[..., 0]
    for number, most in enumerate((2, 1, 0, 0)):
        assert set(ahead[number].tolist()) == set(range(most + 1))


def test_partial_goals_ask_for_some_change():
    values, after = np.zeros((300, 10), np.int8), np.zeros((300, 10), np.int8)
    after[:, 0] = 1
    partial = with_partial_goals(example(values.tolist(), after.tolist()), 0.7, key=jax.random.key(0))
    told = np.asarray(partial.values_after) != NO_VALUE
    assert (told.sum(axis=-1) == 7).all()
    # Three in ten did not specify the one attribute that changed, and are dropped.
    assert told[:, 0].all()
    assert 180 < partial.size < 240


def test_half_of_the_goals_may_be_whole():
    values, after = np.zeros((300, 10), np.int8), np.ones((300, 10), np.int8)
    both = with_partial_goals(example(values.tolist(), after.tolist()), 0.7, 0.5, key=jax.random.key(0))
    told = (np.asarray(both.values_after) != NO_VALUE).sum(axis=-1)
    assert both.size == 300 and set(told.tolist()) == {7, 10}


def test_examples_are_goals_of_random_steps_with_their_first_actions():
    config = InverseBaselineConfig(examples=100, num_envs=20, walk=4)
    for training_distribution, most in (("1-step", 1), ("multi-step", 4)):
        examples = collect(RING, training_distribution, config, key=jax.random.key(0), watch=no_callback)
        assert examples.size == 100
        away = (np.asarray(examples.values_after, int) - np.asarray(examples.values, int)).ravel() % 5
        # An odd number of steps away from a place of the ring is not where an even number leads, but for its being odd.
        assert set(away.tolist()) == ({1, 4} if most == 1 else {0, 1, 2, 3, 4})


def test_several_units_act_at_random_each():
    config = InverseBaselineConfig(examples=64, num_envs=32)
    examples = collect(Levers(), "1-step", config, key=jax.random.key(0), watch=no_callback)
    assert np.shape(examples.action) == (64, 3)
    pulled = np.asarray(examples.action)[:, :2].sum(axis=-1)
    became = np.asarray(examples.values_after)[:, 0]
    np.testing.assert_array_equal(became[pulled != 1], pulled[pulled != 1] // 2)


def test_there_is_no_curriculum_for_right_answers():
    with pytest.raises(UnknownNameError, match="training distribution"):
        train(RING, "curriculum", InverseBaselineConfig(), key=jnp.array(0))
