from importlib import import_module
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.blocks.attributes import (
    ATTRIBUTES,
    LEAST_OVERLAP,
    SIDE_MARGIN,
    covered_blocks,
    describe_cells,
    describe_poses,
)
from attribute_planner.environments.blocks.discrete import poses_of
from attribute_planner.environments.blocks.physics import Scenes, load_model, parked_poses
from attribute_planner.environments.blocks.scene import BLOCK_SIDE, BLOCKS, HALF_SIDE, ORDERED_PAIRS, Poses, upright
from attribute_planner.environments.blocks.verification import all_configurations

APART = np.array([[-5, -5, HALF_SIDE], [5, -5, HALF_SIDE], [-5, 5, HALF_SIDE], [5, 5, HALF_SIDE]], np.float32)


def true_names(values: jax.Array) -> set[str]:
    return {name for name, value in zip(ATTRIBUTES.names, values, strict=True) if value}


def red_and_green(red: tuple[float, float, float], green: tuple[float, float, float]) -> Poses:
    """Red and green as given; blue and yellow far away."""
    return upright(jnp.asarray(np.array([red, green, *APART[2:]], np.float32)))


def turned(poses: Poses, block: int, degrees: float) -> Poses:
    """The same, with one block turned about the vertical."""
    half = np.radians(degrees / 2)
    quaternion = jnp.array([np.cos(half), 0.0, 0.0, np.sin(half)], jnp.float32)
    return Poses(poses.positions, jnp.asarray(poses.quaternions).at[block].set(quaternion))


def between_red_and_green(poses: Poses) -> set[str]:
    return {name for name in true_names(describe_poses(poses)) if "blue" not in name and "yellow" not in name}


def test_there_are_36_attributes_with_speaking_names():
    assert len(ATTRIBUTES) == 36
    assert {"red_left_of_blue", "yellow_in_front_of_green", "blue_on_top_of_red"} <= set(ATTRIBUTES.names)


def test_four_blocks_in_the_corners_and_a_tower_are_described_as_people_would():
    # Red in the front left corner, green behind it, blue in the back right corner with yellow on it.
    values = describe_cells(jnp.array([0, 6, 8, 8]), jnp.array([0, 0, 0, 1]))
    assert true_names(values) == {
        *("red_left_of_blue", "red_left_of_yellow", "green_left_of_blue", "green_left_of_yellow"),
        *("red_in_front_of_green", "red_in_front_of_blue", "red_in_front_of_yellow"),
        "yellow_on_top_of_blue",
    }


def test_grid_and_poses_give_the_same_attributes_in_every_configuration():
    states = all_configurations()
    by_cells = jax.jit(jax.vmap(describe_cells))(states.cells, states.levels)
    by_poses = jax.jit(jax.vmap(lambda state: describe_poses(poses_of(state))))(states)
    np.testing.assert_array_equal(by_cells, by_poses)


@pytest.mark.parametrize(
    ("offset", "names"),
    [
        ((SIDE_MARGIN - 0.001, 0.0), set()),
        ((SIDE_MARGIN + 0.001, 0.0), {"red_left_of_green"}),
        ((-SIDE_MARGIN - 0.001, 0.0), {"green_left_of_red"}),
        ((0.0, SIDE_MARGIN + 0.001), {"red_in_front_of_green"}),
        ((0.3, -0.3), {"red_left_of_green", "green_in_front_of_red"}),
    ],
)
def test_left_and_front_need_a_margin_of_half_a_block(offset: tuple[float, float], names: set[str]):
    assert between_red_and_green(red_and_green((0.5, 0.5, HALF_SIDE), (0.5 + offset[0], 0.5 + offset[1], 0.4))) >= names
    flat = between_red_and_green(red_and_green((0.5, 0.5, HALF_SIDE), (0.5 + offset[0], 0.5 + offset[1], HALF_SIDE)))
    assert flat == names


