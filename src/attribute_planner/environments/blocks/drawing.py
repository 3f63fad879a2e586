"""Images for people: larger than the agent's, with smooth edges and soft shadows; and strips of images."""

from collections.abc import Sequence
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import UInt8

from attribute_planner.environments.blocks.rendering import Canvas, canvas, render_softly
from attribute_planner.environments.blocks.scene import TO_LIGHT, Poses

DRAWING_SIZE = 384
RAYS_PER_SIDE = 2
"""Rays through a pixel, in each direction."""
LIGHTS = 24
LIGHT_RADIUS = 0.09
"""Angular radius of the light seen from the table, in radians; it makes shadows soft."""

PAPER_WHITE = 255


def draw_poses(poses: Poses, size: int = DRAWING_SIZE) -> UInt8[np.ndarray, "{size} {size} 3"]:
    """An image of blocks at `poses`."""
    return np.asarray(_draw(poses, size))


@lru_cache
def _light_directions() -> np.ndarray:
    """`[LIGHTS, 3]` directions to points spread evenly over a disc."""
    number = np.arange(LIGHTS) + 0.5
    radius = LIGHT_RADIUS * np.sqrt(number / LIGHTS)
    angle = number * np.pi * (3 - np.sqrt(5))  # the golden angle spreads the points evenly
    sideways = np.cross(TO_LIGHT, [0.0, 0.0, 1.0])
    sideways /= np.linalg.norm(sideways)
    across = np.cross(TO_LIGHT, sideways)
    points = TO_LIGHT + (radius * np.cos(angle))[:, None] * sideways + (radius * np.sin(angle))[:, None] * across
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


@jax.jit(static_argnums=1)
def _draw(poses: Poses, size: int) -> jax.Array:
    """The mean over the rays of each pixel, among which the lights are divided."""
    fine = canvas(size * RAYS_PER_SIDE)
    rays = [_ray_of_each_pixel(fine, *place) for place in np.ndindex(RAYS_PER_SIDE, RAYS_PER_SIDE)]
    lights = [_light_directions()[number :: len(rays)] for number in range(len(rays))]
    # A loop, because compiling one image takes a fraction of the time of compiling all of them.
    stacked = jax.tree.map(lambda *parts: jnp.stack(parts), *zip(rays, lights, strict=True))
    images = jax.lax.map(lambda ray: render_softly(ray[0], poses, ray[1]), stacked)
    return jnp.round(images.mean(axis=0)).astype(jnp.uint8)


def _ray_of_each_pixel(fine: Canvas, row: int, column: int) -> Canvas:
    """One of the rays of each pixel."""
    rows, columns = slice(row, None, RAYS_PER_SIDE), slice(column, None, RAYS_PER_SIDE)
    return Canvas(fine.x[:, columns], fine.y[rows], fine.ground[rows, columns], fine.inverse_distance[rows])


def lay_out_strip(frames: Sequence[np.ndarray], target: np.ndarray | None = None, gap: int = 8) -> np.ndarray:
    """`uint8[H, W, 3]` frames side by side on white; an image of the `target` follows after a wider gap."""
    parts = [part for frame in frames for part in (frame, _blank(frame, gap))][:-1]
    if target is not None:
        parts += [_blank(target, 4 * gap), target]
    return np.concatenate(parts, axis=1)


def _blank(like: np.ndarray, width: int) -> np.ndarray:
    return np.full((like.shape[0], width, 3), PAPER_WHITE, np.uint8)
