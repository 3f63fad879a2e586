import pytest

from attribute_planner.drawing.progress_bars import ProgressBars
from attribute_planner.recorder import PRODUCTS


def test_without_a_terminal_there_are_plain_lines(capsys: pytest.CaptureFixture[str]):
    bars = ProgressBars()
    bars.show("explore", 0.001, {"edges": 12})
    bars.show("explore", 0.5, {"edges": 1234})
    bars.show("explore", 1.2, {"edges": 5678})
    bars.show("practise", 0.5, {"success": 0.5, "goals_reached": 0.0})
    bars.show("practise", 1.0, {"success": 0.5})
    bars.close()
    lines = [line.split() for line in capsys.readouterr().err.splitlines()]
    # Not every report is a line, but the last one of a phase is.
    assert ["explore", "100%", "5,678", "edges"] in lines
    # What was not measured again is shown as it was.
    shown = "practise 100% 50.0% of attempts succeed, last measurement: 0% of goals reached"
    assert shown.split() in lines
    assert ["explore", "50%", "1,234", "edges"] not in lines


@pytest.mark.parametrize("phase", [*PRODUCTS, "inverse"])
def test_every_phase_is_shown_also_without_its_metric(phase: str, capsys: pytest.CaptureFixture[str]):
    bars = ProgressBars()
    bars.show(phase, 1.0, {})
    bars.close()
    assert capsys.readouterr().err.split() == [phase, "100%"]


def test_the_inverse_model_shows_its_loss(capsys: pytest.CaptureFixture[str]):
    bars = ProgressBars()
    bars.show("inverse", 1.0, {"updates": 10, "loss": 0.25})
    bars.close()
    assert capsys.readouterr().err.split() == ["inverse", "100%", "loss", "0.250"]


def test_a_long_metric_stays_on_one_line(capsys: pytest.CaptureFixture[str]):
    bars = ProgressBars()
    bars.show("practise", 1.0, {"goals_reached": 0.5, "weakest_edge": "switch_2 from yellow to red: " + "x " * 100})
    bars.close()
    assert len(capsys.readouterr().err.splitlines()) == 1
