import jax
import numpy as np
import pytest

from attribute_planner.environments.blocks.continuous import describe_all
from attribute_planner.environments.blocks.falling import (
    CLEARANCE,
    GRAVITY,
    STEPS_TO_SLEEP,
    Fall,
    fall_of,
    steps_of_free_fall,
)
from attribute_planner.environments.blocks.physics import TIME_STEP, Scenes, parked_poses
from attribute_planner.environments.blocks.scene import BLOCK_SIDE, DROP_HEIGHT, HALF_SIDE, Poses

COUNT = 256


def poses_at(*centres: tuple[float, float, float]) -> Poses:
    """One scene of upright blocks."""
    return Poses(np.array([centres], np.float32), parked_poses(1).quaternions)


def fall(poses: Poses, block: int, x: float, y: float) -> Fall:
    return fall_of(poses, np.array([block]), np.array([[x, y]]), TIME_STEP)


def random_drops(seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    return generator.integers(0, 4, COUNT), generator.random((COUNT, 2)).astype(np.float32)


@pytest.fixture(scope="module")
def scenes() -> tuple[Scenes, Scenes]:
    """Scenes in which everything is simulated, and such in which only what has to be is."""
    return Scenes(COUNT, whole=True), Scenes(COUNT)


@pytest.fixture(scope="module")
def settled(scenes: tuple[Scenes, Scenes]) -> Poses:
    generator = np.random.default_rng(0)
    order = np.argsort(generator.random((COUNT, 4)), axis=1)
    points = generator.random((COUNT, 4, 2)).astype(np.float32)
    return scenes[0].scatter(parked_poses(COUNT), order, points, np.ones(COUNT, bool))


def test_a_body_falls_as_physics_lets_it():
    height, speed, heights = 0.0, 0.0, []
    for _ in range(200):
        speed += GRAVITY * TIME_STEP
        height -= speed * TIME_STEP
        heights.append(-height)
    for distance in (0.0, 0.0001, 0.01, 0.5, 1.375):
        assert steps_of_free_fall(np.array([distance]), TIME_STEP) == sum(h <= distance for h in heights)


def test_the_way_down_ends_shortly_above_what_is_there():
    poses = poses_at((0, 0, HALF_SIDE), (0, 0, 3 * HALF_SIDE), (1, 1, HALF_SIDE), (0.5, 0.5, HALF_SIDE))
    for x, ground in ((0.1, 2 * BLOCK_SIDE), (1.0, 0.0)):
        way = fall(poses, 3, x, 0.0)
        left = (STEPS_TO_SLEEP + 1) * TIME_STEP
        above = way.height[0] - HALF_SIDE - ground
        assert CLEARANCE <= above < CLEARANCE + way.speed[0] * left + GRAVITY * left**2
        # What was lost in height became speed, but for what one step more or less makes.
        assert way.speed[0] == pytest.approx((2 * GRAVITY * (DROP_HEIGHT - way.height[0])) ** 0.5, rel=0.01)


@pytest.mark.parametrize(
    ("block", "x", "alone"),
    [
        (3, 0.8, True),
        (3, 0.52, True),  # where it stood before
        (3, 0.24, False),  # half of a hand's breadth into its neighbour
        (2, 0.8, False),  # another block may lean on it
    ],
)
def test_only_a_block_that_touches_nothing_comes_to_rest_alone(block: int, x: float, alone: bool):
    poses = poses_at((0, 0, HALF_SIDE), (1, 1, HALF_SIDE), (0.245, 0, HALF_SIDE), (0.52, 0, HALF_SIDE))
    assert fall(poses, block, x, 0.0).alone == [alone]


def test_what_leans_on_a_block_sees_the_whole_fall(scenes: tuple[Scenes, Scenes], settled: Poses):
    block, point = random_drops(seed=1)
    leaned_on = fall_of(settled, block, point, TIME_STEP).steps == 0
    assert 20 < leaned_on.sum() < COUNT
    whole, short = (each.drop(settled, block, point, leaned_on) for each in scenes)
    np.testing.assert_array_equal(short.positions, whole.positions)
    np.testing.assert_array_equal(short.quaternions, whole.quaternions)


def test_coming_to_rest_alone_is_what_physics_says(scenes: tuple[Scenes, Scenes], settled: Poses):
    block, point = random_drops(seed=2)
    alone = fall_of(settled, block, point, TIME_STEP).alone
    assert alone.sum() > 50
    whole, short = (each.drop(settled, block, point, alone) for each in scenes)
    here = np.arange(COUNT)[alone], block[alone]
    np.testing.assert_allclose(short.positions[here], whole.positions[here], atol=1e-6)
    np.testing.assert_allclose(short.quaternions[here], whole.quaternions[here], atol=1e-6)
    # All others have come to rest before; some creep on by a hair's breadth if they are simulated again.
    np.testing.assert_array_equal(describe_all(short), describe_all(whole))


def test_leaving_out_the_way_down_leaves_the_outcome(scenes: tuple[Scenes, Scenes], settled: Poses):
    block, point = random_drops(seed=3)
    way = fall_of(settled, block, point, TIME_STEP)
    falling = ~way.alone & (way.steps > 0)
    assert falling.sum() > 50
    whole, short = (each.drop(settled, block, point, falling) for each in scenes)
    moved = np.abs(np.asarray(short.positions - whole.positions)).max((1, 2))[falling]
    # A block that lands on an edge falls this way or that by a hair's breadth.
    assert (moved < 1e-4).mean() >= 0.99
    same = np.asarray(jax.numpy.all(describe_all(short) == describe_all(whole), axis=-1))[falling]
    assert same.mean() >= 0.99
