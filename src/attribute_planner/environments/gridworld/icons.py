"""Icons of the things in the crafting environment."""

from collections.abc import Callable

from attribute_planner.environments.gridworld.pen import Pen

BARK, WOOD, RING = "#8a5a33", "#b97a45", "#e8c391"
METAL, METAL_LIGHT, METAL_DARK = "#9aa5b4", "#cbd3dd", "#5d6878"
ROCK, ROCK_LIGHT, ROCK_DARK = "#a39b8f", "#c4bdb2", "#7d766b"
BRICK, BRICK_DARK, SOOT = "#b5563f", "#8f4130", "#3a2a26"
FLAME, EMBER = "#ffc53d", "#f76b15"


def wood(pen: Pen) -> None:
    """Three logs in a pile, seen from the end."""
    for x, y in ((0.30, 0.66), (0.70, 0.66), (0.50, 0.33)):
        pen.disc((x, y), 0.20, BARK)
        pen.disc((x, y), 0.155, RING)
        pen.disc((x, y), 0.10, WOOD)
        pen.disc((x, y), 0.055, RING)


def iron(pen: Pen) -> None:
    """A bar of metal."""
    pen.polygon([(0.26, 0.34), (0.74, 0.34), (0.90, 0.72), (0.10, 0.72)], METAL)
    pen.polygon([(0.26, 0.34), (0.74, 0.34), (0.70, 0.46), (0.30, 0.46)], METAL_LIGHT)
    pen.polygon([(0.74, 0.34), (0.90, 0.72), (0.78, 0.72), (0.70, 0.46)], METAL_DARK)


def stone(pen: Pen) -> None:
    """A boulder."""
    pen.polygon(
        [(0.12, 0.62), (0.24, 0.34), (0.50, 0.20), (0.76, 0.32), (0.90, 0.60), (0.76, 0.80), (0.24, 0.80)], ROCK
    )
    pen.polygon([(0.24, 0.34), (0.50, 0.20), (0.56, 0.40), (0.36, 0.52)], ROCK_LIGHT)
    pen.polygon([(0.56, 0.40), (0.90, 0.60), (0.76, 0.80), (0.58, 0.66)], ROCK_DARK)


def axe(pen: Pen) -> None:
    """A blade on a handle."""
    pen.line((0.32, 0.86), (0.62, 0.18), 0.10, WOOD)
    pen.polygon([(0.50, 0.16), (0.66, 0.22), (0.92, 0.30), (0.84, 0.60), (0.66, 0.46), (0.42, 0.40)], METAL)
    pen.polygon([(0.92, 0.30), (0.84, 0.60), (0.76, 0.53), (0.82, 0.27)], METAL_LIGHT)


def hammer(pen: Pen) -> None:
    """A heavy head on a handle."""
    pen.line((0.50, 0.88), (0.50, 0.40), 0.11, WOOD)
    pen.box(0.18, 0.14, 0.82, 0.44, METAL_DARK, 0.06)
    pen.box(0.18, 0.14, 0.36, 0.44, METAL, 0.06)


def sword(pen: Pen) -> None:
    """A blade that points to the upper right."""
    pen.polygon([(0.84, 0.10), (0.86, 0.28), (0.44, 0.66), (0.34, 0.56), (0.68, 0.12)], METAL_LIGHT)
    pen.polygon([(0.84, 0.10), (0.86, 0.28), (0.44, 0.66), (0.39, 0.61)], METAL)
    pen.line((0.24, 0.50), (0.50, 0.76), 0.09, BRICK)
    pen.line((0.34, 0.66), (0.18, 0.82), 0.10, BARK)
    pen.disc((0.16, 0.84), 0.07, FLAME)


def anvil(pen: Pen) -> None:
    """The table for the axe."""
    pen.polygon([(0.08, 0.28), (0.90, 0.28), (0.90, 0.46), (0.62, 0.54), (0.40, 0.54), (0.30, 0.48)], METAL_DARK)
    pen.box(0.40, 0.50, 0.64, 0.70, METAL_DARK)
    pen.box(0.26, 0.66, 0.78, 0.82, METAL_DARK, 0.03)
    pen.polygon([(0.08, 0.28), (0.90, 0.28), (0.90, 0.34), (0.14, 0.34)], METAL)


def workbench(pen: Pen) -> None:
    """The table for the hammer."""
    for left in (0.18, 0.72):
        pen.box(left, 0.46, left + 0.12, 0.84, BARK, 0.02)
    pen.box(0.24, 0.62, 0.80, 0.69, BARK)
    pen.box(0.08, 0.34, 0.94, 0.50, WOOD, 0.03)
    pen.box(0.08, 0.34, 0.94, 0.40, RING, 0.03)
    pen.box(0.56, 0.18, 0.84, 0.34, METAL_DARK, 0.03)


def furnace(pen: Pen) -> None:
    """The table for the sword, with a fire in it."""
    pen.box(0.14, 0.16, 0.86, 0.84, BRICK, 0.05)
    for row in range(4):
        pen.box(0.14, 0.29 + 0.14 * row, 0.86, 0.315 + 0.14 * row, BRICK_DARK)
    pen.box(0.28, 0.42, 0.72, 0.84, SOOT, 0.16)
    pen.box(0.28, 0.66, 0.72, 0.84, SOOT)
    pen.polygon(
        [(0.34, 0.82), (0.40, 0.60), (0.46, 0.70), (0.52, 0.50), (0.58, 0.68), (0.62, 0.62), (0.66, 0.82)], EMBER
    )
    pen.polygon([(0.41, 0.82), (0.46, 0.73), (0.51, 0.64), (0.55, 0.75), (0.59, 0.82)], FLAME)


ICONS: dict[str, Callable[[Pen], None]] = {
    icon.__name__: icon for icon in (wood, iron, stone, axe, hammer, sword, anvil, workbench, furnace)
}
