"""Images of blocks as a pure function of their poses: a ray caster that XLA fuses into a loop over pixels.

A ray through the pixel (x, y) is `camera + t · d`, with d linear in x and y. In the frame of a box, its distance t to a
face plane satisfies `1/t ∝ d_i`, so *inverse* distances are linear in x and y too: the ray enters a box at the smallest
of its three facing planes' inverse distances, if that is at least the largest of the other planes'. No array is larger
than an image, and a pixel takes one division. Shadows repeat the test from the hit point towards the light; its
coordinates in the frame of a box are the same linear functions.
"""

from dataclasses import dataclass, replace
from functools import lru_cache, reduce

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int, UInt8

from attribute_planner.environments.blocks.scene import (
    BLOCK_COLOURS,
    CAMERA,
    HALF_SIDE,
    NUM_BLOCKS,
    TO_LIGHT,
    WALL_MARGIN,
    Poses,
    block_axes,
)
from attribute_planner.environments.spaces import ImageSpec
from attribute_planner.errors import ConfigurationError

IMAGE_SIZE = 128
"""Height and width in pixels, as in the paper."""
SMALLEST_SIZE = 16
"""In a smaller image a block covers only one or two pixels."""

AMBIENT, DIFFUSE = 0.70, 0.36
SHADOW = 0.60
"""Brightness factor in the shadow."""

TABLE_COLOUR, FLOOR_COLOUR, EDGE_COLOUR = (206.0, 200.0, 190.0), (120.0, 122.0, 130.0), (150.0, 142.0, 130.0)
EDGE_WIDTH = 0.02

FAR = 1e6
NEARLY_PARALLEL = 1e-4
"""Minimum absolute value of a divisor, for rays nearly parallel to a face."""
SHADOW_OFFSET = 1e-3
"""Minimum distance of a shadow caster in metres, so that a face does not shade itself."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Canvas:
    """The rays of an image and its background.

    x: `[1, W]`, y: `[H, 1]` intersections of the rays with the plane at distance one.
    ground: `uint32[H, W]` packed colours of table and floor.
    inverse_distance: `[H, 1]` inverse distance of the ground.
    """

    x: np.ndarray
    y: np.ndarray
    ground: np.ndarray
    inverse_distance: np.ndarray


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class BoxPlanes:
    """The face planes of the boxes: one number per box and axis, all `float32[4, 3]` but the last.

    slope_x, slope_y, offset: `slope_x · x + slope_y · y + offset` is the inverse distance of the plane through the face
        towards the camera.
    opposite: factor from that to the inverse distance of the opposite face.
    straddled: `FAR` if the camera is between the two planes, so that neither face is towards it; otherwise `-FAR`.
    light_offset, light_slope: a ray to the light from the distance t on a pixel's ray enters the slab between the two
        planes at `light_offset + light_slope · t · inverse distance`.
    light_width: length of that ray inside the slab.
    colour: `uint32[4, 3]` packed colour of the face in the light.
    """

    slope_x: jax.Array
    slope_y: jax.Array
    offset: jax.Array
    opposite: jax.Array
    straddled: jax.Array
    light_offset: jax.Array
    light_slope: jax.Array
    light_width: jax.Array
    colour: jax.Array


def render(poses: Poses, size: int = IMAGE_SIZE) -> UInt8[jax.Array, "{size} {size} 3"]:
    """The agent's image of blocks at `poses`, for one scene."""
    on = canvas(size)
    planes = _box_planes(poses, jnp.asarray(TO_LIGHT, jnp.float32))
    inverse_distances = _inverse_distances(on, planes)
    nearest, colour = _cast(on, planes, inverse_distances)
    shaded = _in_shadow(planes, inverse_distances, 1.0 / nearest)
    return _unpacked(jnp.where(shaded, _dimmed(colour), colour))


