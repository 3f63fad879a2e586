"""A plot of a table: a panel per column, a line per row, the paper's number as a ring and ours as a dot."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attribute_planner.experiments.aggregates import aggregate_of
from attribute_planner.experiments.records import Record
from attribute_planner.experiments.tables.layout import PERCENT, Column, Entry, Row, Table


@dataclass(frozen=True)
class Dot:
    """A row in a panel, in %: the paper's number, ours, and its interval; `None` for what does not exist."""

    row: str
    paper: float | None
    ours: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Panel:
    """A column of a table."""

    title: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True)
class DotPlot:
    """The columns of a table that show success rates."""

    name: str
    panels: tuple[Panel, ...]

    @property
    def digest(self) -> str:
        """A hash of the plot's data."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:16]


def dot_plot(table: Table, records: Sequence[Record]) -> DotPlot | None:
    """The plot of a table; `None` if nothing of it is measured, or if it has no success rates."""
    panels = [
        Panel(column.label, tuple(_dot(row, row.entries[index], records) for row in table.rows))
        for index, column in enumerate(table.columns)
        if _is_shown(column, [row.entries[index] for row in table.rows])
    ]
    measured = any(dot.ours is not None for panel in panels for dot in panel.dots)
    return DotPlot(table.name, tuple(panels)) if measured else None


def _is_shown(column: Column, entries: Sequence[Entry]) -> bool:
    return column.kind == PERCENT and any(entry.published is not None for entry in entries)


def _dot(row: Row, entry: Entry, records: Sequence[Record]) -> Dot:
    name = f"{row.label}, {row.training}" if row.training not in ("", "no tasks") else row.label
    number = None if entry.ours is None else aggregate_of(entry.ours, records, PERCENT)
    if number is None:
        return Dot(name, entry.published, None, None)
    interval = None if number.interval is None else (round(number.interval.low, 2), round(number.interval.high, 2))
    return Dot(name, entry.published, round(number.mean, 2), interval)


PAPER_COLOUR, OUR_COLOUR = "#999999", "#4477aa"
ROW_INCHES, PANEL_INCHES, LABEL_INCHES, MARGIN_INCHES = 0.26, 1.9, 2.9, 0.9


def draw_dots(path: Path, plot: DotPlot) -> None:
    """Draw a plot as SVG. The file contains the digest of the plot and no time or version."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows = [dot.row for dot in plot.panels[0].dots]
    settings: dict[Any, Any] = {"svg.hashsalt": "attribute_planner", "svg.fonttype": "none", "font.size": 8}
    with rc_context(settings):
        size = (LABEL_INCHES + PANEL_INCHES * len(plot.panels), MARGIN_INCHES + ROW_INCHES * len(rows))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(1, len(plot.panels), squeeze=False, sharey=True)[0]
        for axis, panel in zip(axes, plot.panels, strict=True):
            _draw_panel(axis, panel)
        axes[0].set_yticks(range(len(rows)), rows)
        axes[0].invert_yaxis()
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None, "Description": plot.digest})


def _draw_panel(axis: Any, panel: Panel) -> None:
    for height, dot in enumerate(panel.dots):
        if dot.interval is not None:
            axis.plot(dot.interval, (height, height), color=OUR_COLOUR, linewidth=1.5, alpha=0.6)
    paper = [(dot.paper, height) for height, dot in enumerate(panel.dots) if dot.paper is not None]
    ours = [(dot.ours, height) for height, dot in enumerate(panel.dots) if dot.ours is not None]
    ring = {"s": 34, "facecolors": "none", "edgecolors": PAPER_COLOUR, "linewidths": 1.4}
    axis.scatter([x for x, _ in paper], [y for _, y in paper], label="paper", **ring)
    axis.scatter([x for x, _ in ours], [y for _, y in ours], s=16, color=OUR_COLOUR, label="ours, with 95 % interval")
    axis.set_xlim(-4, 104)
    axis.set_title(panel.title)
    axis.set_xlabel("success, %")
    axis.grid(axis="y", linewidth=0.4, alpha=0.5)
    axis.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
