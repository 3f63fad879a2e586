"""The plots of the report: a plot is data, and `draw_plot` draws it."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attribute_planner.experiments.aggregates import aggregate_of
from attribute_planner.experiments.records import Record
from attribute_planner.experiments.run_specs.blocks import SIZES, SMALL_SIZES
from attribute_planner.experiments.tables import sample_size
from attribute_planner.experiments.tables.layout import PERCENT


@dataclass(frozen=True)
class Line:
    """A line of a plot.

    label: its name in the legend; lines of the same label have the same colour.
    panel: the panel that it belongs to.
    points: `(x, y)`; spread: `(low, high)` for each point, or empty.
    published: whether its numbers are the paper's.
    """

    label: str
    panel: str
    points: tuple[tuple[float, float], ...]
    spread: tuple[tuple[float, float], ...] = ()
    published: bool = False


@dataclass(frozen=True)
class Plot:
    """A plot with its panels side by side.

    logarithmic_x: whether the x axis is logarithmic. The y axis is if lines differ by orders of magnitude.
    """

    name: str
    x: str
    y: str
    lines: tuple[Line, ...]
    logarithmic_x: bool = False

    @property
    def digest(self) -> str:
        """A hash of the plot's data."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:16]


def sample_size_plot(records: Sequence[Record]) -> Plot:
    """Success on multi-step tasks over the number of examples."""
    columns = [column.label for column in sample_size.TABLE.columns]
    sizes = SMALL_SIZES if any(record.scale == "small" for record in records) else SIZES
    lines: list[Line] = []
    for label in ("Inverse, multi-step", "AP as published, multi-step", "AP, all our changes, multi-step"):
        entries = [row.entries[columns.index(label)] for row in sample_size.TABLE.rows]
        theirs, own = (list(zip(each.values(), entries, strict=True)) for each in (SIZES, sizes))
        published = tuple((float(size), entry.published) for size, entry in theirs if entry.published is not None)
        numbers = [(size, aggregate_of(entry.ours, records, PERCENT)) for size, entry in own if entry.ours is not None]
        ours = [(float(size), number) for size, number in numbers if number is not None]
        model = label.removesuffix(", multi-step")
        if published:
            lines.append(Line(f"paper: {model.removesuffix(' as published')}", "blocks", published, published=True))
        if ours:
            points = tuple((size, round(number.mean, 2)) for size, number in ours)
            spread = tuple(
                (round(number.interval.low, 2), round(number.interval.high, 2)) if number.interval else (mean, mean)
                for (_, number), (_, mean) in zip(ours, points, strict=True)
            )
            lines.append(Line(f"ours: {model}", "blocks", points, spread))
    measured = any(not line.published for line in lines)
    return Plot("sample-size", "examples", "success, %", tuple(lines) if measured else (), logarithmic_x=True)


Labels = dict[str, dict[str, str]]
"""Labels of lines, by environment, then by variant."""


def _in_grid_worlds(labels: dict[str, str]) -> Labels:
    return {"switches": labels, "crafting": labels}


COUNT_BONUS, GRAPH, RANDOM = "bonus N^-0.5", "graph exploration", "random"
EXPLORERS: Labels = {
    **_in_grid_worlds(
        {
            "default": "bonus (N/t + 0.001)^-0.5",
            "count-bonus": COUNT_BONUS,
            "graph-explorer": GRAPH,
            "random-explorer": RANDOM,
        }
    ),
    "starcraft-small": {"paper": COUNT_BONUS, "graph-explorer": GRAPH, "random-explorer": RANDOM},
    "starcraft-large": {"paper": COUNT_BONUS},
}
PLANNERS = _in_grid_worlds({"default": "AP, all our changes", "paper": "AP as published"})
TASK_LEARNERS = _in_grid_worlds({"ppo-multi-step": "PPO, test tasks", "ppo-curriculum": "PPO, curriculum"})


