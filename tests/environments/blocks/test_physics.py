import sys

import numpy as np
import pytest

from attribute_planner.environments.blocks.physics import Scenes, parked_poses
from attribute_planner.environments.blocks.scene import BLOCK_SIDE, HALF_SIDE, WALL_MARGIN, Poses
from attribute_planner.errors import ConfigurationError


def in_corners(count: int) -> Poses:
    """Each block in a corner of the grid."""
    corners = np.array([[0, 0, HALF_SIDE], [1, 0, HALF_SIDE], [0, 1, HALF_SIDE], [1, 1, HALF_SIDE]], np.float32)
    return Poses(np.tile(corners, (count, 1, 1)), parked_poses(count).quaternions)


def random_drops(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    order = np.argsort(generator.random((count, 4)), axis=1)
    return order, generator.random((count, 4, 2)).astype(np.float32)


def test_a_dropped_block_comes_to_rest_below_and_moves_nothing_else():
    before = in_corners(1)
    after = Scenes(1).drop(before, np.array([0]), np.array([[0.5, 0.5]]))
    np.testing.assert_allclose(after.positions[0, 0], [0.5, 0.5, HALF_SIDE], atol=0.002)
    np.testing.assert_allclose(after.positions[0, 1:], before.positions[0, 1:], atol=0.002)


@pytest.mark.parametrize("jitter", [0.0, 0.03])
def test_a_tower_of_four_stands(jitter: float):
    count = 16
    points = 0.5 + jitter * np.random.default_rng(0).uniform(-1, 1, (count, 4, 2))
    order = np.tile(np.arange(4)[::-1], (count, 1))
    poses = Scenes(count).scatter(parked_poses(count), order, points, np.ones(count, bool))
    heights = HALF_SIDE + BLOCK_SIDE * np.arange(4)[::-1]
    np.testing.assert_allclose(poses.positions[..., 2], np.broadcast_to(heights, (count, 4)), atol=0.004)


def test_a_block_whose_centre_is_beyond_the_edge_tips_over():
    # Its centre is 0.16 from the other's, beyond the edge at 0.125; at 0.09 it is not.
    poses = in_corners(2)
    after = Scenes(2).drop(poses, np.array([3, 3]), np.array([[0.16, 0.0], [0.09, 0.0]]))
    assert after.positions[0, 3, 2] < BLOCK_SIDE
    assert after.positions[1, 3, 2] == pytest.approx(HALF_SIDE + BLOCK_SIDE, abs=0.004)


def test_the_glass_walls_keep_every_block_on_the_table():
    count = 64
    order, points = random_drops(count, seed=1)
    poses = Scenes(count).scatter(parked_poses(count), order, points, np.ones(count, bool))
    assert np.abs(poses.positions[..., :2] - 0.5).max() < 0.5 + WALL_MARGIN
    assert poses.positions[..., 2].min() > HALF_SIDE - 0.002


def test_what_happens_depends_on_poses_and_action_alone():
    order, points = random_drops(8, seed=2)
    everywhere = np.ones(8, bool)
    first, used = Scenes(8, threads=1), Scenes(8, threads=3)
    used.scatter(parked_poses(8), order[::-1], points[::-1], everywhere)
    expected = first.scatter(parked_poses(8), order, points, everywhere)
    again = used.scatter(parked_poses(8), order, points, everywhere)
    np.testing.assert_array_equal(again.positions, expected.positions)
    np.testing.assert_array_equal(again.quaternions, expected.quaternions)


def test_only_the_chosen_scenes_change():
    before = in_corners(3)
    which = np.array([False, True, False])
    after = Scenes(3).drop(before, np.array([0, 0, 0]), np.full((3, 2), 0.5), which)
    moved = (after.positions != before.positions).any(axis=(1, 2))
    np.testing.assert_array_equal(moved, which)


def test_without_mujoco_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ConfigurationError, match="pip install"):
        Scenes(1)
