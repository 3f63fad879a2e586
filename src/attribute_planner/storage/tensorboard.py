"""Metrics for TensorBoard, an optional dependency: `pip install attribute-planner[tensorboard]`."""

from pathlib import Path
from typing import Any

from attribute_planner.errors import ConfigurationError

STEPS = ("steps", "updates")
"""Metrics that are used as the step of a phase, in order of preference: environment steps; updates of a supervised
fit."""


class TensorBoardWriter:
    """Writes metrics as TensorBoard scalars `phase/metric`, each at the phase's own step."""

    def __init__(self, path: Path) -> None:
        try:
            from tensorboard.compat.proto import event_pb2, summary_pb2
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError as error:
            raise ConfigurationError(
                "TensorBoard is not installed: pip install 'attribute-planner[tensorboard]'."
            ) from error
        self._event, self._summary = event_pb2, summary_pb2
        self._writer = EventFileWriter(str(path))

    def write(self, phase: str, metrics: dict[str, Any]) -> None:
        """Write the metrics of one epoch."""
        values = [
            self._summary.Summary.Value(tag=f"{phase}/{name}", simple_value=float(value))
            for name, value in metrics.items()
            if not isinstance(value, (list, str))
        ]
        step = next((int(metrics[name]) for name in STEPS if name in metrics), 0)
        self._writer.add_event(self._event.Event(step=step, summary=self._summary.Summary(value=values)))
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()
