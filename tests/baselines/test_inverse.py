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
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.errors import UnknownNameError
from attribute_planner.learning.progress import nobody
from attribute_planner.models.encoders import NO_VALUE
from tests.probes import RING, Levers


def example(values: list[list[int]], after: list[list[int]]) -> Examples:
    return Examples(np.zeros(len(values)), np.zeros(len(values), np.int32), np.array(values), np.array(after))


def test_goals_are_those_after_a_later_step_of_the_same_episode():
    # Environment b goes through 10 b, 10 b + 1, …, 10 b + 4; its episode ends after the third step.
    now = 10 * np.arange(50)[None, :, None] + np.arange(4)[:, None, None]
    over = np.zeros((4, 50), bool)
    over[2] = True
    walk = Trajectories(None, now.astype(np.uint32), None, None, (now + 1).astype(np.uint32), over & False, over, None)
    relabelled = later_goals(walk, key=jax.random.key(0))
    ahead = relabelled.next_attributes.astype(int) - now
    assert [set(row.ravel().tolist()) for row in ahead] == [{1, 2, 3}, {1, 2}, {1}, {1}]


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
