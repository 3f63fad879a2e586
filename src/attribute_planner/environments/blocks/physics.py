"""Physics of the blocks: MuJoCo drops a block and simulates until all blocks are at rest, for many scenes on threads.

The state of a scene is the poses of its blocks. Every drop starts from rest, so the outcome is a function of poses and
action, independent of earlier simulations and of the number of threads. No OpenGL library is needed.
"""

from typing import Any

import numpy as np

from attribute_planner.environments.blocks.falling import GRAVITY, RESTING_HEIGHT, fall_of
from attribute_planner.environments.blocks.scene import (
    BLOCK_COLOURS,
    BLOCKS,
    CAMERA,
    DROP_HEIGHT,
    HALF_SIDE,
    NUM_BLOCKS,
    TO_LIGHT,
    WALL_MARGIN,
    Poses,
)
from attribute_planner.errors import ConfigurationError

TIME_STEP = 0.005
STEPS_PER_CHECK = 10
"""Physics steps between two checks for scenes at rest."""
MAX_STEPS = 600
"""Three seconds. A scene that still moves then (a block that spins on an edge) is used as it is."""
FRICTION = 0.6
"""Coefficient of friction of wood on wood."""
SLIP_RESISTANCE = 10
"""MuJoCo's `impratio`: with the default of 1, leaning blocks slip for seconds before they come to rest."""
REST_SPEED = 0.01
"""Speed in m/s: a block that is slower for ten steps is at rest."""
WALL_HEIGHT, WALL_THICKNESS = 3.0, 0.5
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
PARKED = 10.0
"""x coordinate of blocks that are not in the scene yet: on the floor beyond the walls."""


