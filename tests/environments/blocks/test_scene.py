import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.blocks.scene import (
    CAMERA,
    CELL_NAMES,
    Camera,
    block_axes,
    cell_positions,
    upright,
)


def test_a_frontal_camera_looks_along_y_with_x_to_the_right():
    camera = Camera(look_at=(0.0, 0.0, 0.0), distance=2.0, azimuth=0.0, elevation=0.0)
    np.testing.assert_allclose(camera.position, [0.0, -2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(camera.forward, [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(camera.right, [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(camera.up, [0.0, 0.0, 1.0], atol=1e-12)


def test_the_camera_stands_where_azimuth_and_elevation_say():
    camera = Camera(look_at=(1.0, 2.0, 3.0), distance=2.0, azimuth=90.0, elevation=30.0)
    np.testing.assert_allclose(camera.position, [1.0 + np.sqrt(3), 2.0, 4.0], atol=1e-12)


def test_the_axes_of_the_camera_are_orthonormal():
    axes = np.stack([CAMERA.right, CAMERA.up, CAMERA.forward])
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)


@pytest.mark.parametrize(
    ("name", "level", "position"),
    [
        ("front-left", 0, (0.0, 0.0, 0.125)),
        ("front-right", 1, (1.0, 0.0, 0.375)),
        ("middle-centre", 3, (0.5, 0.5, 0.875)),
        ("back-left", 2, (0.0, 1.0, 0.625)),
    ],
)
def test_cells_go_to_the_right_and_then_backwards(name: str, level: int, position: tuple[float, float, float]):
    cell = CELL_NAMES.index(name)
    np.testing.assert_allclose(cell_positions(jnp.array(cell), jnp.array(level)), position, atol=1e-6)


def test_a_quarter_turn_about_z_swaps_the_horizontal_axes():
    half = np.sqrt(0.5)
    turned = jax.jit(block_axes)(jnp.array([[half, 0.0, 0.0, half]]))[0]
    np.testing.assert_allclose(turned, [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], atol=1e-6)


def test_axes_of_upright_blocks_are_those_of_the_world():
    poses = upright(jnp.zeros((4, 3)))
    np.testing.assert_array_equal(block_axes(poses.quaternions), np.broadcast_to(np.eye(3), (4, 3, 3)))
