from pathlib import Path

import pytest

from attribute_planner.errors import UnknownNameError
from attribute_planner.experiments.records import read_records
from attribute_planner.experiments.run_one import Folders
from attribute_planner.experiments.strangers import WORLDS, suite
from attribute_planner.experiments.strangers.report import TITLES, report_text, write_report
from attribute_planner.experiments.strangers.suite import METHODS, main, run_suite, suite_runs

LAKE = "small-strangers-frozen-lake-blocks"


def test_every_world_is_run_with_every_method_and_five_seeds():
    names = [run.name for run in suite_runs()]
    assert len(names) == len(set(names)) == len(WORLDS) * len(METHODS) * 5
    assert "paper-strangers-taxi-planner-4" in names
    assert tuple(TITLES) == METHODS


def test_worlds_and_runs_can_be_chosen():
    assert {run.spec.environment for run in suite_runs(worlds=["taxi", "pushing"])} == {"taxi", "pushing"}
    assert [run.name for run in suite_runs("small", names=[f"{LAKE}-random"])] == [f"{LAKE}-random-0"]
    with pytest.raises(UnknownNameError, match="'lake'"):
        suite_runs(worlds=["lake"])


def test_a_run_is_recorded_once_and_reported(tmp_path: Path):
    folders, said = Folders(tmp_path / "records", tmp_path / "work"), []
    runs = suite_runs("small", names=[f"{LAKE}-random"])
    assert run_suite(runs, folders, 1, said.append) == []
    (record,) = read_records(folders.records)
    assert (record.results[0].episodes, record.results[0].task) == (5, "goal")
    assert record.command == f"attribute-planner reproduce strangers --scale small --runs {LAKE}-random-0"
    assert record.trained["commit"] is not None and record.trained["cores"] > 0
    first = list(said)
    assert run_suite(runs, folders, 1, said.append) == []
    assert first and said == first  # nothing is left to do
    write_report(tmp_path / "report.md", folders.records, "small")
    line = next(each for each in (tmp_path / "report.md").read_text().splitlines() if "frozen-lake-blocks" in each)
    assert line.startswith("| frozen-lake-blocks | 100 | – | – | – | ") and "(1)" in line


def test_a_failed_run_is_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(name: str) -> None:
        raise RuntimeError(name)

    monkeypatch.setattr(suite, "make_world", fail)
    runs = suite_runs("small", names=[f"{LAKE}-random"])
    said = []
    assert run_suite(runs, Folders(tmp_path, tmp_path), 1, said.append) == runs
    assert "RuntimeError: frozen-lake-blocks" in said[0]


def test_peers_that_are_not_installed_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(suite, "is_installed", lambda: False)
    said = []
    assert run_suite(suite_runs("small", names=[f"{LAKE}-ppo"]), Folders(tmp_path, tmp_path), 1, said.append) == []
    assert said == ["1 runs are left out: Stable-Baselines3 is not installed (extra `peers`)."]


def test_a_process_does_one_run(tmp_path: Path):
    arguments = [f"{LAKE}-random-1", "--records", str(tmp_path), "--work", str(tmp_path / "work")]
    assert main(arguments) == 0
    assert [record.seed for record in read_records(tmp_path)] == [1]


def test_a_report_without_records_names_every_world():
    assert all(f"| {world} |" in report_text([], "paper") for world in WORLDS)
