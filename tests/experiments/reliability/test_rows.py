"""The table of reliability, and the rows that take long in a short form."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from attribute_planner.experiments.reliability import ending_signals, planted_faults, process_trees, same_bits
from attribute_planner.experiments.reliability.__main__ import main, measure, table
from attribute_planner.experiments.reliability.faults import FAULTS
from attribute_planner.experiments.reliability.long_runs import BEGINNING, usage
from attribute_planner.experiments.reliability.row import Row


def test_a_measurement_that_raises_does_not_pass(capsys: pytest.CaptureFixture[str]):
    def fail() -> Row:
        raise ValueError("no")

    module: Any = ModuleType("package.row")
    module.NUMBER, module.measure = 7, fail
    row = measure(module)
    assert (row.name, row.measured, row.passed) == ("row", "ValueError('no')", False)
    rows = [Row("numbers", "all refused", True, 2.4), row]
    assert table([7, 8], rows).splitlines()[2:] == [
        "| 7 | numbers | all refused | yes | 2 |",
        "| 8 | row | ValueError('no') | **no** | 0 |",
    ]


def test_unknown_rows_are_a_usage_error():
    with pytest.raises(SystemExit) as ended:
        main(["no_such_row"])
    assert ended.value.code == 2


def test_faults_fit_the_source_and_name_their_tests():
    assert len(FAULTS) >= 60
    package = planted_faults.ROOT / "src" / "attribute_planner"
    for fault in FAULTS:
        for file, _, name in (each.partition("::") for each in fault.tests.split()):
            assert f"def {name}" in (planted_faults.ROOT / "tests" / file).read_text(encoding="utf-8"), fault.what
    # A fault that does not fit any more counts as not caught.
    old = [each for each in FAULTS if (package / each.file).read_text(encoding="utf-8").count(each.old) != 1]
    assert len(old) <= (1 - planted_faults.LEAST_CAUGHT) * len(FAULTS), [each.what for each in old]


def test_growth_is_the_slope_after_the_beginning():
    steps = np.arange(1, 11) * 100_000.0
    memory = np.where(steps < BEGINNING * steps[-1], 500.0, 100 + 3 * steps / 100_000)
    readings = list(zip(np.arange(10.0), steps, memory, strict=True))
    found = usage(readings, [0.5, 3.5, 8.5, 99.0], 1_000_000, 10.0)
    assert found.growth == pytest.approx(3.0)
    assert found.compiled == 2 - (np.searchsorted(steps, BEGINNING * steps[-1]) > 3.5)


@pytest.mark.parametrize(
    ("line", "is_true"),
    [
        ("attribute-planner: interrupted by SIGTERM.", True),
        ("attribute-planner: interrupted by SIGTERM; nothing is saved.", True),
        ("attribute-planner: interrupted by SIGINT; nothing is saved.", False),
        ("attribute-planner: interrupted by SIGTERM; what was learned is saved; continue with: …", False),
    ],
)
def test_a_line_that_is_not_true_is_found(tmp_path: Path, line: str, is_true: bool):
    assert ending_signals.is_true(line, "SIGTERM", tmp_path / "run") == is_true


@pytest.mark.slow
def test_signals_end_a_training_as_promised():
    endings = [
        ending_signals.end_training("SIGTERM", is_learning=True, delay=2.0),
        ending_signals.end_training("SIGINT", is_learning=False, delay=3.0),
    ]
    assert [(ending.fault, ending.saved) for ending in endings] == [("", True), ("", False)]


@pytest.mark.slow
@pytest.mark.parametrize(("program", "name"), [("reproduce", "SIGKILL"), ("train with workers", "SIGKILL")])
def test_a_program_that_is_killed_leaves_no_process(program: str, name: str):
    assert process_trees.end_tree(program, name) == (0, "")


@pytest.mark.slow
def test_one_core_and_two_give_the_same_agent():
    row = same_bits.measure()
    assert row.passed, row.measured


@pytest.mark.slow
def test_planted_faults_are_caught():
    row = planted_faults.measure([0, 30, 41])
    assert row.passed, row.measured
