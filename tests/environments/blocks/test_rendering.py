import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import attribute_planner
from attribute_planner.environments.blocks.discrete import Configuration, poses_of
from attribute_planner.environments.blocks.rendering import (
    FLOOR_COLOUR,
    NO_BLOCK,
    SHADOW,
    TABLE_COLOUR,
    render,
    visible_blocks,
)
from attribute_planner.environments.blocks.scene import BLOCK_COLOURS, CAMERA, HALF_SIDE, NUM_BLOCKS, Poses, upright
from attribute_planner.environments.blocks.verification import all_configurations

FEWEST_PIXELS = 40
LEAST_AGREEMENT = 0.97


def pixel_of(point: tuple[float, float, float]) -> tuple[int, int]:
    """Row and column of the pixel at which a point in space appears."""
    offset = np.array(point) - CAMERA.position
    x, y = (offset @ axis / (offset @ CAMERA.forward) / CAMERA.half_height for axis in (CAMERA.right, CAMERA.up))
    return int((1 - y) * 64), int((1 + x) * 64)


def one_block_at(x: float, y: float) -> Poses:
    """Red at a place, the others outside the picture."""
    far = [[x, y, HALF_SIDE], [50.0, 50.0, 0.0], [51.0, 50.0, 0.0], [52.0, 50.0, 0.0]]
    return upright(jnp.array(far))


def random_poses(count: int) -> Poses:
    """Blocks anywhere above the table, turned any way."""
    generator = np.random.default_rng(3)
    positions = generator.uniform([0.0, 0.0, 0.2], [1.0, 1.0, 1.0], (count, NUM_BLOCKS, 3)).astype(np.float32)
    quaternions = generator.normal(size=(count, NUM_BLOCKS, 4)).astype(np.float32)
    return Poses(positions, quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True))


def test_every_block_is_seen_in_every_configuration():
    states = up_to_colours(all_configurations())
    assert len(states.cells) == 495
    shown = np.asarray(jax.jit(jax.vmap(lambda state: visible_blocks(poses_of(state))))(states))
    fewest = min((shown == block).sum(axis=(1, 2)).min() for block in range(NUM_BLOCKS))
    assert fewest >= FEWEST_PIXELS


def up_to_colours(states: Configuration) -> Configuration:
    """One of each 24 configurations that differ only in which block is which: they hide each other alike."""
    places = np.asarray(states.cells) * NUM_BLOCKS + np.asarray(states.levels)
    is_sorted = (np.diff(places, axis=1) > 0).all(axis=1)
    return jax.tree.map(lambda leaf: leaf[is_sorted], states)


def test_a_block_shows_its_colour_and_its_faces_have_three_shades():
    picture = np.asarray(render(one_block_at(0.5, 0.5)))
    top = picture[pixel_of((0.5, 0.5, 2 * HALF_SIDE))].astype(float)
    front = picture[pixel_of((0.5, 0.5 - HALF_SIDE, HALF_SIDE))].astype(float)
    side = picture[pixel_of((0.5 + HALF_SIDE, 0.5, HALF_SIDE))].astype(float)
    for face in (top, front, side):  # red, more or less bright
        np.testing.assert_allclose(face / face[0], BLOCK_COLOURS[0] / BLOCK_COLOURS[0][0], atol=0.03)
    assert top[0] > front[0] + 20 > side[0] + 40


def test_the_table_is_lit_but_for_the_shadow_to_the_right_of_the_block():
    picture = np.asarray(render(one_block_at(0.5, 0.5)))
    np.testing.assert_array_equal(picture[pixel_of((0.1, 0.5, 0.0))], TABLE_COLOUR)
    np.testing.assert_allclose(picture[pixel_of((0.66, 0.58, 0.0))], SHADOW * np.array(TABLE_COLOUR), atol=2)
    np.testing.assert_array_equal(picture[2, 2], FLOOR_COLOUR)


