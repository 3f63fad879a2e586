"""A figure of the build order of a game: what was started when, and whether it was planned."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.starcraft.rules import Kind

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLANNED, UNPLANNED, EXPECTED = "#1f77b4", "#d97706", "#888888"


@dataclass(frozen=True)
class BuildEvent:
    """The start of the production of something.

    step: step of the start.
    what: its kind, by the name of its attribute: `depot`.
    planned: whether it was part of the current step of the plan.
    """

    step: int
    what: str
    planned: bool = True


def events_of(
    space: AttributeSpace, values: np.ndarray, asked: Sequence[np.ndarray | None] | None = None
) -> list[BuildEvent]:
    """The events of a game, from its attribute values `[T + 1, A]` before and after each step.

    asked: for each step the attribute values `[A]` of the next set of the plan, `None` if there was none; without
    it everything counts as planned. An event is planned if it does not exceed the number in that set.
    """
    kinds = [(i, name) for i, name in enumerate(space.names) if name.upper() in Kind.__members__]
    events = []
    for step in range(len(values) - 1):
        target = None if asked is None else asked[step]
        for position, name in kinds:
            for number in range(int(values[step, position]), int(values[step + 1, position])):
                planned = asked is None or (target is not None and number < int(target[position]))
                events.append(BuildEvent(step, name, planned))
    return events


def planned_events(space: AttributeSpace, values: np.ndarray, durations: np.ndarray) -> list[BuildEvent]:
    """The events of a plan without failures: its sets `[m + 1, A]`, and the duration of each transition `[m]`."""
    ends = np.cumsum(durations)
    return [replace(event, step=round(float(ends[event.step]))) for event in events_of(space, values)]


def draw_timeline(
    events: Iterable[BuildEvent],
    *,
    plan: Iterable[BuildEvent] = (),
    steps: int | None = None,
    title: str = "Build order",
) -> "Figure":
    """One row for each kind, one numbered mark for each event; hollow marks were not planned.

    plan: the events of the first plan at their expected times, shown as strokes above the row.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    events, plan = sorted(events, key=lambda event: event.step), list(plan)
    order = [kind.name.lower() for kind in Kind]
    rows = sorted(
        {event.what for event in (*events, *plan)}, key=lambda what: order.index(what) if what in order else len(order)
    )
    figure = Figure(figsize=(9, 1.6 + 0.5 * max(len(rows), 1)), layout="constrained")
    axes = figure.add_subplot()
    for row, what in enumerate(rows):
        axes.axhline(row, color="#dddddd", linewidth=1, zorder=0)
        for event in (each for each in plan if each.what == what):
            axes.plot(event.step, row - 0.36, "|", markersize=9, markeredgewidth=2, color=EXPECTED)
        for number, event in enumerate((each for each in events if each.what == what), start=1):
            color = PLANNED if event.planned else UNPLANNED
            axes.plot(
                event.step, row, "o", markersize=11, color=color, markerfacecolor=color if event.planned else "white"
            )
            axes.annotate(
                str(number),
                (event.step, row),
                ha="center",
                va="center",
                fontsize=7,
                color="white" if event.planned else color,
            )
    axes.set_yticks(range(len(rows)), [what.replace("_", " ") for what in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    last = steps if steps is not None else max((event.step for event in (*events, *plan)), default=1)
    axes.set_xlim(-0.02 * last, 1.02 * last)
    axes.set_xlabel("step")
    axes.set_title(title, loc="left")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.legend(
        handles=[
            Line2D([], [], marker="|", linestyle="", markeredgewidth=2, color=EXPECTED, label="the first plan"),
            Line2D([], [], marker="o", linestyle="", color=PLANNED, label="planned"),
            Line2D([], [], marker="o", linestyle="", color=UNPLANNED, markerfacecolor="white", label="not planned"),
        ],
        loc="lower left",
        bbox_to_anchor=(0.5, 1.0),
        ncols=3,
        frameon=False,
    )
    return figure
