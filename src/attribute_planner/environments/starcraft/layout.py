"""The map: positions of the command centre and the mineral fields, and the paths of the workers between them.

The sizes of things are those of the game. The fields are in a curved column west of the command centre, three or four
tiles away, as in the game: workers travel 78 to 111 pixels, 98 on average. The rest is our choice: a square map with
the command centre in the middle, four SCVs beside it towards the fields, and new units at the lower left corner of the
building that trained them.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from attribute_planner.environments.starcraft.rules import (
    FIELDS,
    MINING_RANGE,
    PRODUCTS,
    SCV_REACH,
    START_SCVS,
    TILE,
    Kind,
)

FIELD_WIDTH, FIELD_HEIGHT = 2, 1
FIELD_ROWS = (-4, -2, -1, 0, 1, 2, 3, 4)
"""Row of each field in tiles, from the top row of the command centre downwards."""
FIELD_GAPS = (3, 3, 4, 4, 3, 4, 4, 3)
"""Number of tiles between each field and the left edge of the command centre."""
CENTRE_HALF_SIZE = (58, 41)
"""Half the size of the command centre in pixels: slightly smaller than its footprint."""


@dataclass(frozen=True)
class Layout:
    """Positions on a map. A place is where a worker mines a field, or delivers the ore of that field.

    centre: `[2]` tile of the command centre.
    fields: `[F, 2]` upper left tile of each mineral field.
    field_boxes: `[F, 4]` left, top, right and bottom of each field in pixels.
    places: `[2F, 2]` in pixels: beside each field, then where its ore is delivered.
    lengths: `[2F, 2F]` distances between places, rounded to pixels.
    nearest_free: `[F, 2^F]` given a field and a bit mask of busy fields: the nearest free one in range, or −1.
    scvs: `[4, 2]` positions of the first SCVs in pixels.
    side: side of the map in pixels.
    """

    centre: np.ndarray
    fields: np.ndarray
    field_boxes: np.ndarray
    places: np.ndarray
    lengths: np.ndarray
    nearest_free: np.ndarray
    scvs: np.ndarray
    side: int


@lru_cache
def layout_of(map_tiles: int) -> Layout:
    """The layout of a map with `map_tiles` tiles per side."""
    centre = np.array([map_tiles // 2, map_tiles // 2 - 1], np.int32)
    left, top = footprint_corner(centre, Kind.COMMAND_CENTRE)
    fields = np.array(
        [(left - gap - FIELD_WIDTH, top + row) for row, gap in zip(FIELD_ROWS, FIELD_GAPS, strict=True)], np.int32
    )
    field_boxes = (
        np.concatenate([fields, fields + np.array([FIELD_WIDTH, FIELD_HEIGHT])], axis=1).astype(np.int32) * TILE
    )
    places = _places(field_boxes, centre_position(centre, Kind.COMMAND_CENTRE))
    lengths = whole_distance(places[:, None] - places[None])
    scvs = np.array([(left * TILE - TILE // 2, (top + row) * TILE + TILE // 2) for row in range(START_SCVS)], np.int32)
    return Layout(centre, fields, field_boxes, places, lengths, _nearest_free(lengths), scvs, map_tiles * TILE)


def footprint_corner(tile: np.ndarray, kind: Kind) -> np.ndarray:
    """`[2]` upper left tile of a building with its centre at `tile`."""
    product = PRODUCTS[kind]
    return np.asarray(tile) - (product.width // 2, product.height // 2)


def centre_position(tile: np.ndarray, kind: Kind) -> np.ndarray:
    """`[2]` centre, in pixels, of a building placed at `tile`."""
    product = PRODUCTS[kind]
    return (footprint_corner(tile, kind) * TILE + np.array([product.width, product.height]) * TILE // 2).astype(
        np.int32
    )


def door_offset(kind: Kind) -> np.ndarray:
    """`[2]` offset from the centre of a building's tile to where its trained units appear: the lower left corner."""
    product = PRODUCTS[kind]
    return np.array([-(product.width // 2) - 1, product.height - product.height // 2], np.int32) * TILE


def whole_distance(offset: np.ndarray) -> np.ndarray:
    """`[...]` lengths of offsets `[..., 2]`, rounded to pixels."""
    return np.floor(np.sqrt((np.asarray(offset, np.int64) ** 2).sum(axis=-1)) + 0.5).astype(np.int32)


def _places(field_boxes: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """`[2F, 2]` for each field, the nearest points at which an SCV touches the field and the command centre."""
    low, high = centre - CENTRE_HALF_SIZE - SCV_REACH, centre + CENTRE_HALF_SIZE + SCV_REACH
    field_low, field_high = field_boxes[:, :2] - SCV_REACH, field_boxes[:, 2:] + SCV_REACH
    beside_field = np.clip(centre, field_low, field_high)
    at_centre = np.clip(beside_field, low, high)
    beside_field = np.clip(at_centre, field_low, field_high)
    return np.concatenate([beside_field, at_centre]).astype(np.int32)


def _nearest_free(lengths: np.ndarray) -> np.ndarray:
    table = np.full((FIELDS, 2**FIELDS), -1, np.int32)
    for field in range(FIELDS):
        by_distance = sorted(range(FIELDS), key=lambda other: (lengths[field, other], other))
        in_range = [other for other in by_distance if other != field and lengths[field, other] <= MINING_RANGE]
        for busy in range(2**FIELDS):
            table[field, busy] = next((other for other in in_range if not busy >> other & 1), -1)
    return table
