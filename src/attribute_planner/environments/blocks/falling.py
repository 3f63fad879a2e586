"""The parts of a drop that need no simulation: the free fall, and coming to rest on the empty table.

Both are known exactly if all other blocks are at rest and stay at rest: the dropped block touched none of them before
the drop, and touches none during the fall.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from attribute_planner.environments.blocks.scene import DROP_HEIGHT, HALF_SIDE, Poses, block_axes

GRAVITY = 9.81
RESTING_HEIGHT = 0.12484086
"""Height of the centre of a block at rest on the table, which is slightly soft."""
CLEARANCE = 0.01
"""Distance in metres below which blocks count as touching."""
STEPS_TO_SLEEP = 15
"""Steps of the fall that are simulated, so that MuJoCo puts the other blocks to sleep as in a complete fall."""


@dataclass(frozen=True)
class Fall:
    """The free fall of one block in each of B scenes.

    alone: `bool[B]` whether the block comes to rest on the table without touching another block.
    steps: `int[B]` number of steps of free fall that are skipped.
    height, speed: `float64[B]` height of its centre after these steps, and its downward speed.
    """

    alone: np.ndarray
    steps: np.ndarray
    height: np.ndarray
    speed: np.ndarray


def fall_of(poses: Poses, block: Int[np.ndarray, "B"], point: Float[np.ndarray, "B 2"], time_step: float) -> Fall:
    """The fall of blocks released above points."""
    scenes = np.arange(len(block))
    centres, reach = np.asarray(poses.positions, np.float64), extents(poses)
    other = np.ones(centres.shape[:2], bool)
    other[scenes, block] = False
    gaps = np.abs(centres - centres[scenes, block][:, None]) - reach - reach[scenes, block][:, None]
    leaned_on = (other & (gaps.max(-1) < CLEARANCE)).any(-1)
    gaps = np.abs(centres[..., :2] - point[:, None]) - reach[..., :2] - HALF_SIDE
    below = other & (gaps.max(-1) < CLEARANCE)
    ground = np.where(below, centres[..., 2] + reach[..., 2], 0.0).max(-1)
    steps = steps_of_free_fall(DROP_HEIGHT - HALF_SIDE - CLEARANCE - ground, time_step) - STEPS_TO_SLEEP
    steps = np.where(leaned_on, 0, np.maximum(steps, 0))
    return Fall(
        alone=~leaned_on & ~below.any(-1),
        steps=steps,
        height=DROP_HEIGHT - GRAVITY * time_step**2 * steps * (steps + 1) / 2,
        speed=GRAVITY * time_step * steps,
    )


def steps_of_free_fall(distance: Float[np.ndarray, "B"], time_step: float) -> Int[np.ndarray, "B"]:
    """The largest number of steps from rest in which a body falls at most the distances.

    Physics updates the velocity, then the position: after n steps the body is n (n + 1) / 2 · g · time_step² lower.
    """
    in_units = np.maximum(distance, 0.0) / (GRAVITY * time_step**2)
    return np.floor((np.sqrt(1 + 8 * in_units) - 1) / 2).astype(int)


def extents(poses: Poses) -> Float[np.ndarray, "B 4 3"]:
    """Half the size of the blocks' bounding boxes along the axes of the scene."""
    return np.abs(np.asarray(block_axes(poses.quaternions), np.float64)).sum(-2) * HALF_SIDE
