"""How an SCV moves: along straight ways, gaining speed by a fixed amount each frame and slowing down in time to halt.

Every frame it goes faster if it can still halt at the end of its way, as fast as before if it can do that, and slower
otherwise. The outcome depends only on the speed at the start and on the way's length, so all motions are worked out
once, frame by frame, and a simulation looks them up.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.starcraft.rules import ACCELERATION, MOVE_DISTANCE, SUBPIXELS, TOP_SPEED

SPEEDS = np.minimum(np.arange(-(-TOP_SPEED // ACCELERATION) + 1) * ACCELERATION, TOP_SPEED)
"""Speed by level, in 1/256 pixel a frame: a level is how many frames of acceleration lie behind the unit."""
HALTING = np.cumsum(SPEEDS)
"""How far a unit of each level goes, in 1/256 pixel, if it slows down from this frame on, at that level's speed."""
TOP_LEVEL = len(SPEEDS) - 1
MAX_LENGTH = MOVE_DISTANCE + 64
"""The longest way in pixels: a move, or the way home of an SCV that is told to mine with ore in its hands."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Way:
    """The straight way that a unit is on, or has come to the end of: a unit that stands still is at its target.

    origin, target: `int32[..., 2]` in pixels.
    length: `int32[...]` in whole pixels.
    level: `int32[...]` speed level with which the unit set off.
    """

    origin: jax.Array
    target: jax.Array
    length: jax.Array
    level: jax.Array


class MotionTable(NamedTuple):
    """All motions, by level at the start and length in pixels.

    frames: `int16[L, N]` how long a motion takes, at least one frame.
    pixels: `int16[L, N, T]` whole pixels covered after so many frames.
    levels: `int8[L, N, T]` speed level after so many frames.
    """

    frames: np.ndarray
    pixels: np.ndarray
    levels: np.ndarray


@lru_cache
def motion_table() -> MotionTable:
    """Every motion that can occur, worked out frame by frame."""
    level, left = np.meshgrid(np.arange(TOP_LEVEL + 1), np.arange(MAX_LENGTH + 1) * SUBPIXELS, indexing="ij")
    length, frames = left, np.zeros_like(left)
    pixels, levels = [np.zeros_like(left)], [level]
    while (left > 0).any():
        frames = frames + (left > 0)
        level, left = next_frame(level, left)
        pixels.append((length - left) // SUBPIXELS)
        levels.append(level)
    return MotionTable(
        np.maximum(frames, 1).astype(np.int16),
        np.stack(pixels, axis=-1).astype(np.int16),
        np.stack(levels, axis=-1).astype(np.int8),
    )


def next_frame(level: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Speed level and distance that is left, in 1/256 pixel, one frame later."""
    faster = np.minimum(level + 1, TOP_LEVEL)
    slower = np.maximum(level - 1, 1)
    level = np.where(left >= HALTING[faster], faster, np.where(left >= HALTING[level], np.maximum(level, 1), slower))
    return level, np.maximum(left - SPEEDS[level], 0)


def way(origin: jax.Array, target: jax.Array, level: jax.Array) -> Way:
    """The ways from `[..., 2]` to `[..., 2]`."""
    return Way(origin, target, whole_length(target - origin), level)


def standing(position: jax.Array) -> Way:
    """The ways of units that stay where they are, at `[..., 2]`."""
    zeros = jnp.zeros(position.shape[:-1], jnp.int32)
    return Way(position, position, zeros, zeros)


def choose_way(condition: jax.Array, then: Way, otherwise: Way) -> Way:
    """Per unit `[...]`, the one way or the other."""

    def choose(new: jax.Array, old: jax.Array) -> jax.Array:
        return jnp.where(condition.reshape(condition.shape + (1,) * (new.ndim - condition.ndim)), new, old)

    return jax.tree.map(choose, then, otherwise)


def frames_on(way: Way) -> jax.Array:
    """`[...]` how many frames the whole way takes."""
    frames = jnp.asarray(motion_table().frames)
    return frames[way.level, way.length].astype(jnp.int32)


def on_the_way(way: Way, frames_left: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Position `[..., 2]` and speed level `[...]` of units that arrive in so many frames; at first they may stand."""
    table = motion_table()
    gone = jnp.clip(frames_on(way) - frames_left, 0, table.pixels.shape[-1] - 1)
    pixels = jnp.asarray(table.pixels)[way.level, way.length, gone].astype(jnp.int32)[..., None]
    level = jnp.asarray(table.levels)[way.level, way.length, gone].astype(jnp.int32)
    # Rounded to the nearest pixel, in whole numbers: results are the same on every device.
    length = jnp.maximum(way.length, 1)[..., None]
    offset = (2 * (way.target - way.origin) * pixels + length) // (2 * length)
    return way.origin + offset, level


def level_towards(offset: jax.Array, way: Way, level: jax.Array) -> jax.Array:
    """`[...]` the level that is left to a unit which turns from its way: its speed's share in the new direction."""
    along = (offset * (way.target - way.origin)).sum(axis=-1)
    lengths = jnp.maximum(whole_length(offset) * way.length, 1)
    return jnp.clip(level * along // lengths, 0, level)


def whole_length(offset: jax.Array) -> jax.Array:
    """`int32[...]` lengths of offsets `[..., 2]`, to the nearest whole pixel."""
    squares = (offset * offset).sum(axis=-1).astype(jnp.float32)
    return jnp.floor(jnp.sqrt(squares) + 0.5).astype(jnp.int32)
