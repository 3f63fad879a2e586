"""Metrics for TensorBoard, an extra: `pip install attribute-planner[tensorboard]`."""

from pathlib import Path
from typing import Any

from attribute_planner.errors import ConfigurationError


class EventWriter:
    """Writes the metrics of a run as TensorBoard scalars, by environment steps."""

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

    def __call__(self, phase: str, metrics: dict[str, Any]) -> None:
        values = [
            self._summary.Summary.Value(tag=f"{phase}/{name}", simple_value=float(value))
            for name, value in metrics.items()
        ]
        step = int(metrics.get("steps", metrics.get("pass", 0)))
        self._writer.add_event(self._event.Event(step=step, summary=self._summary.Summary(value=values)))
        self._writer.flush()
