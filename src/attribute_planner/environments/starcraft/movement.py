"""Movement of SCVs: along straight paths, with constant acceleration and deceleration.

In every frame an SCV accelerates if it can still stop at the end of its path, otherwise keeps its speed if it can
still stop, and otherwise decelerates. A motion depends only on the initial speed and the length of the path, so all
motions are computed once, frame by frame, and looked up.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.starcraft.rules import ACCELERATION, MOVE_DISTANCE, SUBPIXELS, TOP_SPEED

SPEEDS = np.minimum(np.arange(-(-TOP_SPEED // ACCELERATION) + 1) * ACCELERATION, TOP_SPEED)
"""Speed by level, in 1/256 pixel per frame; a level is the number of frames of acceleration."""
HALTING = np.cumsum(SPEEDS)
"""Stopping distance of each level, in 1/256 pixel."""
TOP_LEVEL = len(SPEEDS) - 1
MAX_LENGTH = MOVE_DISTANCE + 64
"""Length of the longest path in pixels: a move, or the return of an SCV that carries ore."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Way:
    """The straight path of a unit; a unit at rest is at its target.

    origin, target: `int32[..., 2]` in pixels.
    length: `int32[...]` in pixels.
    level: `int32[...]` initial speed level.
    """

    origin: jax.Array
    target: jax.Array
    length: jax.Array
    level: jax.Array


class MotionTable(NamedTuple):
    """All motions, by initial speed level and length in pixels.

    frames: `int16[L, N]` duration of the motion, at least one frame.
    pixels: `int16[L, N, T]` distance after T frames.
    levels: `int8[L, N, T]` speed level after T frames.
    """

    frames: np.ndarray
    pixels: np.ndarray
    levels: np.ndarray


@lru_cache
def motion_table() -> MotionTable:
    """All motions, computed frame by frame."""
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
    """Speed level and remaining distance, in 1/256 pixel, one frame later."""
    faster = np.minimum(level + 1, TOP_LEVEL)
    slower = np.maximum(level - 1, 1)
    level = np.where(left >= HALTING[faster], faster, np.where(left >= HALTING[level], np.maximum(level, 1), slower))
    return level, np.maximum(left - SPEEDS[level], 0)


def way(origin: jax.Array, target: jax.Array, level: jax.Array) -> Way:
    """Paths from `origin` `[..., 2]` to `target` `[..., 2]`."""
    return Way(origin, target, whole_length(target - origin), level)


def standing(position: jax.Array) -> Way:
    """Paths of units at rest at `[..., 2]`."""
    zeros = jnp.zeros(position.shape[:-1], jnp.int32)
    return Way(position, position, zeros, zeros)


def choose_way(condition: jax.Array, then: Way, otherwise: Way) -> Way:
    """Select a path for each unit `[...]`."""

    def choose(new: jax.Array, old: jax.Array) -> jax.Array:
        return jnp.where(condition.reshape(condition.shape + (1,) * (new.ndim - condition.ndim)), new, old)

    return jax.tree.map(choose, then, otherwise)


def frames_on(way: Way) -> jax.Array:
    """`[...]` duration of the path in frames."""
    frames = jnp.asarray(motion_table().frames)
    return frames[way.level, way.length].astype(jnp.int32)


def on_the_way(way: Way, frames_left: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Position `[..., 2]` and speed level `[...]` of units that arrive in `frames_left` frames, after a pause."""
    table = motion_table()
    gone = jnp.clip(frames_on(way) - frames_left, 0, table.pixels.shape[-1] - 1)
    pixels = jnp.asarray(table.pixels)[way.level, way.length, gone].astype(jnp.int32)[..., None]
    level = jnp.asarray(table.levels)[way.level, way.length, gone].astype(jnp.int32)
    # Integer arithmetic, rounded to the nearest pixel: results are the same on every device.
    length = jnp.maximum(way.length, 1)[..., None]
    offset = (2 * (way.target - way.origin) * pixels + length) // (2 * length)
    return way.origin + offset, level


def level_towards(offset: jax.Array, way: Way, level: jax.Array) -> jax.Array:
    """`[...]` speed level of a unit that changes direction: the component of its speed in the new direction."""
    along = (offset * (way.target - way.origin)).sum(axis=-1)
    lengths = jnp.maximum(whole_length(offset) * way.length, 1)
    return jnp.clip(level * along // lengths, 0, level)


def whole_length(offset: jax.Array) -> jax.Array:
    """`int32[...]` lengths of offsets `[..., 2]`, rounded to pixels."""
    squares = (offset * offset).sum(axis=-1).astype(jnp.float32)
    return jnp.floor(jnp.sqrt(squares) + 0.5).astype(jnp.int32)
