"""A picture of a plan: the attribute sets on its path, and what each transition changes, with its evidence."""

from pathlib import Path

from PIL import Image

from attribute_planner.drawing.picture import (
    INK,
    LINE,
    NODE,
    PAPER,
    PLANNED,
    REACHED,
    SOFT,
    blank,
    box,
    change_label,
    colour_of,
    finish,
    set_label,
    text_size,
)
from attribute_planner.planning.plan import Plan

POINTS, CHANGE_POINTS, EVIDENCE_POINTS, TITLE_POINTS = 9.0, 8.5, 7.5, 11.0
PADDING, MARGIN, LEAST_GAP, ROW_GAP, TITLE_HEIGHT = 0.12, 0.3, 1.1, 0.85, 0.55
"""Inches: around the text of a set, around the picture, between two sets, between two rows, for the title."""
WIDTH = 12.0
"""Inches after which a plan continues in the next row."""


def draw_plan(path: Path | str | None, plan: Plan) -> Image.Image:
    """An image of a plan; written to a file if a path is given."""
    labels = [set_label(step) for step in plan.steps]
    sizes = [_size(label) for label in labels]
    changes = [change_label(change) for change in plan.changes]
    notes = [str(each) for each in plan.evidence]
    gaps = [
        max(LEAST_GAP, text_size(change, CHANGE_POINTS)[0] + 0.5, text_size([note], EVIDENCE_POINTS)[0] + 0.5)
        for change, note in zip(changes, notes, strict=True)
    ]
    title = _title(plan)
    rows = _rows([width for width, _ in sizes], gaps)
    width = max(max(right for right, _ in rows.values()), text_size([title], TITLE_POINTS)[0]) + 2 * MARGIN
    tall = max(height for _, height in sizes)
    count = 1 + max(row for _, row in rows.values())
    height = count * tall + (count - 1) * ROW_GAP + 2 * MARGIN + TITLE_HEIGHT + 0.3
    figure, axes = blank(width, height)
    axes.text(MARGIN, height - 0.35, title.replace("$", r"\$"), fontsize=TITLE_POINTS, color=INK, va="center")
    places = []
    for number, (label, size) in enumerate(zip(labels, sizes, strict=True)):
        right, row = rows[number]
        places.append((MARGIN + right - size[0] / 2, height - TITLE_HEIGHT - 0.3 - tall / 2 - row * (tall + ROW_GAP)))
        last = plan.reachable and number == len(labels) - 1
        fill = REACHED if last else PLANNED if number == 0 and plan.reachable else NODE
        ink = INK if fill == NODE else PAPER
        box(axes, places[-1], label, size, points=POINTS, fill=fill, ink=ink, edge=LINE if fill == NODE else fill)
    for number, (change, note) in enumerate(zip(changes, notes, strict=True)):
        ends = places[number], places[number + 1]
        colour = colour_of(plan.edges[number])
        _arrow(axes, *ends, sizes[number], sizes[number + 1], colour, tall)
        new_row = ends[1][1] < ends[0][1]
        x = (ends[0][0] + ends[1][0]) / 2
        if not new_row:
            x += (sizes[number][0] - sizes[number + 1][0]) / 4 - 0.04
        y = (ends[0][1] + ends[1][1]) / 2
        axes.text(
            x,
            y + 0.07,
            "\n".join(change).replace("$", r"\$"),
            fontsize=CHANGE_POINTS,
            color=INK,
            ha="center",
            va="bottom",
        )
        axes.text(x, y - 0.09, note, fontsize=EVIDENCE_POINTS, color=colour, ha="center", va="top")
    if not plan.reachable:
        axes.text(places[0][0] + sizes[0][0] / 2 + 0.25, places[0][1], plan.reason, fontsize=9, color=SOFT, va="center")
    return finish(figure, path)


def _size(label: list[str]) -> tuple[float, float]:
    """Width and height of the box of a set."""
    width, height = text_size(label, POINTS)
    return width + 2 * PADDING, height + 2 * PADDING


def _title(plan: Plan) -> str:
    goal = plan.goal.text(plan.space)
    if not plan.reachable:
        return f"No plan for {goal}"
    count = len(plan.edges)
    return f"Plan for {goal}: {count} step{'' if count == 1 else 's'}, probability {plan.probability:.1%}"


def _rows(widths: list[float], gaps: list[float]) -> dict[int, tuple[float, int]]:
    """By set, where its right side is and in which row it stands."""
    places, right, row = {0: (widths[0], 0)}, widths[0], 0
    for number, (width, gap) in enumerate(zip(widths[1:], gaps, strict=True), start=1):
        right += gap + width
        if right > WIDTH:
            right, row = width, row + 1
        places[number] = right, row
    return places


def _arrow(
    axes: object,
    start: tuple[float, float],
    end: tuple[float, float],
    size: tuple[float, ...],
    end_size: tuple[float, ...],
    colour: object,
    tall: float,
) -> None:
    """An arrow to the next set, or around to the next row."""
    from typing import Any, cast

    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Curve

    drawn = cast(Any, axes)
    if end[1] >= start[1]:
        points = [(start[0] + size[0] / 2, start[1]), (end[0] - end_size[0] / 2, end[1])]
    else:
        middle = (start[1] - tall / 2 + end[1] + tall / 2) / 2
        points = [
            (start[0], start[1] - size[1] / 2),
            (start[0], middle),
            (end[0], middle),
            (end[0], end[1] + end_size[1] / 2),
        ]
    path = Curve(points, [Curve.MOVETO, *[Curve.LINETO] * (len(points) - 1)])
    drawn.add_patch(
        FancyArrowPatch(
            path=path, arrowstyle="-|>,head_length=5,head_width=2.6", color=colour, linewidth=1.6, joinstyle="round"
        )
    )
