from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.attributes import Goal
from attribute_planner.environments.blocks.attributes import ATTRIBUTES
from attribute_planner.environments.blocks.continuous import ContinuousBlocks, ContinuousWorlds
from attribute_planner.environments.blocks.scene import BLOCKS, Poses, cell_positions, upright
from attribute_planner.environments.spaces import MixedAction

ENV = ContinuousBlocks()
COPIES = 6


@pytest.fixture(scope="module")
def worlds() -> ContinuousWorlds:
    return ENV.worlds(COPIES)


def drop_everywhere(worlds: ContinuousWorlds, block: str, point: tuple[float, float]) -> dict[str, np.ndarray]:
    """The same drop in all copies; returns the attributes `[B]` by name."""
    action = MixedAction(np.full(COPIES, BLOCKS.index(block)), np.tile(np.array(point, np.float32), (COPIES, 1)))
    values = np.asarray(worlds.step(action, jax.random.key(0)).values)
    return dict(zip(ATTRIBUTES.names, values.T, strict=True))


def in_corners(key: jax.Array) -> Poses:
    """Each block in a corner of the grid."""
    del key
    return upright(cell_positions(jnp.array([0, 2, 6, 8]), jnp.zeros(4, int)))


FROM_CORNERS = replace(ENV.tasks["4-stack"], start=in_corners)


def test_a_moment_shows_pictures_and_attributes_of_every_copy(worlds: ContinuousWorlds):
    moment = worlds.reset(jax.random.key(0))
    pictures, values = np.asarray(moment.observation), np.asarray(moment.values)
    assert (pictures.shape, pictures.dtype) == ((COPIES, *ENV.observation.shape), np.uint8)
    assert (values.shape, values.dtype) == ((COPIES, 36), np.int32)
    assert not moment.over.any()
    assert len(np.unique(pictures.reshape(COPIES, -1), axis=0)) == COPIES


def test_the_same_key_gives_the_same_worlds(worlds: ContinuousWorlds):
    first, again = (np.asarray(worlds.reset(jax.random.key(5)).observation) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_drops_one_on_the_other_build_the_tower_of_the_task(worlds: ContinuousWorlds):
    worlds.reset(jax.random.key(0), FROM_CORNERS)
    goal = worlds.goals(ENV.tasks["4-stack"], jax.random.key(0))
    assert not goal.satisfied_by(worlds.values()).any()
    for block in ("yellow", "blue", "green", "red"):
        drop_everywhere(worlds, block, (0.5, 0.5))
    assert goal.satisfied_by(worlds.values()).all()


def test_a_covered_block_does_not_move(worlds: ContinuousWorlds):
    worlds.reset(jax.random.key(0), FROM_CORNERS)
    drop_everywhere(worlds, "red", (1.0, 0.0))
    before = worlds.poses.positions
    after = drop_everywhere(worlds, "green", (0.5, 0.5))
    assert after["red_on_top_of_green"].all()
    np.testing.assert_array_equal(worlds.poses.positions, before)


def test_points_outside_the_unit_square_are_moved_to_its_edge(worlds: ContinuousWorlds):
    worlds.reset(jax.random.key(0), FROM_CORNERS)
    drop_everywhere(worlds, "red", (-3.0, 0.4))
    np.testing.assert_allclose(worlds.poses.positions[:, 0, :2], np.tile([0.0, 0.4], (COPIES, 1)), atol=0.01)


def test_resetting_some_copies_leaves_the_others_alone(worlds: ContinuousWorlds):
    worlds.reset(jax.random.key(2))
    before = worlds.poses.positions
    which = np.arange(COPIES) % 2 == 0
    worlds.reset_where(which, jax.random.key(3))
    np.testing.assert_array_equal((worlds.poses.positions != before).any(axis=(1, 2)), which)


def test_only_some_copies_are_dropped_into_and_all_can_be_put_back(worlds: ContinuousWorlds):
    before = worlds.reset(jax.random.key(5), FROM_CORNERS)
    which = np.arange(COPIES) % 2 == 0
    action = MixedAction(np.zeros(COPIES, int), np.full((COPIES, 2), 0.5, np.float32))
    after = worlds.step_where(which, action, jax.random.key(0))
    moved = (after.states.positions != before.states.positions).any(axis=(1, 2))
    np.testing.assert_array_equal(moved, which)
    again = worlds.put_back(before.states)
    np.testing.assert_array_equal(again.observation, before.observation)
    np.testing.assert_array_equal(again.values, before.values)


def test_an_episode_is_truncated_after_its_last_step():
    worlds = ENV.worlds(1)
    moment = worlds.reset(jax.random.key(0))
    action = MixedAction(np.zeros(1, int), np.full((1, 2), 0.5, np.float32))
    for _ in range(ENV.episode_steps):
        assert not moment.over.any()
        moment = worlds.step(action, jax.random.key(0))
    assert moment.truncated.all() and not moment.terminated.any()


def test_one_step_goals_differ_from_the_start_and_drawing_them_moves_nothing(worlds: ContinuousWorlds):
    worlds.reset(jax.random.key(4))
    before = worlds.poses
    goals = worlds.goals(ENV.tasks["1-step"], jax.random.key(5))
    assert not goals.satisfied_by(worlds.values()).any()
    assert worlds.poses is before


def test_every_task_has_goals_for_a_batch(worlds: ContinuousWorlds):
    worlds.reset(jax.random.key(6))
    for task in ENV.tasks.values():
        goals: Goal = worlds.goals(task, jax.random.key(7))
        assert goals.values.shape == goals.wanted.shape == (COPIES, 36)


def test_a_copy_can_be_drawn(worlds: ContinuousWorlds):
    worlds.reset(jax.random.key(8))
    assert worlds.draw(0).shape == (384, 384, 3)


def test_pictures_can_be_smaller():
    env = ContinuousBlocks(image_size=32)
    worlds = env.worlds(2)
    pictures = np.asarray(worlds.reset(jax.random.key(0)).observation)
    assert pictures.shape == (2, *env.observation.shape) == (2, 32, 32, 3)
    np.testing.assert_array_equal(pictures, env.look(worlds.poses))
