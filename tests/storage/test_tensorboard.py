from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from attribute_planner.storage.tensorboard import TensorBoardWriter


@pytest.mark.parametrize(
    ("phase", "step"), [("practise", "steps"), ("detect", "updates"), ("forward_model", "updates")]
)
def test_scalars_are_written_at_the_steps_or_updates_of_their_phase(tmp_path: Path, phase: str, step: str):
    writer = TensorBoardWriter(tmp_path)
    for number in (10, 20):
        writer.write(phase, {step: number, "loss": 1 / number})
    writer.close()
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert [(event.step, round(event.value, 3)) for event in events.Scalars(f"{phase}/loss")] == [(10, 0.1), (20, 0.05)]
