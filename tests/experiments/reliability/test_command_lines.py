import pytest

from attribute_planner.experiments.reliability.command_lines import TEMPLATES, answer_of, measure, without_work


def test_malformed_lines_are_answered_clearly():
    row = measure(15, in_processes=0, seed=1)
    assert row.passed, row.measured


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "switches", "--seed", "9" * 25],
        ["reach", "switches", "--goal", "switch_0=red", "--seed", "9" * 25],
        ["reach", "switches", "--goal", "switch_0=red", "--max-steps", "9" * 25],
        ["diagnose", "switches", "--episodes", "9" * 25],
        ["train", "switches", "--out", "a\0b"],
        ["graph", "a\0b"],
        ["graph", "\ud800"],
        ["train", "switches", "--set", "practise.ppo.learning_rate=nan"],
    ],
)
def test_lines_that_once_raised(arguments: list[str]):
    with without_work():
        assert answer_of(arguments) == ("1", "")


def test_a_traceback_is_found(monkeypatch: pytest.MonkeyPatch):
    def fail(arguments: list[str]) -> int:
        raise ValueError("embedded null byte")

    monkeypatch.setattr("attribute_planner.experiments.reliability.command_lines.program", lambda: fail)
    answer, fault = answer_of(list(TEMPLATES[0]))
    assert answer == "traceback" and fault.startswith("ValueError: embedded null byte")
