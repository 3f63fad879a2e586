"""An image of a game for people: the map with progress bars, and a panel of numbers."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw, ImageFont

from attribute_planner.environments.starcraft.layout import (
    FIELD_HEIGHT,
    FIELD_WIDTH,
    door_offset,
    footprint_corner,
    layout_of,
)
from attribute_planner.environments.starcraft.rules import FRAMES_PER_SECOND, PRODUCTS, TILE, Kind, Phase, Rules
from attribute_planner.environments.starcraft.state import GATHERING, Game, Units, count, supply_given, supply_used

TILE_SIZE = 20
PANEL = 260
MARGIN = 16
ROW, LEGEND_ROW = 28, 24

GROUND, GRID, PANEL_GROUND = "#2b2f2a", "#343932", "#1c1f1b"
INK, FAINT, BAR_GROUND, ORE = "#f2f2ec", "#a7ada3", "#000000", "#57c7ff"
BARS = {"being built": "#ffd24a", "training a unit": "#6fe06a"}
COLORS = {
    Kind.COMMAND_CENTRE: "#7f8c9b",
    Kind.BARRACKS: "#b5574a",
    Kind.DEPOT: "#a98b45",
    Kind.ENGINEERING_BAY: "#7a62a8",
    Kind.TURRET: "#4f8f6b",
    Kind.SCV: "#e8e4d8",
    Kind.MARINE: "#e0594b",
}
LABELS = {
    Kind.COMMAND_CENTRE: "command\ncentre",
    Kind.BARRACKS: "barracks",
    Kind.DEPOT: "depot",
    Kind.ENGINEERING_BAY: "eng. bay",
    Kind.TURRET: "turret",
}
SCV_COLORS = {
    "idle": "#e8e4d8",
    "moving": "#8fd694",
    "gathering": "#57c7ff",
    "constructing": "#ff9f43",
}


def draw_game(rules: Rules, game: Game) -> UInt8[np.ndarray, "H W 3"]:
    """The map on the left, time and numbers on the right."""
    numbers = _numbers(jax.tree.map(jnp.asarray, game), rules.kinds)
    game, numbers = jax.tree.map(np.asarray, (game, numbers))
    side = rules.map_tiles * TILE_SIZE
    image = Image.new("RGB", (side + PANEL, side), GROUND)
    canvas = Canvas(ImageDraw.Draw(image), ImageFont.load_default(13), ImageFont.load_default(18))
    _draw_ground(canvas, rules)
    _draw_structures(canvas, game)
    _draw_buildings(canvas, game.units)
    _draw_scvs(canvas, game.units)
    _draw_panel(canvas, rules, game, numbers, side)
    return np.asarray(image)


class Numbers(NamedTuple):
    """What the panel says, besides the time.

    counts: `[K]` number of each kind, including unfinished ones.
    """

    ore: jax.Array
    supply_used: jax.Array
    supply_given: jax.Array
    counts: jax.Array


@partial(jax.jit, static_argnums=1)
def _numbers(game: Game, kinds: tuple[Kind, ...]) -> Numbers:
    counts = jnp.stack([count(game, kind) for kind in kinds])
    return Numbers(game.ore, supply_used(game), supply_given(game), counts)


@dataclass(frozen=True)
class Canvas:
    """The drawing and its fonts."""

    draw: ImageDraw.ImageDraw
    small: ImageFont.FreeTypeFont | ImageFont.ImageFont
    large: ImageFont.FreeTypeFont | ImageFont.ImageFont

    def building(self, kind: Kind, tile: np.ndarray, *, finished: bool) -> tuple[int, int, int, int]:
        """Draw a labelled rectangle, pale if unfinished; returns its box."""
        left, top = (int(each) * TILE_SIZE for each in footprint_corner(tile, kind))
        box = (
            left + 1,
            top + 1,
            left + PRODUCTS[kind].width * TILE_SIZE - 2,
            top + PRODUCTS[kind].height * TILE_SIZE - 2,
        )
        color = COLORS[kind] if finished else _blend(COLORS[kind], GROUND)
        self.draw.rounded_rectangle(box, 4, fill=color, outline=INK if finished else COLORS[kind], width=1)
        middle = ((box[0] + box[2]) // 2, (box[1] + box[3]) // 2 - (0 if finished else 4))
        self.draw.text(middle, LABELS[kind], INK, self.small, anchor="mm", align="center", spacing=1)
        return box

    def progress(self, box: tuple[int, int, int, int], share: float, what: str) -> None:
        """Draw a progress bar along the lower edge of a box."""
        left, right, bottom = box[0] + 4, box[2] - 4, box[3] - 3
        self.draw.rectangle((left, bottom - 5, right, bottom), fill=BAR_GROUND)
        self.draw.rectangle((left, bottom - 5, left + round((right - left) * share), bottom), fill=BARS[what])


def _draw_ground(canvas: Canvas, rules: Rules) -> None:
    side = rules.map_tiles * TILE_SIZE
    for line in range(0, side + 1, TILE_SIZE):
        canvas.draw.line((line, 0, line, side), fill=GRID)
        canvas.draw.line((0, line, side, line), fill=GRID)
    for x, y in layout_of(rules.map_tiles).fields * TILE_SIZE:
        right, bottom = x + FIELD_WIDTH * TILE_SIZE, y + FIELD_HEIGHT * TILE_SIZE
        for shift in (2, 14, 26):
            crystal = [(x + shift, bottom - 3), (x + shift + 5, y + 3), (x + shift + 10, bottom - 3)]
            canvas.draw.polygon([(int(a), int(b)) for a, b in crystal], fill=ORE, outline="#1f5d80")
        canvas.draw.line((int(x), int(bottom) - 2, int(right), int(bottom) - 2), fill="#1f5d80")


def _draw_structures(canvas: Canvas, game: Game) -> None:
    structures = game.structures
    for kind, tile, timer in zip(structures.kind, structures.tile, structures.timer, strict=True):
        if kind != Kind.NOTHING:
            box = canvas.building(Kind(kind), tile, finished=bool(timer == 0))
            if timer > 0:
                canvas.progress(box, 1 - timer / PRODUCTS[Kind(kind)].frames, "being built")


def _draw_buildings(canvas: Canvas, units: Units) -> None:
    """Draw command centre and barracks, with training progress and marines."""
    position = np.asarray(units.position)
    for unit, kind in enumerate(map(int, units.kind)):
        if kind not in (Kind.COMMAND_CENTRE, Kind.BARRACKS):
            continue
        phase, timer = int(units.phase[unit]), int(units.timer[unit])
        box = canvas.building(Kind(kind), position[unit] // TILE, finished=phase != Phase.UNFINISHED)
        if phase == Phase.UNFINISHED:
            canvas.progress(box, 1 - timer / PRODUCTS[Kind(kind)].frames, "being built")
        if phase == Phase.TRAINING:
            trained = Kind.SCV if kind == Kind.COMMAND_CENTRE else Kind.MARINE
            canvas.progress(box, 1 - timer / PRODUCTS[trained].frames, "training a unit")
        marines = int(units.marines[unit]) - (phase == Phase.TRAINING and kind == Kind.BARRACKS)
        if marines > 0:
            x, y = _pixels(position[unit] + door_offset(Kind.BARRACKS))
            canvas.draw.regular_polygon((x, y, 8), 3, fill=COLORS[Kind.MARINE], outline=INK)
            canvas.draw.text((x + 10, y), f"x {marines}", INK, canvas.small, anchor="lm")


def _draw_scvs(canvas: Canvas, units: Units) -> None:
    for unit, kind in enumerate(map(int, units.kind)):
        phase = int(units.phase[unit])
        if kind != Kind.SCV or phase == Phase.UNFINISHED:
            continue
        x, y = _pixels(np.asarray(units.position[unit]))
        canvas.draw.ellipse((x - 6, y - 6, x + 6, y + 6), fill=SCV_COLORS[_doing(phase)], outline="#000000")
        canvas.draw.text((x, y), str(unit), "#000000", canvas.small, anchor="mm")
        if bool(units.cargo[unit]):
            canvas.draw.polygon(
                [(x + 5, y - 5), (x + 9, y - 11), (x + 13, y - 5), (x + 9, y - 2)], fill=ORE, outline=INK
            )


def _draw_panel(canvas: Canvas, rules: Rules, game: Game, numbers: Numbers, left: int) -> None:
    canvas.draw.rectangle((left, 0, left + PANEL, rules.map_tiles * TILE_SIZE), fill=PANEL_GROUND)
    frame = int(game.frame)
    seconds = int(frame / FRAMES_PER_SECOND)
    lines = [
        (f"step {frame // rules.frames_per_step}", INK),
        (f"{seconds // 60}:{seconds % 60:02d} of game time", FAINT),
        ("", INK),
        (f"ore  {numbers.ore}", ORE),
        (f"supply  {numbers.supply_used} / {numbers.supply_given}", INK),
        ("", INK),
    ]
    for kind, number in zip(rules.kinds, numbers.counts, strict=True):
        unfinished = _unfinished(game, kind)
        more = f"  ({unfinished} in progress)" if unfinished else ""
        lines.append((f"{number}  {kind.name.lower().replace('_', ' ')}{more}", INK))
    y = MARGIN
    for text, color in lines:
        canvas.draw.text((left + MARGIN, y), text, color, canvas.large)
        y += ROW if text else ROW // 2
    _draw_legend(canvas, left + MARGIN, y + ROW // 2)


def _draw_legend(canvas: Canvas, left: int, top: int) -> None:
    entries = [(f"SCV {name}", color) for name, color in SCV_COLORS.items()] + list(BARS.items())
    for row, (text, color) in enumerate(entries):
        y = top + LEGEND_ROW * row
        if text in BARS:
            canvas.draw.rectangle((left, y + 3, left + 12, y + 9), fill=color)
        else:
            canvas.draw.ellipse((left, y, left + 12, y + 12), fill=color, outline="#000000")
        canvas.draw.text((left + 22, y + 6), text, FAINT, canvas.small, anchor="lm")
    y = top + LEGEND_ROW * len(entries)
    canvas.draw.polygon([(left, y + 6), (left + 6, y), (left + 12, y + 6), (left + 6, y + 12)], fill=ORE, outline=INK)
    canvas.draw.text((left + 22, y + 6), "carries ore", FAINT, canvas.small, anchor="lm")
    canvas.draw.regular_polygon((left + 6, y + LEGEND_ROW + 7, 7), 3, fill=COLORS[Kind.MARINE], outline=INK)
    canvas.draw.text((left + 22, y + LEGEND_ROW + 6), "marines", FAINT, canvas.small, anchor="lm")


def _unfinished(game: Game, kind: Kind) -> int:
    """Number of a kind that is being built or trained."""
    units, structures = game.units, game.structures
    if kind == Kind.MARINE:
        return int(((units.kind == Kind.BARRACKS) & (units.phase == Phase.TRAINING)).sum())
    among_units = ((units.kind == kind) & (units.phase == Phase.UNFINISHED)).sum()
    return int(among_units + ((structures.kind == kind) & (structures.timer > 0)).sum())


def _doing(phase: int) -> str:
    if phase in GATHERING:
        return "gathering"
    return {Phase.MOVING: "moving", Phase.CONSTRUCTING: "constructing"}.get(Phase(phase), "idle")


def _pixels(position: np.ndarray) -> tuple[int, int]:
    """Position on the map in pixels of the image."""
    return int(position[0]) * TILE_SIZE // TILE, int(position[1]) * TILE_SIZE // TILE


def _blend(color: str, other: str) -> str:
    """The colour halfway between two."""
    mixed = ((int(color[i : i + 2], 16) + int(other[i : i + 2], 16)) // 2 for i in (1, 3, 5))
    return "#" + "".join(f"{each:02x}" for each in mixed)
