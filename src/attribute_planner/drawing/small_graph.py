"""A picture of a small attribute graph: every set with its label, every transition with an arrow and its c_π."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from attribute_planner.drawing.graph_layout import columns_of, heights, layers_from, neighbours_of
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
    set_label,
    text_size,
)
from attribute_planner.planning.plan import Plan
from attribute_planner.transitions.table import TransitionTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_SETS = 60
"""Graphs up to this size are drawn with labels."""

POINTS, PLANNED_POINTS, EDGE_POINTS, TITLE_POINTS = 8.0, 7.5, 6.5, 10.5
PADDING, ROW_GAP, MARGIN, TITLE_HEIGHT = 0.09, 0.3, 0.3, 0.45
"""Inches: around the text of a set, between two sets of a column, around the picture, for the title."""
FLATTEST, MOST_ROW_GAP = 3.0, 0.9
"""Width over height of a picture; the gap between two sets of a column does not grow further than this for it."""
LEAST_COLUMN_GAP, COLUMN_GAP_PER_EDGE, MOST_COLUMN_GAP = 1.0, 0.035, 3.2
"""Inches between two columns: more where more edges run."""
ARROW_ROOM = 0.5
"""Inches of a planned transition that its label leaves free, both sides together."""
PORT_GAP = 0.16
"""Inches between two edges where they leave or reach a set, at most."""
LABELS_AT = (0.3, 0.4, 0.22, 0.5, 0.6, 0.7, 0.78)
"""Where on an edge its probability may stand, from its source; the first is best."""
LABEL_SIZE = np.array([0.2, 0.12])
"""Width and height of a probability, in inches."""


def small_graph(table: TransitionTable, plan: Plan | None, title: str) -> "Figure":
    """The figure; a plan is drawn in colour, and the other transitions fade."""
    path = list(plan.path) if plan is not None and plan.reachable else []
    root = path[0] if path else table.most_visited()
    layers, neighbours = layers_from(table, root), neighbours_of(table)
    labels = [set_label(table.space.decode(values)) for values in table.values]
    sizes = np.array([text_size(label, POINTS) for label in labels]) + 2 * PADDING
    column = columns_of(layers)
    planned = planned_labels(plan) if plan is not None and path else {}
    x = column_centres(table, layers, column, sizes[:, 0], planned)
    width = float((x + sizes[:, 0] / 2).max()) + MARGIN + _bend(table, column == column.max(), column)
    y = heights(layers, neighbours, sizes[:, 1], row_gap(layers, sizes[:, 1], width))
    y = y.max() - y
    width = max(width, text_size([title], TITLE_POINTS)[0] + 2 * MARGIN)
    bottom = float((y - sizes[:, 1] / 2).min()) - MARGIN - 0.15
    height = float((y + sizes[:, 1] / 2).max()) - bottom + MARGIN + TITLE_HEIGHT
    figure, axes = blank(width, height)
    places = np.stack([x, y - bottom], axis=1)
    curves = curves_of(table, places, sizes, column)
    for edge, points in curves.items():
        _draw_edge(axes, table, edge, points, planned, fades=bool(path))
    _label_edges(axes, table, {} if path else curves)
    for node, (place, label, size) in enumerate(zip(places, labels, sizes, strict=True)):
        box(axes, (place[0], place[1]), label, (size[0], size[1]), points=POINTS, **_style(node, path))
    axes.text(MARGIN, height - 0.3, title.replace("$", r"\$"), fontsize=TITLE_POINTS, color=INK, va="center")
    return figure


def planned_labels(plan: Plan) -> dict[tuple[int, int], list[str]]:
    """By its two sets, the label of each transition of a plan: what it changes, and its probability in the plan."""
    steps = zip(pairwise(plan.path), plan.changes, plan.edges, strict=True)
    return {ends: [*change_label(change), f"{probability:.1%}"] for ends, change, probability in steps}


def row_gap(layers: list[list[int]], tall: np.ndarray, width: float) -> float:
    """The gap between two sets of a column: wider in a picture that would otherwise be too flat."""
    rows = max(map(len, layers))
    height = max(tall[layer].sum() + ROW_GAP * (len(layer) - 1) for layer in layers)
    missing = width / FLATTEST - height - 2 * MARGIN - TITLE_HEIGHT
    return ROW_GAP + min(max(missing / max(rows - 1, 1), 0.0), MOST_ROW_GAP - ROW_GAP)


def column_centres(
    table: TransitionTable,
    layers: list[list[int]],
    column: np.ndarray,
    widths: np.ndarray,
    planned: dict[tuple[int, int], list[str]],
) -> np.ndarray:
    """`float64[N]` the horizontal centre of each set. Labels of planned transitions fit between two columns."""
    needed = np.zeros(len(layers))
    for ends, label in planned.items():
        between = int(column[list(ends)].min())
        needed[between] = max(needed[between], text_size(label, PLANNED_POINTS)[0] + ARROW_ROOM)
    left, centre = MARGIN + 0.1, np.zeros(len(column))
    for number, layer in enumerate(layers):
        wide = widths[layer].max()
        centre[layer] = left + wide / 2
        crossing = (np.minimum(column[table.source], column[table.target]) == number).sum()
        left += (
            wide
            + _bend(table, column == number, column)
            + max(min(max(LEAST_COLUMN_GAP, crossing * COLUMN_GAP_PER_EDGE), MOST_COLUMN_GAP), needed[number])
        )
    return centre


def _bend(table: TransitionTable, inside: np.ndarray, column: np.ndarray) -> float:
    """Inches to the right of the sets `inside` that edges between them need."""
    return 0.6 * bool((inside[table.source] & (column[table.source] == column[table.target])).any())


def _style(node: int, path: list[int]) -> dict[str, Any]:
    if not path or node not in path:
        return {"fill": PAPER if path else NODE, "edge": LINE, "ink": SOFT if path else INK}
    colour = REACHED if node == path[-1] else PLANNED
    return {"fill": colour, "edge": colour, "ink": PAPER}


def _draw_edge(
    axes: Any,
    table: TransitionTable,
    edge: int,
    points: np.ndarray,
    labels: dict[tuple[int, int], list[str]],
    *,
    fades: bool,
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    ends, probability = (int(table.source[edge]), int(table.target[edge])), float(table.probability[edge])
    planned = ends in labels
    axes.add_patch(
        FancyArrowPatch(
            path=Path(points.tolist(), [Path.MOVETO, *[Path.CURVE4] * 3]),
            arrowstyle="-|>,head_length=4.5,head_width=2.2",
            color=PLANNED if planned else LINE if fades else colour_of(probability),
            linewidth=2.4 if planned else 1.0,
            alpha=1.0 if planned or not fades else 0.6,
            zorder=2.5 if planned else 2,
        )
    )
    if planned:
        _label(axes, on_curve(points, 0.5), "\n".join(labels[ends]), PLANNED, PLANNED_POINTS)


def _label_edges(axes: Any, table: TransitionTable, curves: dict[int, np.ndarray]) -> None:
    """The probability of each edge, where it is farthest from the labels that are there already."""
    placed = np.zeros((0, 2))
    for edge, points in curves.items():
        possible = np.stack([on_curve(points, at) for at in LABELS_AT])
        distance = np.abs((possible[:, None] - placed) / LABEL_SIZE).max(axis=-1).min(axis=-1, initial=1.0)
        chosen = possible[int(distance.argmax())]
        placed = np.concatenate([placed, chosen[None]])
        probability = float(table.probability[edge])
        _label(axes, chosen, f"{100 * probability:.0f}", colour_of(probability), EDGE_POINTS)


def _label(axes: Any, place: np.ndarray, words: str, colour: Any, points: float) -> None:
    axes.text(
        *place,
        words.replace("$", r"\$"),
        fontsize=points,
        color=colour,
        ha="center",
        va="center",
        zorder=2.8,
        bbox={"facecolor": PAPER, "edgecolor": "none", "alpha": 0.85, "pad": 0.6},
    )


def curves_of(
    table: TransitionTable, places: np.ndarray, sizes: np.ndarray, column: np.ndarray
) -> dict[int, np.ndarray]:
    """`float64[4, 2]` the control points of each edge."""
    pairs = {
        edge: (source, target)
        for edge, (source, target) in enumerate(zip(table.source.tolist(), table.target.tolist(), strict=True))
        if source != target
    }
    # By set and side, the ends of edges that are there: (height of the other end, to the right first, edge, which end).
    ports: dict[tuple[int, int], list[tuple[float, bool, int, int]]] = {}
    for edge, ends in pairs.items():
        to_the_right = int(np.sign(column[ends[1]] - column[ends[0]]))
        for end, node in enumerate(ends):
            side = to_the_right * (1 - 2 * end) or 1
            ports.setdefault((node, side), []).append((-places[ends[1 - end], 1], to_the_right <= 0, edge, end))
    attached = np.zeros((table.num_edges, 2, 2))
    for (node, side), ends in ports.items():
        gap = min(PORT_GAP, 0.8 * sizes[node, 1] / len(ends))
        for number, (_, _, edge, end) in enumerate(sorted(ends)):
            lift = ((len(ends) - 1) / 2 - number) * gap
            attached[edge, end] = places[node] + np.array([side * sizes[node, 0] / 2, lift])
    return {edge: curve(*attached[edge], within=bool(column[a] == column[b])) for edge, (a, b) in pairs.items()}


def curve(first: np.ndarray, last: np.ndarray, *, within: bool) -> np.ndarray:
    """`float64[4, 2]` the control points of an edge between two points; `within` a column it bends to the right."""
    if not within:
        bend = np.array([0.5 * (last[0] - first[0]), 0.0])
        return np.stack([first, first + bend, last - bend, last])
    # An edge up bends farther out than the one down between the same sets.
    out = max(first[0], last[0]) + 0.25 + 0.4 * min(abs(last[1] - first[1]), 3.0) + 0.15 * (last[1] > first[1])
    return np.stack([first, [out, first[1]], [out, last[1]], last])


def on_curve(points: np.ndarray, at: float) -> np.ndarray:
    """The point of a cubic Bézier curve at the parameter `at`."""
    a, b = 1 - at, at
    return np.array([a**3, 3 * a * a * b, 3 * a * b * b, b**3]) @ points
