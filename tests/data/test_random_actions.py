"""Keeping up what was begun, at random."""

from itertools import permutations

import jax
import numpy as np
import pytest

from attribute_planner.data.examples import Examples, random_examples
from attribute_planner.data.random_actions import KEPT_WITHIN, any_action, kept_up
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.registry import make
from attribute_planner.environments.spaces import MixedAction
from tests.probes import RING

NUM_ENVS = 4_000
SWITCHES, BLOCKS = make("switches"), make("blocks-continuous", image_size=16)


def test_actions_are_kept_up_as_long_as_told_on_average():
    held = any_action(SWITCHES, NUM_ENVS, key=jax.random.key(0))
    before, after = np.asarray(held), np.asarray(kept_up(SWITCHES, held, 4.0, key=jax.random.key(1)))
    # A quarter is drawn again, perhaps with the same result.
    assert abs((after != before).mean() - (1 - 1 / (before.max() + 1)) / 4) < 0.03


def test_with_an_action_repeat_of_one_nothing_is_held():
    held = any_action(BLOCKS, NUM_ENVS, key=jax.random.key(0))
    after = kept_up(BLOCKS, held, 1.0, key=jax.random.key(1))
    assert isinstance(held, MixedAction) and isinstance(after, MixedAction)
    assert abs(np.corrcoef(np.asarray(held.point)[:, 0], np.asarray(after.point)[:, 0])[0, 1]) < 0.06


def test_of_a_choice_with_a_point_the_point_is_kept_up_and_the_choice_is_new():
    held = any_action(BLOCKS, NUM_ENVS, key=jax.random.key(0))
    after = kept_up(BLOCKS, held, 2.0, key=jax.random.key(1))
    assert isinstance(held, MixedAction) and isinstance(after, MixedAction)
    near = (np.abs(np.asarray(after.point) - np.asarray(held.point)) < 4 * KEPT_WITHIN).all(axis=1)
    assert abs(near.mean() - 0.5) < 0.05  # by chance alone, another 5 % of those drawn again
    assert abs((np.asarray(after.choice) == np.asarray(held.choice))[near].mean() - 0.25) < 0.05
    assert (np.asarray(after.point)[near] != np.asarray(held.point)[near]).any()


def examples_of(env: Environment, count: int, steps_per_episode: int, action_repeat: float) -> Examples:
    """Random steps, each action held for `action_repeat` steps on average."""
    return random_examples(
        env,
        None,
        count,
        num_envs=64,
        episode_steps=steps_per_episode,
        key=jax.random.key(0),
        action_repeat=action_repeat,
    )


def test_examples_can_be_collected_by_actions_that_are_kept_up():
    def collected(action_repeat: float) -> np.ndarray:
        return np.asarray(examples_of(RING, 3_200, 50, action_repeat).action).reshape(-1, 64)

    again = [float((actions[1:] == actions[:-1]).mean()) for actions in map(collected, (1.0, 5.0))]
    assert again[1] > again[0] + 0.25


@pytest.mark.slow
def test_drops_that_keep_to_a_place_build_towers():
    # Three blocks on top of each other: one on a second, and that on a third.
    names = BLOCKS.attributes.names
    towers = [
        (names.index(f"{upper}_on_top_of_{middle}"), names.index(f"{middle}_on_top_of_{lower}"))
        for upper, middle, lower in permutations(("red", "green", "blue", "yellow"), 3)
    ]

    def standing(action_repeat: float) -> float:
        after = np.asarray(examples_of(BLOCKS, 1_280, 20, action_repeat).values_after)
        return float(np.any([after[:, above] & after[:, below] for above, below in towers], axis=0).mean())

    assert standing(2.0) > 5 * standing(1.0)