def render_softly(canvas: Canvas, poses: Poses, lights: Float[jax.Array, "L 3"]) -> Float[jax.Array, "H W 3"]:
    """An image of blocks at `poses` on a canvas; shadows are the mean of those from several directions of light."""
    planes = _box_planes(poses, jnp.asarray(TO_LIGHT, jnp.float32))
    nearest, colour = _cast(canvas, planes, _inverse_distances(canvas, planes))

    def add_shadow(share: jax.Array, to_light: jax.Array) -> tuple[jax.Array, None]:
        lit = _box_planes(poses, to_light)
        shaded = _in_shadow(lit, _inverse_distances(canvas, lit), 1.0 / nearest)
        return share + shaded.astype(jnp.float32), None

    total, _ = jax.lax.scan(add_shadow, jnp.zeros(nearest.shape), lights)
    share = (total / len(lights))[..., None]
    bright, dim = (_unpacked(each).astype(jnp.float32) for each in (colour, _dimmed(colour)))
    return bright + share * (dim - bright)


def image_spec(size: int) -> ImageSpec:
    """The specification of images of `size` pixels; an error if blocks are too small to be seen."""
    if size < SMALLEST_SIZE:
        raise ConfigurationError(f"image_size is {size}; it must be at least {SMALLEST_SIZE} pixels.")
    return ImageSpec(size, size)


def visible_blocks(poses: Poses, size: int = IMAGE_SIZE) -> Int[jax.Array, "{size} {size}"]:
    """The block at each pixel; `NO_BLOCK` for none."""
    planes = _box_planes(poses, jnp.asarray(TO_LIGHT, jnp.float32))
    numbers = jnp.broadcast_to(jnp.arange(NUM_BLOCKS, dtype=jnp.uint32)[:, None], (NUM_BLOCKS, 3))
    empty = replace(canvas(size), ground=np.full((size, size), NUM_BLOCKS, np.uint32))
    _, shown = _cast(empty, replace(planes, colour=numbers), _inverse_distances(empty, planes))
    return jnp.where(shown == NUM_BLOCKS, NO_BLOCK, shown.astype(jnp.int32))


NO_BLOCK = -1


@lru_cache
def canvas(size: int) -> Canvas:
    """The square canvas of `size` pixels, with a ray through the centre of each pixel."""
    centres = ((np.arange(size) + 0.5) * 2 / size - 1) * CAMERA.half_height
    x, y = centres[None, :], -centres[:, None]
    downward = -(CAMERA.forward[2] + y * CAMERA.up[2])
    inverse_distance = downward / CAMERA.position[2]
    return Canvas(
        x.astype(np.float32),
        y.astype(np.float32),
        np.asarray(_packed(_ground_colours(x, y, 1 / inverse_distance))),
        inverse_distance.astype(np.float32),
    )