@pytest.mark.parametrize(
    ("rise", "shift", "is_on_top"),
    [
        (BLOCK_SIDE, 0.0, True),
        (BLOCK_SIDE, BLOCK_SIDE - LEAST_OVERLAP - 0.001, True),
        (BLOCK_SIDE, BLOCK_SIDE - LEAST_OVERLAP + 0.001, False),
        (0.45 * BLOCK_SIDE, 0.1, False),
        (0.55 * BLOCK_SIDE, 0.1, True),
        (2 * BLOCK_SIDE, 0.0, False),
        (-BLOCK_SIDE, 0.0, False),
    ],
)
def test_on_top_needs_a_rise_of_about_a_block_and_an_overlap(rise: float, shift: float, is_on_top: bool):
    poses = red_and_green((0.5 + shift, 0.5, 0.5 + rise), (0.5, 0.5, 0.5))
    assert ("red_on_top_of_green" in between_red_and_green(poses)) == is_on_top


def test_a_turned_block_reaches_further_to_its_corner():
    # Half the diagonal of a block is 0.177: turned by 45°, it reaches a neighbour 0.28 away, upright it does not.
    straight = red_and_green((0.78, 0.5, 0.375), (0.5, 0.5, 0.125))
    assert "red_on_top_of_green" not in between_red_and_green(straight)
    assert "red_on_top_of_green" in between_red_and_green(turned(straight, 0, 45.0))


def test_two_corners_that_miss_each_other_diagonally_do_not_overlap():
    # Both turned by 45°: along the diagonal they reach only half a side, although their outlines' boxes overlap.
    poses = red_and_green((0.7, 0.7, 0.375), (0.5, 0.5, 0.125))
    assert "red_on_top_of_green" in between_red_and_green(poses)
    assert "red_on_top_of_green" not in between_red_and_green(turned(turned(poses, 0, 45.0), 1, 45.0))


def test_a_bridge_lies_on_both_its_piers():
    positions = jnp.array([[0.5, 0.5, 0.375], [0.35, 0.5, 0.125], [0.65, 0.5, 0.125], [3.0, 3.0, 0.125]])
    on_top = {name for name in true_names(describe_poses(upright(positions))) if "on_top" in name}
    assert on_top == {"red_on_top_of_green", "red_on_top_of_blue"}


def test_covered_are_the_blocks_with_another_on_top():
    tower = describe_cells(jnp.array([4, 4, 4, 0]), jnp.array([2, 0, 1, 0]))
    np.testing.assert_array_equal(covered_blocks(tower), [False, True, True, False])


def test_on_top_is_who_carries_whom_by_the_forces_in_crowded_scenes():
    count = 200
    generator = np.random.default_rng(4)
    order = np.argsort(generator.random((count, 4)), axis=1)
    points = generator.uniform(0.25, 0.75, (count, 4, 2))
    poses = Scenes(count).scatter(parked_poses(count), order, points, np.ones(count, bool))
    values = np.asarray(jax.jit(jax.vmap(describe_poses))(jax.tree.map(jnp.asarray, poses)))
    model = load_model()
    by_force = np.stack([is_carried(model, poses, scene) for scene in range(count)])
    assert by_force.sum() > 100
    assert (by_force == (values[:, 24:] == 1)).mean() > 0.99


def is_carried(model: Any, poses: Poses, scene: int) -> np.ndarray:
    """`bool[12]` whether the second block of each pair holds up the first with at least a twentieth of its weight."""
    mujoco: Any = import_module("mujoco")
    data, lift = mujoco.MjData(model), np.zeros((4, 4))
    data.qpos[:] = np.concatenate([poses.positions[scene], poses.quaternions[scene]], axis=-1).ravel()
    mujoco.mj_forward(model, data)
    for number in range(data.ncon):
        contact, force = data.contact[number], np.zeros(6)
        mujoco.mj_contactForce(model, data, number, force)
        below, above = (model.geom(geom).name for geom in contact.geom)
        if below in BLOCKS and above in BLOCKS:
            upward = (contact.frame.reshape(3, 3).T @ force[:3])[2]
            lift[BLOCKS.index(above), BLOCKS.index(below)] += upward
            lift[BLOCKS.index(below), BLOCKS.index(above)] -= upward
    return np.array([lift[pair] > 0.05 * 9.81 for pair in ORDERED_PAIRS])
