import io
import re

import pytest
from rich.console import Console

from attribute_planner.drawing import progress_bars
from attribute_planner.drawing.progress_bars import ProgressBars, shown_metrics
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


def test_steps_per_second_workers_and_restarts_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    now = 100.0
    monkeypatch.setattr(progress_bars.time, "monotonic", lambda: now)
    bars, workers = ProgressBars(), {"workers": 4, "worker_restarts": 1}
    for seconds, phase, steps in ((9.0, "explore", 1_000), (2.0, "explore", 4_000), (5.0, "practise", 500)):
        now += seconds
        bars.show(phase, 1.0, {"steps": steps, **workers})
    now += 0.5
    bars.show("explore", 1.0, {"steps": 4_100, **workers})  # the time of practice is not that of exploring
    bars.close()
    shown = ["", "1,500 steps/s, ", "", "200 steps/s, "]
    assert [line.split("%  ")[1] for line in capsys.readouterr().err.splitlines()] == [
        f"{speed}4 workers, 1 restarts" for speed in shown
    ]


def test_a_long_metric_stays_on_one_line(capsys: pytest.CaptureFixture[str]):
    bars = ProgressBars()
    bars.show("practise", 1.0, {"goals_reached": 0.5, "weakest_edge": "switch_2 from yellow to red: " + "x " * 100})
    bars.close()
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_long_metric_leaves_room_for_the_bar(monkeypatch: pytest.MonkeyPatch):
    terminal = io.StringIO()
    monkeypatch.setattr(
        progress_bars, "Console", lambda file: Console(file=terminal, force_terminal=True, width=80, color_system=None)
    )
    bars = ProgressBars()
    bars.show("explore", 0.25, {"sets": 3, "edges": 4})
    bars.show("practise", 0.5, {"success": 0.9, "weakest_edge": "kettle from hot to empty: " + "x " * 100})
    bars.close()
    shown = terminal.getvalue()
    for phase, share, metric in (("explore", "25%", "3 sets, 4 edges"), ("practise", "50%", "90.0% of attempts")):
        assert re.search(rf"{phase} ━+ *{share} .*\n *{metric}", shown)


def test_learning_from_recorded_steps_shows_its_loss(capsys: pytest.CaptureFixture[str]):
    bars = ProgressBars()
    bars.show("practise", 0.5, {"steps": 0, "q_loss": 0.5})
    bars.show("practise", 1.0, {"steps": 0, "q_loss": 0.25})
    bars.close()
    assert capsys.readouterr().err.splitlines()[-1].split() == ["practise", "100%", "loss", "0.250"]
    assert shown_metrics("practise", {"q_loss": 0.25, "success": 0.5}) == "50.0% of attempts succeed"


def test_zeros_are_shown_in_words():
    counted = {"sets": 2, "unseen_values": 0, "workers": 2, "worker_restarts": 0}
    assert shown_metrics("explore", counted) == "2 sets, all declared values seen, 2 workers"
    assert shown_metrics("explore", {"unseen_values": 3}) == "3 declared values not seen"
