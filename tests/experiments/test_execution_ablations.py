"""The table of what parts of execution are worth, on results that are made up, and one result that is measured."""

from importlib import import_module
from pathlib import Path

import pytest

from attribute_planner.experiments.execution_ablations import (
    CHANGES,
    Result,
    difference,
    main,
    measure,
    read_results,
    table,
)


def result(change: str, solved: str, task: str = "build") -> Result:
    return Result("somebody", task, change, 7, solved, 3.0, 1.0, {})


def test_the_same_tasks_are_compared():
    default, changed = result("default", "1111" * 25), result("no-time", "1110" * 25)
    cost, margin = difference(default, changed)
    assert cost == pytest.approx(25.0) and margin == pytest.approx(100 * 1.96 * 0.1875**0.5 / 10)
    # As many successes, on other tasks: no difference, but an uncertain one.
    cost, margin = difference(result("default", "10" * 50), result("no-time", "01" * 50))
    assert cost == 0 and margin > 15
    assert difference(default, default) == (0.0, 0.0)


def test_the_table_shows_what_changes_cost_and_marks_what_is_significant():
    results = [
        result("default", "1" * 99 + "0"),
        result("no-time", "1" * 80 + "0" * 20),
        result("no-evidence", "1" * 98 + "00"),
        result("default", "1" * 100, task="craft"),
    ]
    head, _, default, *rows = table(results).splitlines()
    assert head == "| | somebody, build | somebody, craft |"
    assert default == "| default, success in % | 99.0 | 100.0 |"
    assert rows == ["| `no-time` | **−19.0** | |", "| `no-evidence` | −1.0 | |"]


@pytest.mark.parametrize("name", [name for name, change in CHANGES.items() if change.replaced])
def test_what_a_change_replaces_exists_and_differs(name: str):
    for where, value in CHANGES[name].replaced.items():
        package, module, attribute = where.split(".", 2)
        found = import_module(f"attribute_planner.{package}.{module}")
        for each in attribute.split("."):
            found = getattr(found, each)
        assert found != value


@pytest.mark.slow
def test_a_change_is_measured_on_the_tasks_of_the_default_and_ends_with_the_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from attribute_planner.transitions import estimators

    monkeypatch.chdir(tmp_path)
    before, records = estimators.WEIGHTS, tmp_path / "records"
    arguments = ["crafting", "--tasks", "1-step", "--episodes", "3", "--records", str(records), "--changes", "default"]
    assert main(arguments) == 0
    (found,) = read_results(records)
    assert (found.agent, found.task, found.change, len(found.solved)) == ("crafting", "1-step", "default", 3)
    changed = measure("crafting", "1-step", "prior-weight=2", 3)
    assert set(changed.solved) <= {"0", "1"} and before == estimators.WEIGHTS
