from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.attributes import Goal
from attribute_planner.environments.blocks import continuous
from attribute_planner.environments.blocks.attributes import ATTRIBUTES
from attribute_planner.environments.blocks.continuous import ContinuousBlocks, ContinuousVectorEnv
from attribute_planner.environments.blocks.drawing import draw_poses
from attribute_planner.environments.blocks.scene import BLOCKS, Poses, cell_positions, upright
from attribute_planner.environments.spaces import MixedAction

ENV = ContinuousBlocks()
NUM_ENVS = 6


@pytest.fixture(scope="module")
def envs() -> ContinuousVectorEnv:
    return ENV.vector_env(NUM_ENVS)


def drop_everywhere(envs: ContinuousVectorEnv, block: str, point: tuple[float, float]) -> dict[str, np.ndarray]:
    """The same drop in all environments; returns the attributes `[B]` by name."""
    action = MixedAction(np.full(NUM_ENVS, BLOCKS.index(block)), np.tile(np.array(point, np.float32), (NUM_ENVS, 1)))
    values = np.asarray(envs.step(action, jax.random.key(0)).attributes)
    return dict(zip(ATTRIBUTES.names, values.T, strict=True))


def in_corners(key: jax.Array) -> Poses:
    """Each block in a corner of the grid."""
    del key
    return upright(cell_positions(jnp.array([0, 2, 6, 8]), jnp.zeros(4, int)))


FROM_CORNERS = replace(ENV.tasks["4-stack"], start=in_corners)


def test_a_time_step_has_images_and_attributes_of_every_environment(envs: ContinuousVectorEnv):
    timestep = envs.reset(jax.random.key(0))
    pictures, values = np.asarray(timestep.observation), np.asarray(timestep.attributes)
    assert (pictures.shape, pictures.dtype) == ((NUM_ENVS, *ENV.observation.shape), np.uint8)
    assert (values.shape, values.dtype) == ((NUM_ENVS, 36), np.int32)
    assert not timestep.over.any()
    assert len(np.unique(pictures.reshape(NUM_ENVS, -1), axis=0)) == NUM_ENVS


def test_the_same_key_gives_the_same_scenes(envs: ContinuousVectorEnv):
    first, again = (np.asarray(envs.reset(jax.random.key(5)).observation) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_drops_one_on_the_other_build_the_tower_of_the_task(envs: ContinuousVectorEnv):
    envs.reset(jax.random.key(0), FROM_CORNERS)
    goal = envs.sample_goals(ENV.tasks["4-stack"], jax.random.key(0))
    assert not goal.satisfied_by(envs.values()).any()
    for block in ("yellow", "blue", "green", "red"):
        drop_everywhere(envs, block, (0.5, 0.5))
    assert goal.satisfied_by(envs.values()).all()


def test_a_caller_may_set_another_time_limit():
    one = ContinuousBlocks(image_size=16, episode_steps=2).vector_env(1)
    one.episode_steps = 3
    one.reset(jax.random.key(0))
    action = MixedAction(np.zeros(1, int), np.zeros((1, 2), np.float32))
    assert [bool(one.step(action, jax.random.key(0)).truncated[0]) for _ in range(3)] == [False, False, True]


def test_a_covered_block_does_not_move(envs: ContinuousVectorEnv):
    envs.reset(jax.random.key(0), FROM_CORNERS)
    drop_everywhere(envs, "red", (1.0, 0.0))
    before = envs.poses.positions
    after = drop_everywhere(envs, "green", (0.5, 0.5))
    assert after["red_on_top_of_green"].all()
    np.testing.assert_array_equal(envs.poses.positions, before)


def test_points_outside_the_unit_square_are_moved_to_its_edge(envs: ContinuousVectorEnv):
    envs.reset(jax.random.key(0), FROM_CORNERS)
    drop_everywhere(envs, "red", (-3.0, 0.4))
    np.testing.assert_allclose(envs.poses.positions[:, 0, :2], np.tile([0.0, 0.4], (NUM_ENVS, 1)), atol=0.01)


def test_resetting_some_environments_keeps_the_others(envs: ContinuousVectorEnv):
    envs.reset(jax.random.key(2))
    before = envs.poses.positions
    which = np.arange(NUM_ENVS) % 2 == 0
    envs.reset_where(which, jax.random.key(3))
    np.testing.assert_array_equal((envs.poses.positions != before).any(axis=(1, 2)), which)


def test_some_environments_can_be_stepped_and_all_can_be_restored(envs: ContinuousVectorEnv):
    before = envs.reset(jax.random.key(5), FROM_CORNERS)
    which = np.arange(NUM_ENVS) % 2 == 0
    action = MixedAction(np.zeros(NUM_ENVS, int), np.full((NUM_ENVS, 2), 0.5, np.float32))
    after = envs.step_where(which, action, jax.random.key(0))
    moved = (after.states.positions != before.states.positions).any(axis=(1, 2))
    np.testing.assert_array_equal(moved, which)
    again = envs.restore_state(before.states)
    np.testing.assert_array_equal(again.observation, before.observation)
    np.testing.assert_array_equal(again.attributes, before.attributes)


def test_an_episode_is_truncated_after_its_last_step():
    envs = ENV.vector_env(1)
    timestep = envs.reset(jax.random.key(0))
    action = MixedAction(np.zeros(1, int), np.full((1, 2), 0.5, np.float32))
    for _ in range(ENV.episode_steps):
        assert not timestep.over.any()
        timestep = envs.step(action, jax.random.key(0))
    assert timestep.truncated.all() and not timestep.terminated.any()


def test_one_step_goals_differ_from_the_start_and_drawing_them_moves_nothing(envs: ContinuousVectorEnv):
    envs.reset(jax.random.key(4))
    before = envs.poses
    goals = envs.sample_goals(ENV.tasks["1-step"], jax.random.key(5))
    assert not goals.satisfied_by(envs.values()).any()
    assert envs.poses is before


def test_every_task_has_goals_for_a_batch(envs: ContinuousVectorEnv):
    envs.reset(jax.random.key(6))
    for task in ENV.tasks.values():
        goals: Goal = envs.sample_goals(task, jax.random.key(7))
        assert goals.values.shape == goals.wanted.shape == (NUM_ENVS, 36)


def test_an_environment_can_be_rendered(envs: ContinuousVectorEnv, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(continuous, "draw_poses", partial(draw_poses, size=16))
    envs.reset(jax.random.key(8))
    first, second = (draw_poses(jax.tree.map(lambda leaf, i=i: leaf[i], envs.poses), size=16) for i in (0, 1))
    np.testing.assert_array_equal(envs.render(0), first)
    assert (envs.render(1) == second).all() and (first != second).any()


def test_pictures_can_be_smaller():
    env = ContinuousBlocks(image_size=32)
    envs = env.vector_env(2)
    pictures = np.asarray(envs.reset(jax.random.key(0)).observation)
    assert pictures.shape == (2, *env.observation.shape) == (2, 32, 32, 3)
    np.testing.assert_array_equal(pictures, env.observe_batch(envs.poses))
