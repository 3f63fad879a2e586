"""Progress bars for training; plain lines if standard error is not a terminal."""

import sys
import time
from collections.abc import Iterable
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

SPEED = {"steps_per_second": "{:,.0f} steps/s"}
WORKERS = {"workers": "{} workers", "worker_restarts": "{} restarts"}

SHOWN = {
    "detect": {"error_full_set": "error {:.2%}"},
    "explore": {
        "sets": "{:,} sets",
        "edges": "{:,} edges",
        "unseen_values": "{:,} declared values not seen",
        **SPEED,
        **WORKERS,
    },
    "forward_model": {"error": "error {:.2%}"},
    "inverse": {"loss": "loss {:.3f}"},
    "practise": {
        "success": "{:.1%} of attempts succeed",
        "q_loss": "loss {:.3f}",
        "goals_reached": "last measurement: {:.0%} of goals reached",
        "weakest_edge": "weakest edge on plans: {}",
        **SPEED,
        **WORKERS,
    },
    "refine": {"findings": "{0[0]}"},
    "model_edges": {"sets": "{:,} sets", "edges": "{:,} edges"},
    "calibrate": {"reached": "{:.0%} of goals reached", "planned": "{:.0%} planned"},
}
"""By phase, the metrics that are shown, and their formats. A metric that was not measured again is shown as it was."""

AT_ZERO = {"unseen_values": "all declared values seen", "worker_restarts": ""}
"""What is shown in place of a zero."""

UNLESS = {"q_loss": "success"}
"""What is shown only without another metric: recorded steps are learned from without attempts."""

SECONDS_BETWEEN_LINES = 10.0


class ProgressBars:
    """One bar per phase on standard error."""

    def __init__(self) -> None:
        self._console = Console(file=sys.stderr)
        self._bars = _BarsWithMetrics(
            TextColumn("{task.description:>9}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._bars.start()
        self._tasks: dict[str, TaskID] = {}
        self._last: dict[str, dict[str, Any]] = {}
        self._last_line = 0.0
        self._last_report = time.monotonic()

    def show(self, phase: str, done: float, metrics: dict[str, Any]) -> None:
        """Update the bar of a phase, of which the fraction `done` is complete."""
        before = self._last.get(phase, {})
        known = self._last[phase] = before | metrics | self._speed(before, metrics)
        metric = shown_metrics(phase, known)
        if self._bars.disable:
            self._print_line(phase, done, metric)
        if phase not in self._tasks:
            self._tasks[phase] = self._bars.add_task(phase, total=1.0, metric=metric)
        self._bars.update(self._tasks[phase], completed=min(done, 1.0), metric=metric)

    def close(self) -> None:
        self._bars.stop()

    def _speed(self, before: dict[str, Any], metrics: dict[str, Any]) -> dict[str, float]:
        """Environment steps per second since the last report of any phase, if this is not the first of its phase."""
        now = time.monotonic()
        since, self._last_report = now - self._last_report, now
        if "steps" not in before or "steps" not in metrics or since <= 0:
            return {}
        taken = metrics["steps"] - before["steps"]
        return {"steps_per_second": taken / since} if taken else {}

    def _print_line(self, phase: str, done: float, metric: str) -> None:
        now = time.monotonic()
        if done >= 1.0 or now - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = now
            self._console.print(f"{phase:>9} {min(done, 1.0):4.0%}  {metric}", highlight=False, soft_wrap=True)


def shown_metrics(phase: str, metrics: dict[str, Any]) -> str:
    """The metrics of a phase in words."""
    known = (
        (name, text, metrics[name])
        for name, text in SHOWN[phase].items()
        if name in metrics and UNLESS.get(name) not in metrics
    )
    words = (AT_ZERO[name] if name in AT_ZERO and not value else text.format(value) for name, text, value in known)
    return ", ".join(filter(None, words))


class _BarsWithMetrics(Progress):
    """Bars with the metrics of each below it: beside it, they would leave no room for the bar."""

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.tasks:
            yield self.make_tasks_table([task])
            if metric := task.fields["metric"]:
                yield Padding(Text(metric), (0, 0, 0, INDENT))


INDENT = 10
"""The width of the names of phases."""


class EpisodeBar:
    """One bar on standard error for episodes that run side by side; nothing if that is not a terminal."""

    def __init__(self, episodes: int) -> None:
        console = Console(file=sys.stderr)
        self._bar = Progress(
            TextColumn("{task.completed:.0f} of {task.total:.0f} episodes"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("step {task.fields[step]}"),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task("", total=episodes, step=0)
        self._step = 0

    def __enter__(self) -> "EpisodeBar":
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def show(self, ended: int) -> None:
        """After a step, so many episodes have ended."""
        self._step += 1
        self._bar.update(self._task, completed=ended, step=self._step)
