"""`Recorder`: what a training reports is saved, written as metrics, and shown."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from attribute_planner.algorithm import Progress
from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.environments.hidden_attributes import hidden_splits
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.evaluation.goal_meter import GoalMeter, num_unseen_values
from attribute_planner.interruption import deferred
from attribute_planner.phases.explore import Explored
from attribute_planner.phases.refine import Refined
from attribute_planner.storage.description import Description
from attribute_planner.storage.experience import ExperienceWriter
from attribute_planner.storage.run_directory import RunDirectory

if TYPE_CHECKING:
    from attribute_planner.environments.workers.pool import WorkerPool

SECONDS_BETWEEN_SAVES = 20.0


@runtime_checkable
class Display(Protocol):
    """Shows the metrics of a training."""

    def show(self, phase: str, done: float, metrics: dict[str, Any]) -> None:
        """Show the metrics of a phase, of which the fraction `done` is complete."""
        ...

    def close(self) -> None: ...


class UserDisplay:
    """Shows them to the user: in progress bars if `progress`, and by a function that is called with the numbers."""

    def __init__(self, progress: bool, logger: Callable[[dict[str, float]], Any] | None) -> None:
        self._progress, self._logger = progress, logger
        self._bars: Any = None

    def show(self, phase: str, done: float, metrics: dict[str, Any]) -> None:
        if self._progress:
            self._bars = self._bars or _bars()
            self._bars.show(phase, done, metrics)
        if self._logger is not None:
            numbers = {name: value for name, value in metrics.items() if isinstance(value, int | float)}
            self._logger({f"{phase}/{name}": value for name, value in numbers.items()})

    def close(self) -> None:
        if self._bars is not None:
            self._bars.close()


class Reports:
    """Passes them on to a function."""

    def __init__(self, show: Callable[[str, float, dict[str, Any]], None]) -> None:
        self._show = show

    def show(self, phase: str, done: float, metrics: dict[str, Any]) -> None:
        self._show(phase, done, metrics)

    def close(self) -> None: ...


class Recorder:
    """Callback of a training: saves progress every few seconds and at the end, writes metrics, shows them."""

    def __init__(
        self,
        run: RunDirectory | None,
        begun: Progress,
        spec: EnvironmentSpec,
        *,
        display: Display | None = None,
        tensorboard: bool,
        meter: GoalMeter | None = None,
        workers: "WorkerPool | None" = None,
    ) -> None:
        self._run, self._progress, self._meter, self._workers = run, begun, meter, workers
        self._log = AttemptLog() if begun.log is None else begun.log
        self._lines = None if run is None else run.metrics_writer()
        self._lines_of_progress = None if self._lines is None else self._lines.written
        self._description: Description | None = None
        self._experience = None
        if run is not None and begun.replay is not None:
            self._experience = ExperienceWriter(run.path, spec, begun.replay)
        self._started = self._saved = time.monotonic()
        self._unsaved = False
        self._changing = threading.RLock()
        self._tensorboard = _tensorboard(run) if tensorboard and run is not None else None
        self._display = display

    def __call__(self, phase: str, done: float, metrics: dict[str, Any], so_far: Any) -> None:
        progress = self._progress_with(phase, so_far)
        counted = {} if self._workers is None else self._workers.metrics()
        metrics = {**metrics, **self._measured(phase, so_far, progress), **counted}
        # What is saved together changes together.
        with deferred(), self._changing:
            if so_far is not None:
                self._keep(so_far, progress)
            if self._lines is not None:
                self._lines.write({"phase": phase, "seconds": round(time.monotonic() - self._started, 3), **metrics})
                if so_far is not None and phase not in REPEATED:
                    self._lines_of_progress = self._lines.written
        self._show(phase, done, metrics)
        if time.monotonic() - self._saved > SECONDS_BETWEEN_SAVES or isinstance(so_far, Refined):
            with deferred():
                self.save()

    def _progress_with(self, phase: str, so_far: Any) -> Progress:
        """The progress with a new product of a phase."""
        if so_far is None:
            return self._progress
        new = {PRODUCTS[phase]: so_far} if not isinstance(so_far, Refined) else _refined_products(so_far)
        return replace(self._progress, **new, log=self._log.copy())

    def _measured(self, phase: str, so_far: Any, progress: Progress) -> dict[str, Any]:
        """Further metrics for users: values not seen yet, and goals reached."""
        if isinstance(so_far, Explored) and self._meter is not None:
            unseen = num_unseen_values(self._meter.env.attributes, so_far.counts.sets.rows)
            return {"unseen_values": unseen}
        if phase == "practise" and so_far is not None and self._meter is not None:
            return self._meter.measure_if_due(progress)
        return {}

    def _keep(self, so_far: Any, progress: Progress) -> None:
        """Make this the progress that is saved, with the steps that were recorded up to now."""
        self._progress, self._unsaved = progress, True
        if self._experience is not None:
            self._experience.note()
        if isinstance(so_far, Refined):
            self._refine(so_far.env)

    def _refine(self, env: Environment) -> None:
        """Replace the description by one with the hidden attributes."""
        if self._meter is not None:
            self._meter.env = env
        if self._run is not None:
            self._description = replace(self._run.description, attributes=env.attributes, hidden=hidden_splits(env))

    def _show(self, phase: str, done: float, metrics: dict[str, Any]) -> None:
        """Show the metrics wherever they are wanted."""
        if self._tensorboard is not None:
            self._tensorboard.write(phase, metrics)
        if self._display is not None:
            self._display.show(phase, done, metrics)

    def close(self) -> None:
        """Save what is not saved yet, also after an exception."""
        try:
            with deferred():
                self.save()
        finally:
            for shown in (self._display, self._tensorboard):
                if shown is not None:
                    shown.close()

    def save(self) -> None:
        """Save what is not saved yet. Another thread may do so, before the process is ended."""
        with self._changing:
            if self._run is not None and self._unsaved:
                self._save()

    def _save(self) -> None:
        assert self._run is not None and self._lines is not None
        self._lines.sync()
        also: dict[str, Any] = {"description": self._description, "metrics": self._lines_of_progress}
        if self._experience is not None:
            also["experience"] = self._experience.new()
        self._run.save(self._progress, **also)
        if self._experience is not None:
            self._experience.saved()
        self._saved, self._unsaved, self._description = time.monotonic(), False, None


PRODUCTS = {
    "detect": "detected",
    "explore": "explored",
    "forward_model": "fitted_model",
    "practise": "practised",
    "model_edges": "model_edges",
    "calibrate": "calibration",
}
"""The field of `Progress` that each phase produces."""

REPEATED = ("model_edges", "calibrate")
"""What comes after practice. A resumed run does it again, and reports it again."""


def _refined_products(refined: Refined) -> dict[str, Any]:
    """What the search for missing attributes replaces; the detector is learned again."""
    return {"explored": refined.explored, "practised": refined.practised, "detected": None}


def _bars() -> Any:
    from attribute_planner.drawing.progress_bars import ProgressBars

    return ProgressBars()


def _tensorboard(run: RunDirectory) -> Any:
    from attribute_planner.storage.tensorboard import TensorBoardWriter

    return TensorBoardWriter(run.path)
