"""Draws into one square of an image, in coordinates relative to the square."""

from collections.abc import Sequence
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

Point = tuple[float, float]
Color = str | tuple[int, int, int, int]


class Pen:
    """Draws into a square from (0, 0), its upper left corner, to (1, 1); lengths are fractions of its side."""

    def __init__(self, image: Image.Image, left: float, top: float, side: float) -> None:
        self._image, self._left, self._top, self._side = image, left, top, side
        self._draw = ImageDraw.Draw(image, "RGBA")

    def part(self, left: float, top: float, side: float) -> "Pen":
        """A pen for a smaller square within this one."""
        return Pen(self._image, *self._place((left, top)), side * self._side)

    def box(self, left: float, top: float, right: float, bottom: float, fill: Color, rounding: float = 0) -> None:
        """A filled rectangle with rounded corners."""
        corners = [self._place((left, top)), self._place((right, bottom))]
        self._draw.rounded_rectangle(corners, rounding * self._side, fill)

    def disc(self, center: Point, radius: float, fill: Color) -> None:
        self.oval(center, radius, radius, fill)

    def oval(self, center: Point, half_width: float, half_height: float, fill: Color) -> None:
        x, y = center
        corners = [self._place((x - half_width, y - half_height)), self._place((x + half_width, y + half_height))]
        self._draw.ellipse(corners, fill)

    def polygon(self, points: Sequence[Point], fill: Color) -> None:
        self._draw.polygon([self._place(point) for point in points], fill)

    def line(self, start: Point, end: Point, thickness: float, fill: Color) -> None:
        """A straight line with round ends."""
        self._draw.line([self._place(start), self._place(end)], fill, round(thickness * self._side))
        for point in (start, end):
            self.disc(point, thickness / 2, fill)

    def text(self, center: Point, height: float, text: str, fill: Color) -> None:
        font = _font(height * self._side)
        bold = round(0.025 * height * self._side)
        self._draw.text(self._place(center), text, fill, font, anchor="mm", stroke_width=bold, stroke_fill=fill)

    def _place(self, point: Point) -> Point:
        return self._left + point[0] * self._side, self._top + point[1] * self._side


@lru_cache(maxsize=8)
def _font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