def edges_plot(records: Sequence[Record]) -> Plot:
    """Transitions found over steps of exploration, a line for each seed."""
    return Plot("edges", "steps", "transitions found", _curves(records, "edges", EXPLORERS))


def success_plot(records: Sequence[Record]) -> Plot:
    """Success rate while learning, a line for each seed: of the planner's attempts, or of a baseline's episodes."""
    lines = _curves(records, "attempts that succeed", PLANNERS) + _curves(
        records, "episodes that succeed", TASK_LEARNERS
    )
    return Plot("success", "steps", "success rate", lines)


def _curves(records: Sequence[Record], curve: str, labels: Labels) -> tuple[Line, ...]:
    return tuple(
        Line(label, environment, tuple((x, y) for x, y in record.curves[curve]))
        for environment, variants in labels.items()
        for variant, label in variants.items()
        for record in records
        if record.run_spec == f"{environment}-{variant}" and curve in record.curves
    )


PLOTS: tuple[Callable[[Sequence[Record]], Plot], ...] = (sample_size_plot, edges_plot, success_plot)

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
PANEL_INCHES = (4.2, 3.0)
LABEL_INCHES, LABELS_PER_PANEL = 0.2, 2
"""Height of a line of the legend, which stands below the panels, and its columns per panel."""
ORDERS_OF_MAGNITUDE = 100
"""Ratio of the highest to the lowest line from which the y axis is logarithmic."""


def draw_plot(path: Path, plot: Plot) -> None:
    """Draw a plot as SVG. The file contains the digest of the plot and no time or version."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(line.panel for line in plot.lines))
    settings: dict[Any, Any] = {"svg.hashsalt": "attribute_planner", "svg.fonttype": "none", "font.size": 9}
    with rc_context(settings):
        labels = list(dict.fromkeys(line.label for line in plot.lines))
        columns = LABELS_PER_PANEL * len(panels)
        size = (PANEL_INCHES[0] * len(panels), PANEL_INCHES[1] + LABEL_INCHES * -(-len(labels) // columns))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for axis, panel in zip(axes, panels, strict=True):
            _draw_panel(axis, plot, [line for line in plot.lines if line.panel == panel])
            axis.set_title(panel)
        drawn = [axis.get_legend_handles_labels() for axis in axes]
        named = {name: handle for handles, names in drawn for handle, name in zip(handles, names, strict=True)}
        figure.legend(
            [named[label] for label in labels], labels, loc="outside lower center", ncols=columns, frameon=False
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None, "Description": plot.digest})


def _draw_panel(axis: Any, plot: Plot, lines: Sequence[Line]) -> None:
    labels = list(dict.fromkeys(line.label for line in plot.lines))
    for line in lines:
        colour = COLOURS[labels.index(line.label) % len(COLOURS)]
        x, y = zip(*line.points, strict=True)
        first = next(each for each in lines if each.label == line.label) is line
        style = {"linestyle": "--" if line.published else "-", "marker": "o" if plot.logarithmic_x else None}
        axis.plot(x, y, color=colour, markersize=3, linewidth=1.2, label=line.label if first else None, **style)
        if line.spread:
            low, high = zip(*line.spread, strict=True)
            axis.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
    if plot.logarithmic_x:
        axis.set_xscale("log")
    else:
        axis.ticklabel_format(axis="x", scilimits=(0, 3))
        axis.locator_params(axis="x", nbins=5)
    highest = sorted(max(y for _, y in line.points) for line in lines)
    if highest[-1] > ORDERS_OF_MAGNITUDE * max(highest[0], 1):
        axis.set_yscale("log")
    axis.set_xlabel(plot.x)
    axis.set_ylabel(plot.y)


def digest_in(path: Path) -> str:
    """The digest in a drawn plot."""
    text = path.read_text(encoding="utf-8")
    return text.partition("<dc:description>")[2].partition("</dc:description>")[0]
