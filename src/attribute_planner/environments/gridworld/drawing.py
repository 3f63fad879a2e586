"""Images of grid-world states for people: a board of tiles with the agent, and below it a shelf with the attributes.

Images are drawn at a multiple of their size and then reduced, which smooths the edges.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from attribute_planner.environments.gridworld.icons import ICONS
from attribute_planner.environments.gridworld.maps import NOWHERE, GridMap
from attribute_planner.environments.gridworld.pen import Pen
from attribute_planner.environments.spaces import Array

BOARD_SIDE = 344
SHELF_HEIGHT = 56
MARGIN = 12
OVERSAMPLING = 3

PAPER, FRAME = "#f4f1ea", "#d8d2c4"
FLOOR, FLOOR_ALTERNATE = "#ffffff", "#faf8f4"
BLOCK, BLOCK_TOP = "#59616e", "#717a88"
TABLE, TABLE_EDGE = "#f1e6d2", "#cdb68f"
PLATE, PLATE_EDGE = "#e9ecf1", "#b4bcc9"
SLOT, SLOT_EDGE, SLOT_VEIL = "#ffffff", "#d8d2c4", (255, 255, 255, 205)
AGENT, AGENT_FACE, AGENT_EYE, AGENT_EDGE = "#5b3fd6", "#f2efff", "#2b1d6b", "#ffffff"
KNOBS = {"red": "#e5484d", "green": "#2f9e63", "blue": "#3b76f0", "yellow": "#f0ae0a"}
KNOB_SHINE = (255, 255, 255, 70)


class Board:
    """An image of one state while it is drawn.

    `at` and `on_shelf` return a pen for a cell of the map or a place on the shelf; `image` adds the agent.
    """

    def __init__(self, grid: GridMap, agent: Array, *, shelf: int) -> None:
        """A board with the blocks only, and a shelf with `shelf` places."""
        self._agent, self._is_agent_on_thing = tuple(map(int, agent)), False
        self._height, self._width = map(int, grid.size)
        self._shelf = shelf
        self._image = draw_floor(self._height, self._width).copy()
        for row, column in np.asarray(grid.blocks).tolist():
            if row != NOWHERE:
                draw_block(self._pen(row, column))

    def at(self, position: Array) -> Pen:
        """A pen for the cell `[2]` of a thing."""
        row, column = map(int, position)
        self._is_agent_on_thing |= (row, column) == self._agent
        return self._pen(row, column)

    def on_shelf(self, place: int) -> Pen:
        """A pen for one of the places on the shelf."""
        side = (SHELF_HEIGHT - MARGIN) * OVERSAMPLING
        gap = side * 0.16
        left = (self._image.width - self._shelf * side - (self._shelf - 1) * gap) / 2
        return Pen(self._image, left + place * (side + gap), BOARD_SIDE * OVERSAMPLING - gap / 2, side)

    def image(self) -> UInt8[np.ndarray, "H W 3"]:
        """The finished image."""
        draw_agent(self._pen(*self._agent), is_on_thing=self._is_agent_on_thing)
        return np.asarray(self._image.reduce(OVERSAMPLING))

    def _pen(self, row: int, column: int) -> Pen:
        return cell_pen(self._image, (self._height, self._width), row, column)


@lru_cache(maxsize=8)
def draw_floor(height: int, width: int) -> Image.Image:
    """The image of a board with neither blocks nor things; callers copy it."""
    image = Image.new("RGB", (BOARD_SIDE * OVERSAMPLING, (BOARD_SIDE + SHELF_HEIGHT) * OVERSAMPLING), PAPER)
    cell_pen(image, (height, width), 0, 0).box(-0.1, -0.1, width + 0.1, height + 0.1, FRAME, 0.16)
    for row, column in np.ndindex(height, width):
        color = FLOOR if (row + column) % 2 else FLOOR_ALTERNATE
        cell_pen(image, (height, width), row, column).box(0.02, 0.02, 0.98, 0.98, color, 0.08)
    return image


def cell_pen(image: Image.Image, size: tuple[int, int], row: int, column: int) -> Pen:
    """A pen for a cell of a board with `size` rows and columns."""
    height, width = size
    cell = (BOARD_SIDE - 2 * MARGIN) * OVERSAMPLING / max(size)
    left = (image.width - width * cell) / 2
    top = (BOARD_SIDE * OVERSAMPLING - height * cell) / 2
    return Pen(image, left + column * cell, top + row * cell, cell)


def draw_block(pen: Pen) -> None:
    """A blocked cell."""
    pen.box(0.02, 0.02, 0.98, 0.98, BLOCK, 0.1)
    pen.box(0.02, 0.02, 0.98, 0.86, BLOCK_TOP, 0.1)


def draw_agent(pen: Pen, *, is_on_thing: bool) -> None:
    """A face; small and in the corner if it would hide a thing."""
    pen = pen.part(0.46, 0.46, 0.54) if is_on_thing else pen
    pen.disc((0.5, 0.5), 0.44, AGENT_EDGE)
    pen.disc((0.5, 0.5), 0.39, AGENT)
    pen.box(0.23, 0.33, 0.77, 0.62, AGENT_FACE, 0.14)
    for x in (0.38, 0.62):
        pen.oval((x, 0.475), 0.055, 0.085, AGENT_EYE)


def draw_knob(pen: Pen, number: int, color: str) -> None:
    """A switch: a knob with its colour and number, on a plate."""
    pen.box(0.07, 0.07, 0.93, 0.93, PLATE_EDGE, 0.2)
    pen.box(0.11, 0.11, 0.89, 0.89, PLATE, 0.17)
    pen.disc((0.5, 0.5), 0.33, KNOBS[color])
    pen.oval((0.5, 0.34), 0.2, 0.11, KNOB_SHINE)
    pen.text((0.5, 0.5), 0.4, str(number), "white")


def draw_resource(pen: Pen, name: str) -> None:
    """A resource."""
    ICONS[name](pen.part(0.1, 0.1, 0.8))


def draw_table(pen: Pen, name: str) -> None:
    """A table: its tool on a wooden tile."""
    pen.box(0.05, 0.05, 0.95, 0.95, TABLE_EDGE, 0.14)
    pen.box(0.09, 0.09, 0.91, 0.91, TABLE, 0.11)
    ICONS[name](pen.part(0.14, 0.12, 0.72))


def draw_slot(pen: Pen, name: str, *, is_owned: bool) -> None:
    """A slot of the inventory: the item, pale if it is missing."""
    pen.box(0.02, 0.02, 0.98, 0.98, AGENT if is_owned else SLOT_EDGE, 0.18)
    pen.box(0.07, 0.07, 0.93, 0.93, SLOT, 0.14)
    ICONS[name](pen.part(0.15, 0.15, 0.7))
    if not is_owned:
        pen.box(0.07, 0.07, 0.93, 0.93, SLOT_VEIL, 0.14)