class Scenes:
    """`count` scenes that are simulated together. Results do not depend on `threads` (0: all processors).

    whole: whether to simulate also the parts of a fall that are known, see `falling`.
    """

    def __init__(self, count: int, threads: int = 0, *, whole: bool = False) -> None:
        self.count, self.whole = count, whole
        # MuJoCo puts blocks at rest to sleep, which is fast, but needs a batch that keeps its data.
        self._batch = _mujoco_batch().Batch(load_model(), count, threads, persistent=True)
        self._where = self._batch.bind("qpos").reshape(count, NUM_BLOCKS, 7)
        self._speed = self._batch.bind("qvel").reshape(count, NUM_BLOCKS, 6)
        self._awake = self._batch.bind("tree_awake")

    def drop(self, poses: Poses, block: np.ndarray, point: np.ndarray, which: np.ndarray | None = None) -> Poses:
        """Poses at rest after releasing the blocks `int[B]` above the points `float[B, 2]`.

        Only in the scenes `which` `bool[B]`, if given; the others keep their poses. Covered blocks are not treated
        specially.
        """
        which = np.ones(self.count, bool) if which is None else np.asarray(which)
        start = np.concatenate([poses.positions, poses.quaternions], -1).astype(np.float64)
        scenes = np.arange(self.count)
        start[scenes, block, :2], start[scenes, block, 2], start[scenes, block, 3:] = point, DROP_HEIGHT, UPRIGHT
        speed, simulated, rest = np.zeros((*block.shape, NUM_BLOCKS, 6)), which, start
        if not self.whole:
            fall = fall_of(poses, block, point, TIME_STEP)
            start[scenes, block, 2], speed[scenes, block, 2] = fall.height, -fall.speed
            simulated, rest = which & ~fall.alone, start.copy()
            rest[scenes, block, 2] = RESTING_HEIGHT
        self._settle(start, speed, simulated)
        settled = np.where(simulated[:, None, None], self._where, rest).astype(np.float32)
        return _choose(which, Poses(settled[..., :3], settled[..., 3:]), poses)

    def scatter(self, poses: Poses, order: np.ndarray, points: np.ndarray, which: np.ndarray) -> Poses:
        """Clear the scenes `which` `[B]`, then drop the blocks `order` `[B, 4]` above `points` `[B, 4, 2]` in turn."""
        poses = _choose(which, parked_poses(self.count), poses)
        for turn in range(NUM_BLOCKS):
            poses = self.drop(poses, order[:, turn], points[:, turn], which)
        return poses

    def _settle(self, start: np.ndarray, speed: np.ndarray, which: np.ndarray) -> None:
        """Simulate the scenes `which` until MuJoCo has put all their blocks to sleep.

        They start at the poses `start` `[B, 4, 7]` with the velocities `speed` `[B, 4, 6]`.
        """
        moving = np.flatnonzero(which)
        self._batch.reset(moving, stage=0)
        self._where[moving], self._speed[moving] = start[moving], speed[moving]
        for _ in range(MAX_STEPS // STEPS_PER_CHECK):
            if not len(moving):
                return
            self._batch.step(moving, nstep=STEPS_PER_CHECK)
            moving = moving[self._awake[moving].any(-1)]


def parked_poses(count: int) -> Poses:
    """Poses of `count` scenes without blocks on the table."""
    positions = np.full((count, NUM_BLOCKS, 3), HALF_SIDE, np.float32)
    positions[..., 0] = PARKED + np.arange(NUM_BLOCKS)
    return Poses(positions, np.tile(np.array(UPRIGHT, np.float32), (count, NUM_BLOCKS, 1)))


def _choose(which: np.ndarray, then: Poses, otherwise: Poses) -> Poses:
    """Select poses for each scene; `which` is `bool[B]`."""
    return Poses(
        np.where(which[:, None, None], then.positions, otherwise.positions),
        np.where(which[:, None, None], then.quaternions, otherwise.quaternions),
    )


def load_model() -> Any:
    """The scene as a MuJoCo model (`MjModel`)."""
    return _mujoco_batch().mujoco.MjModel.from_xml_string(scene_xml())


def _mujoco_batch() -> Any:
    """The module `mujoco.batch`, imported when blocks are first dropped."""
    try:
        from mujoco import batch
    except ImportError as error:
        raise ConfigurationError(
            "The physics of blocks needs MuJoCo 4 or newer: pip install 'attribute-planner[blocks]'."
        ) from error
    return batch


def scene_xml() -> str:
    """The scene in MuJoCo's XML: floor, glass walls, blocks, and a camera and a light for MuJoCo's renderer."""
    reach = 0.5 + WALL_MARGIN + WALL_THICKNESS / 2
    walls = [(-reach, 0.0), (reach, 0.0), (0.0, -reach), (0.0, reach)]
    return f"""
    <mujoco>
      <option timestep="{TIME_STEP}" gravity="0 0 {-GRAVITY}" integrator="Euler" cone="elliptic"
              impratio="{SLIP_RESISTANCE}" sleep_tolerance="{REST_SPEED}"><flag sleep="enable"/></option>
      <default><geom solref="0.02 1" condim="3" friction="{FRICTION} 0.005 0.0001"/></default>
      <worldbody>
        <camera name="{CAMERA_NAME}" pos="{_numbers(CAMERA.position)}" fovy="{CAMERA.field_of_view}"
                xyaxes="{_numbers(CAMERA.right)} {_numbers(CAMERA.up)}"/>
        <light type="directional" dir="{_numbers(-TO_LIGHT)}"/>
        <geom name="floor" type="plane" size="3 3 1" rgba="0.8 0.78 0.75 1"/>
        {"".join(_wall_xml(*wall) for wall in walls)}
        {"".join(_block_xml(name, colour) for name, colour in zip(BLOCKS, BLOCK_COLOURS, strict=True))}
      </worldbody>
    </mujoco>"""


CAMERA_NAME = "viewer"


def _wall_xml(x: float, y: float) -> str:
    """An invisible, frictionless wall with its centre at (x, y) from the centre of the table."""
    length = 1 + 2 * (WALL_MARGIN + WALL_THICKNESS)
    size = np.array((WALL_THICKNESS, length, WALL_HEIGHT) if x else (length, WALL_THICKNESS, WALL_HEIGHT))
    centre = np.array((0.5 + x, 0.5 + y, WALL_HEIGHT / 2))
    return (
        f'<geom type="box" pos="{_numbers(centre)}" size="{_numbers(size / 2)}" friction="0 0 0" priority="1"'
        ' group="3" rgba="1 1 1 0"/>'
    )


def _block_xml(name: str, colour: np.ndarray) -> str:
    size, rgb = _numbers(np.full(3, HALF_SIDE)), _numbers(colour / 255)
    geom = f'<geom name="{name}" type="box" size="{size}" mass="1" rgba="{rgb} 1"/>'
    return f'<body name="{name}"><freejoint/>{geom}</body>'


def _numbers(vector: np.ndarray) -> str:
    return " ".join(f"{number:.9g}" for number in vector)