def _ground_colours(x: np.ndarray, y: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """`[H, W, 3]` colours of table, edge and floor at `distance` `[H, 1]` along the rays."""
    direction = CAMERA.forward + x[..., None] * CAMERA.right + y[..., None] * CAMERA.up
    point = CAMERA.position + distance[..., None] * direction
    outside = np.abs(point[..., :2] - 0.5).max(-1, keepdims=True) - (0.5 + WALL_MARGIN)
    edge = np.where(outside < EDGE_WIDTH, EDGE_COLOUR, FLOOR_COLOUR)
    return np.where(outside < 0, TABLE_COLOUR, edge)


def _box_planes(poses: Poses, to_light: jax.Array) -> BoxPlanes:
    """Everything that is computed once per image."""
    axes = block_axes(poses.quaternions)
    camera, forward, right, up = (
        jnp.asarray(vector, jnp.float32) for vector in (CAMERA.position, CAMERA.forward, CAMERA.right, CAMERA.up)
    )
    eye = jnp.einsum("bij,bj->bi", axes, camera[None, :] - poses.positions)
    side = jnp.where(eye >= 0, 1.0, -1.0)
    # Signed distance of the camera outside the slab between two opposite faces; negative inside.
    outside = _away_from_zero(side * eye - HALF_SIDE)
    scale = -side / outside
    light = _away_from_zero(axes @ to_light)
    width = 2 * HALF_SIDE / jnp.abs(light)
    return BoxPlanes(
        slope_x=scale * (axes @ right),
        slope_y=scale * (axes @ up),
        offset=scale * (axes @ forward),
        opposite=outside / (outside + 2 * HALF_SIDE),
        straddled=jnp.where(outside < 0, FAR, -FAR),
        light_offset=-eye / light - width / 2,
        light_slope=-1 / (scale * light),
        light_width=width,
        colour=_face_colours(side * (axes @ to_light)),
    )


def _face_colours(cosine: jax.Array) -> jax.Array:
    """`uint32[4, 3]` packed colours of faces, given the cosine `[4, 3]` of their normals to the light."""
    brightness = AMBIENT + DIFFUSE * jnp.maximum(cosine, 0.0)
    return jnp.asarray(_packed(jnp.minimum(brightness[..., None] * jnp.asarray(BLOCK_COLOURS)[:, None, :], 255.0)))


def _away_from_zero(values: jax.Array) -> jax.Array:
    return jnp.where(values >= 0, 1.0, -1.0) * jnp.maximum(jnp.abs(values), NEARLY_PARALLEL)


def _inverse_distances(canvas: Canvas, planes: BoxPlanes) -> list[list[jax.Array]]:
    """`[H, W]` for each box and axis: inverse distance of the plane through the face towards the camera."""
    x, y = jnp.asarray(canvas.x), jnp.asarray(canvas.y)
    return [
        [planes.slope_x[box, i] * x + (planes.slope_y[box, i] * y + planes.offset[box, i]) for i in range(3)]
        for box in range(NUM_BLOCKS)
    ]


def _cast(canvas: Canvas, planes: BoxPlanes, inverse_distances: list[list[jax.Array]]) -> tuple[jax.Array, jax.Array]:
    """`[H, W]` inverse distance and packed colour of the first hit of each pixel's ray."""
    nearest = jnp.broadcast_to(jnp.asarray(canvas.inverse_distance), canvas.ground.shape)
    colour = jnp.asarray(canvas.ground)
    for box in range(NUM_BLOCKS):
        facing = inverse_distances[box]
        entering = [jnp.maximum(facing[i], planes.straddled[box, i]) for i in range(3)]
        leaving = [facing[i] * planes.opposite[box, i] for i in range(3)]
        leaving += [jnp.minimum(facing[i], planes.straddled[box, i]) for i in range(3)]
        entry = _smallest(entering)
        closer = (entry >= _largest(leaving)) & (entry > nearest)
        face = jnp.where(entering[1] <= entering[2], planes.colour[box, 1], planes.colour[box, 2])
        face = jnp.where(entering[0] <= _smallest(entering[1:]), planes.colour[box, 0], face)
        nearest, colour = jnp.where(closer, entry, nearest), jnp.where(closer, face, colour)
    return nearest, colour


def _in_shadow(planes: BoxPlanes, inverse_distances: list[list[jax.Array]], distance: jax.Array) -> jax.Array:
    """`[H, W]` whether a box is between the light and the point at `distance` `[H, W]` on each pixel's ray."""
    shaded = jnp.zeros(distance.shape, bool)
    for box in range(NUM_BLOCKS):
        enters = [
            planes.light_offset[box, i] + planes.light_slope[box, i] * (distance * inverse_distances[box][i])
            for i in range(3)
        ]
        leaves = _smallest([enters[i] + planes.light_width[box, i] for i in range(3)])
        shaded |= leaves > jnp.maximum(_largest(enters), SHADOW_OFFSET)
    return shaded


def _smallest(arrays: list[jax.Array]) -> jax.Array:
    return reduce(jnp.minimum, arrays)


def _largest(arrays: list[jax.Array]) -> jax.Array:
    return reduce(jnp.maximum, arrays)


def _packed(colours: jax.Array | np.ndarray) -> jax.Array | np.ndarray:
    """`uint32[...]` of colours `[..., 3]` from 0 to 255: red in the lowest byte."""
    red, green, blue = (colours[..., i].astype(np.uint32) for i in range(3))
    return red | (green << 8) | (blue << 16)


def _dimmed(colour: jax.Array) -> jax.Array:
    """Packed colours in shadow. Red and blue are scaled together: neither can overflow into the other."""
    factor = jnp.uint32(round(256 * SHADOW))
    red_and_blue, green = jnp.uint32(0xFF00FF), jnp.uint32(0x00FF00)
    return (((colour & red_and_blue) * factor >> 8) & red_and_blue) | (((colour & green) * factor >> 8) & green)


def _unpacked(colour: jax.Array) -> jax.Array:
    """`uint8[..., 3]` of packed colours."""
    return jax.lax.bitcast_convert_type(colour, jnp.uint8)[..., :3]
