from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.blocks import discrete
from attribute_planner.environments.blocks.discrete import Blocks, Configuration
from attribute_planner.environments.blocks.drawing import draw_poses, lay_out_strip
from attribute_planner.environments.blocks.rendering import render
from attribute_planner.environments.blocks.scene import cell_positions, upright

TOWER = Configuration(jnp.array([4, 4, 4, 0]), jnp.array([2, 1, 0, 0]))
POSES = upright(cell_positions(TOWER.cells, TOWER.levels))


def test_the_drawing_is_the_agents_picture_only_larger():
    drawn = draw_poses(POSES, size=128).astype(float)
    seen = np.asarray(jax.jit(render)(POSES)).astype(float)
    assert np.abs(drawn - seen).mean() < 3.0


def test_environments_are_rendered_as_drawings(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(discrete, "draw_poses", partial(draw_poses, size=16))
    np.testing.assert_array_equal(Blocks().render(TOWER), draw_poses(POSES, size=16))


def test_edges_and_shadows_are_smooth():
    colours_drawn = np.unique(draw_poses(POSES, size=128).reshape(-1, 3), axis=0)
    colours_seen = np.unique(np.asarray(jax.jit(render)(POSES)).reshape(-1, 3), axis=0)
    assert len(colours_seen) < 20 < 100 < len(colours_drawn)


def test_a_strip_holds_the_frames_in_order_and_the_target_apart():
    dark, light, target = (np.full((4, 6, 3), shade, np.uint8) for shade in (10, 20, 30))
    strip = lay_out_strip([dark, light], target, gap=2)
    assert strip.shape == (4, 6 + 2 + 6 + 8 + 6, 3)
    expected = [10] * 6 + [255] * 2 + [20] * 6 + [255] * 8 + [30] * 6
    np.testing.assert_array_equal(strip[0, :, 0], expected)


def test_a_strip_of_one_frame_is_that_frame():
    frame = np.zeros((4, 4, 3), np.uint8)
    np.testing.assert_array_equal(lay_out_strip([frame]), frame)