def test_the_nearer_block_hides_the_farther_one():
    nearer = np.array([0.5, 0.5, 0.5]) - 0.6 * CAMERA.forward
    poses = upright(jnp.array([[0.5, 0.5, 0.5], nearer, [50.0, 50.0, 0.0], [51.0, 50.0, 0.0]], jnp.float32))
    shown = np.asarray(visible_blocks(poses))
    assert shown[pixel_of((0.5, 0.5, 0.5))] == 1
    assert set(np.unique(shown)) <= {NO_BLOCK, 0, 1}


def test_a_cube_turned_by_a_quarter_looks_the_same():
    half = np.sqrt(0.5)
    straight = one_block_at(0.4, 0.6)
    for axis in np.eye(3):
        turn = jnp.asarray(np.array([half, *(half * axis)], np.float32))
        turned = Poses(straight.positions, jnp.asarray(straight.quaternions).at[0].set(turn))
        different = (np.asarray(render(straight)) != np.asarray(render(turned))).any(axis=-1)
        assert different.mean() < 0.001


def test_many_pictures_at_once_are_the_same_as_one_by_one():
    poses = jax.tree.map(jnp.asarray, random_poses(3))
    together = np.asarray(jax.jit(jax.vmap(render))(poses))
    for i in range(3):
        alone = np.asarray(render(jax.tree.map(lambda leaf, i=i: leaf[i], poses)))
        assert (together[i] != alone).any(axis=-1).mean() < 0.001


MUJOCO_PICTURES = """
import sys
import mujoco
import numpy as np
from attribute_planner.environments.blocks.physics import CAMERA_NAME, load_model
from attribute_planner.environments.blocks.scene import BLOCKS

model = load_model()
data = mujoco.MjData(model)
stored = np.load(sys.argv[1])
numbers = np.full(model.ngeom + 1, -1)
numbers[[model.geom(name).id for name in BLOCKS]] = range(len(BLOCKS))
shown = []
with mujoco.Renderer(model, 128, 128) as renderer:
    renderer.enable_segmentation_rendering()
    for poses in stored:
        data.qpos[:] = poses.ravel()
        mujoco.mj_forward(model, data)
        renderer.update_scene(data, camera=CAMERA_NAME)
        shown.append(numbers[renderer.render()[..., 0]])
np.save(sys.argv[2], shown)
"""


def python_with_opengl() -> dict[str, str] | None:
    """The variables under which MuJoCo can draw here; `None` if it cannot."""
    # Asked in another process: a library that is missing makes the very import of mujoco fail.
    probe = "import mujoco; mujoco.GLContext(8, 8).make_current()"
    for platform in ("egl", "osmesa"):
        variables = {**os.environ, "MUJOCO_GL": platform, "PYTHONPATH": str(Path(attribute_planner.__path__[0]).parent)}
        if subprocess.run([sys.executable, "-c", probe], env=variables, capture_output=True).returncode == 0:
            return variables
    return None


@pytest.mark.slow
def test_masks_agree_with_those_of_mujocos_own_renderer(tmp_path: Path):
    variables = python_with_opengl()
    if variables is None:
        pytest.skip("MuJoCo finds no OpenGL library here to draw with")
    poses = random_poses(20)
    np.save(tmp_path / "poses.npy", np.concatenate([poses.positions, poses.quaternions], axis=-1))
    program = [sys.executable, "-c", MUJOCO_PICTURES, str(tmp_path / "poses.npy"), str(tmp_path / "shown.npy")]
    subprocess.run(program, env=variables, check=True)
    theirs = np.load(tmp_path / "shown.npy")
    ours = np.asarray(jax.jit(jax.vmap(visible_blocks))(jax.tree.map(jnp.asarray, poses)))
    for block in range(NUM_BLOCKS):
        both, either = ((ours == block) & (theirs == block)).sum(), ((ours == block) | (theirs == block)).sum()
        assert both / either >= LEAST_AGREEMENT
