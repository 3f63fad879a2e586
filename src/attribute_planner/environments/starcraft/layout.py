"""The ground of a game: where the command centre and the mineral fields lie, and the ways of the workers between them.

The game's own sizes of things make the ways what they are. The fields stand in a bent column west of the command
centre, a gap of three or four tiles away, as they do in the game: workers travel 78 to 111 pixels, 98 on average. The
rest is our choice: a square map with the command centre in the middle, four SCVs beside it on the side of the fields,
and new units that appear at the lower left corner of the building that trained them.
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
"""Each field's row of tiles, counted down from the command centre's uppermost one."""
FIELD_GAPS = (3, 3, 4, 4, 3, 4, 4, 3)
"""How many tiles lie between each field and the command centre's left edge."""
CENTRE_BODY = (58, 41)
"""How far the command centre's body reaches from its centre, in pixels: a little less than its footprint."""


@dataclass(frozen=True)
class Layout:
    """The ground of a map. A place is where a worker stands to mine a field, or to deliver that field's ore.

    centre: `[2]` the command centre's tile, from which its footprint is measured.
    fields: `[F, 2]` the upper left tile of each mineral field.
    field_boxes: `[F, 4]` left, top, right and bottom of each field in pixels.
    places: `[2F, 2]` in pixels: beside each field, then where its ore is delivered.
    lengths: `[2F, 2F]` whole pixels between places.
    nearest_free: `[F, 2^F]` for a field and the busy ones, as bits: the nearest free one in range, or −1.
    scvs: `[4, 2]` where the first SCVs stand, in pixels.
    side: the map's side in pixels.
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
    """The ground of a map with so many tiles a side."""
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
    """`[2]` the upper left tile of a building that is placed at a tile: the tile is in the building's middle."""
    product = PRODUCTS[kind]
    return np.asarray(tile) - (product.width // 2, product.height // 2)


def centre_position(tile: np.ndarray, kind: Kind) -> np.ndarray:
    """`[2]` the middle, in pixels, of a building that is placed at a tile."""
    product = PRODUCTS[kind]
    return (footprint_corner(tile, kind) * TILE + np.array([product.width, product.height]) * TILE // 2).astype(
        np.int32
    )


def door_offset(kind: Kind) -> np.ndarray:
    """`[2]` from the middle of a building's tile to where the units appear that it trains: its lower left corner."""
    product = PRODUCTS[kind]
    return np.array([-(product.width // 2) - 1, product.height - product.height // 2], np.int32) * TILE


def whole_distance(offset: np.ndarray) -> np.ndarray:
    """`[...]` lengths of offsets `[..., 2]`, to the nearest whole pixel."""
    return np.floor(np.sqrt((np.asarray(offset, np.int64) ** 2).sum(axis=-1)) + 0.5).astype(np.int32)


def _places(field_boxes: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """The nearest two points at which an SCV touches a field and the command centre, for each field."""
    low, high = centre - CENTRE_BODY - SCV_REACH, centre + CENTRE_BODY + SCV_REACH
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
