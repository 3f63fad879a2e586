"""What of a drop need not be simulated: the way down through the air, and coming to rest on the empty table.

Both are known beforehand, to the last digit that physics keeps, where all other blocks are at rest and stay so: where
the dropped block touched none of them before it was picked up, and meets none on its way.
"""

from dataclasses import dataclass

import numpy as np

from attribute_planner.environments.blocks.scene import DROP_HEIGHT, HALF_SIDE, Poses, block_axes

GRAVITY = 9.81
RESTING_HEIGHT = 0.12484086
"""Of a block's centre on the table, which gives way a little."""
CLEARANCE = 0.01
"""In metres: whatever is nearer than this is taken to touch."""
STEPS_TO_SLEEP = 15
"""So much of the fall is left: MuJoCo has by then put the other blocks to sleep, as it does in a whole fall."""


@dataclass(frozen=True)
class Fall:
    """How blocks fall, one in each of `[B]` scenes.

    alone: `bool[B]` whether the block comes to rest on the table and nothing else is touched.
    steps: `int[B]` for how many steps of physics it falls freely while all others rest; the last few are left out.
    height, speed: `float64[B]` where its centre is after these steps, and how fast it moves downwards.
    """

    alone: np.ndarray
    steps: np.ndarray
    height: np.ndarray
    speed: np.ndarray


def fall_of(poses: Poses, block: np.ndarray, point: np.ndarray, time_step: float) -> Fall:
    """The fall of the blocks `[B]`, let go above the points `[B, 2]`."""
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


def steps_of_free_fall(distance: np.ndarray, time_step: float) -> np.ndarray:
    """`int[B]` after how many steps from rest a body has fallen almost, but not more than, the distances `[B]`.

    Physics first makes it faster, then moves it: after n steps it is n (n + 1) / 2 · g · time_step² lower.
    """
    in_units = np.maximum(distance, 0.0) / (GRAVITY * time_step**2)
    return np.floor((np.sqrt(1 + 8 * in_units) - 1) / 2).astype(int)


def extents(poses: Poses) -> np.ndarray:
    """`float64[B, 4, 3]` how far blocks reach from their centres along the world's axes."""
    return np.abs(np.asarray(block_axes(poses.quaternions), np.float64)).sum(-2) * HALF_SIDE
