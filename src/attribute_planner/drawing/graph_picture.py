"""Images of the attribute graph, with a plan in colour. In a large graph, every set is a dot."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from attribute_planner.attributes import value_text
from attribute_planner.drawing.graph_layout import layers_from
from attribute_planner.drawing.picture import finish, require_image_suffix
from attribute_planner.drawing.small_graph import MAX_SETS, small_graph
from attribute_planner.planning.plan import Plan
from attribute_planner.planning.search import Graph
from attribute_planner.transitions.table import TransitionTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_EDGES = 20_000
"""Of a larger graph, a random sample of this size is drawn."""


def draw_graph(path: Path | str | None, table: TransitionTable, plan: Plan | None = None) -> Image.Image:
    """An image of a table, with a plan drawn into it if one is given; written to a file if a path is given.

    A small graph has labels, arrows and probabilities; of a large one, every set is a dot.
    """
    if path is not None:
        require_image_suffix(Path(path))
    draw = small_graph if table.num_nodes <= MAX_SETS else large_graph
    return finish(draw(table, plan, _title(table, plan)), path)


def large_graph(table: TransitionTable, plan: Plan | None, title: str) -> "Figure":
    """The figure of a graph with a dot for every set."""
    from matplotlib.figure import Figure

    route = [] if plan is None or not plan.reachable else list(plan.path)
    places = layout(table, route[-1]) if route else layout_from(table, table.most_visited())
    figure = Figure(figsize=(11, 6.5), layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    _draw_edges(axes, table, places)
    axes.scatter(*places.T, s=14, color="#5b6b8c", zorder=2, linewidths=0)
    if plan is not None and plan.reachable:
        _draw_route(axes, places, route, plan)
    axes.set_title(title, fontsize=11, color="#333333", loc="left")
    return figure


def layout_from(table: TransitionTable, root: int) -> np.ndarray:
    """`float64[N, 2]` coordinates of each set: x is the number of transitions from the root, in either direction."""
    places = np.zeros((table.num_nodes, 2))
    for number, layer in enumerate(layers_from(table, root)):
        places[layer, 0] = number
        places[layer, 1] = (np.arange(len(layer)) - (len(layer) - 1) / 2) / max(len(layer), 8)
    return places


def layout(table: TransitionTable, root: int) -> np.ndarray:
    """`float64[N, 2]` coordinates of each set: x is minus the number of transitions to the root; y spreads a column."""
    hops = _hops_to(table, root)
    places = np.zeros((table.num_nodes, 2))
    for distance in np.unique(hops):
        column = np.flatnonzero(hops == distance)
        # Ordered by the mean height of the successors in the columns before, so that few edges cross.
        height = np.array([_mean_height(table, places, number, hops) for number in column.tolist()])
        order = column[np.lexsort([column, height])]
        places[order, 0] = -distance
        places[order, 1] = (np.arange(len(order)) - (len(order) - 1) / 2) / max(len(order), 8)
    return places


def _hops_to(table: TransitionTable, root: int) -> np.ndarray:
    """`int[N]` number of transitions to the root; for sets without a path, one more than the largest."""
    every_edge = np.ones(table.num_edges)
    certain = replace(table, attempts=every_edge, successes=every_edge, estimator="ratio")
    distances = Graph(certain).to_sets(np.array([root]))
    hops = np.array([len(distances.path(number)) - 1 for number in range(table.num_nodes)])
    away = ~np.isfinite(distances.cost)
    hops[away] = hops.max() + 1
    return hops


def _mean_height(table: TransitionTable, places: np.ndarray, number: int, hops: np.ndarray) -> float:
    nearer = [t for t in table.target[table.edges_of(number)] if hops[t] < hops[number]]
    return float(places[nearer, 1].mean()) if nearer else 0.0


def _draw_edges(axes: Any, table: TransitionTable, places: np.ndarray) -> None:
    from matplotlib.collections import LineCollection

    shown = np.arange(table.num_edges)
    if len(shown) > MAX_EDGES:
        shown = np.random.default_rng(0).choice(shown, MAX_EDGES, replace=False)
    lines = np.stack([places[table.source[shown]], places[table.target[shown]]], axis=1)
    alpha = 0.06 + 0.22 * table.probability[shown]
    axes.add_collection(
        LineCollection(list(lines), colors=[(0.45, 0.5, 0.6, a) for a in alpha], linewidths=0.6, zorder=1)
    )


def _draw_route(axes: Any, places: np.ndarray, route: list[int], plan: Plan) -> None:
    way = places[route]
    axes.plot(*way.T, color="#e4572e", linewidth=2.5, zorder=3)
    axes.scatter(*way.T, s=60, color="#e4572e", edgecolor="white", zorder=4)
    axes.scatter(*way[-1], s=130, color="#2e9e5b", edgecolor="white", zorder=5)
    for number, (change, probability) in enumerate(zip(plan.changes, plan.edges, strict=True)):
        label = ", ".join(f"{name}→{value_text(value)}" for name, value in change.items()) + f"\n{probability:.1%}"
        first, second = way[number], way[number + 1]
        rises = second[1] > first[1]
        axes.annotate(
            label,
            (first + second) / 2,
            (3, -3 if rises else 3),
            textcoords="offset points",
            ha="left",
            va="top" if rises else "bottom",
            fontsize=7,
            color="#7a2a12",
            zorder=2.5,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
        )


def _title(table: TransitionTable, plan: Plan | None) -> str:
    size = f"{table.num_nodes} attribute sets, {table.num_edges} transitions"
    if plan is None:
        return f"{size}; numbers are probabilities in %" if table.num_nodes <= MAX_SETS else size
    if not plan.reachable:
        return f"{size}; no plan for {plan.goal.text(plan.space)}"
    return f"{size}; the plan for {plan.goal.text(plan.space)} succeeds with probability {plan.probability:.1%}"
