import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.baselines.inverse import (
    InverseBaselineConfig,
    collect,
    later_goals,
    partly_told_examples,
    train,
)
from attribute_planner.data.examples import Examples
from attribute_planner.errors import UnknownNameError
from attribute_planner.learning.progress import nobody
from attribute_planner.models.encoders import NO_VALUE
from tests.probes import RING, Levers


def example(values: list[list[int]], after: list[list[int]]) -> Examples:
    return Examples(np.zeros(len(values)), np.zeros(len(values), np.int32), np.array(values), np.array(after))


def test_goals_are_those_of_a_later_moment_of_the_same_walk():
    # Copy c of the walk goes through 10 c, 10 c + 1, 10 c + 2, 10 c + 3.
    start = 10 * np.arange(50)[:, None]
    walk = [example((start + n).tolist(), (start + n + 1).tolist()) for n in range(3)]
    relabelled = later_goals(walk, key=jax.random.key(0))
    for number, (before, after) in enumerate(zip(walk, relabelled, strict=True)):
        np.testing.assert_array_equal(before.values, after.values)
        ahead = (np.asarray(after.values_after) - np.asarray(after.values)).ravel()
        assert set(ahead.tolist()) == set(range(1, 4 - number))


def test_partial_goals_ask_for_some_change():
    values, after = np.zeros((300, 10), np.int8), np.zeros((300, 10), np.int8)
    after[:, 0] = 1
    partial = partly_told_examples(example(values.tolist(), after.tolist()), 0.7, key=jax.random.key(0))
    told = np.asarray(partial.values_after) != NO_VALUE
    assert (told.sum(axis=-1) == 7).all()
    # Three in ten did not mention the one attribute that changed, and are gone.
    assert told[:, 0].all()
    assert 180 < partial.size < 240


def test_half_of_the_goals_may_be_whole():
    values, after = np.zeros((300, 10), np.int8), np.ones((300, 10), np.int8)
    both = partly_told_examples(example(values.tolist(), after.tolist()), 0.7, 0.5, key=jax.random.key(0))
    told = (np.asarray(both.values_after) != NO_VALUE).sum(axis=-1)
    assert both.size == 300 and set(told.tolist()) == {7, 10}


def test_steps_are_take_walks_and_their_first_actions():
    config = InverseBaselineConfig(examples=100, num_envs=20, walk=4)
    for training_distribution, most in (("1-step", 1), ("multi-step", 4)):
        examples = collect(RING, training_distribution, config, detector=None, key=jax.random.key(0), watch=nobody)
        assert examples.size == 100
        away = (np.asarray(examples.values_after, int) - np.asarray(examples.values, int)).ravel() % 5
        # An odd number of steps away from a place of the ring is not where an even number leads, but for its being odd.
        assert set(away.tolist()) == ({1, 4} if most == 1 else {0, 1, 2, 3, 4})


def test_several_units_act_at_random_each():
    config = InverseBaselineConfig(examples=64, num_envs=32)
    examples = collect(Levers(), "1-step", config, detector=None, key=jax.random.key(0), watch=nobody)
    assert np.shape(examples.action) == (64, 3)
    pulled = np.asarray(examples.action)[:, :2].sum(axis=-1)
    became = np.asarray(examples.values_after)[:, 0]
    np.testing.assert_array_equal(became[pulled != 1], pulled[pulled != 1] // 2)


def test_there_is_no_curriculum_for_right_answers():
    with pytest.raises(UnknownNameError, match="training_distribution"):
        train(RING, "curriculum", InverseBaselineConfig(), key=jnp.array(0))
