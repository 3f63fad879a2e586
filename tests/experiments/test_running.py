"""Interrupted runs are resumed, and a failed run does not stop the others."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from attribute_planner.data.seeds import num_together
from attribute_planner.experiments import planner_run, running
from attribute_planner.experiments import run_one as run_one_module
from attribute_planner.experiments.records import Record, is_recorded, read_record, write_record
from attribute_planner.experiments.run_one import Folders, run_one
from attribute_planner.experiments.running import pieces_of, run_all
from attribute_planner.experiments.runs import OURS, PUBLISHED, SCALES, Run, RunSpec, Scale, measured
from attribute_planner.interruption import Interrupted, handled_signals
from attribute_planner.storage.metrics import MetricsWriter
from attribute_planner.storage.run_directory import RunDirectory, ship
from tests.experiments.test_records import RECORD

TINY = (
    "explore.policy=random",
    "explore.num_envs=64",
    "explore.rollouts_per_epoch=1",
    "explore.steps=9600",
    "explore.hidden_size=16",
    "practise.num_envs=64",
    "practise.rollout_length=20",
    "practise.rollouts_per_epoch=1",
    "practise.steps=5120",
    "practise.hidden_size=16",
)
EXECUTIONS = tuple(replace(each, max_steps=20) for each in (PUBLISHED, OURS))
"""A quarter of the steps that the task allows: this agent seldom succeeds, and failures take all steps."""
RUN_SPEC = RunSpec("probe", "switches", measured(["1-step"], *EXECUTIONS), settings=TINY)
RUN = Run(RUN_SPEC, 1, "small")


@pytest.fixture(scope="module", autouse=True)
def few_tasks() -> Iterator[None]:
    """Few tasks per measurement."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SCALES, "small", Scale(episodes=20, seeds=1, baseline_seeds=1))
        yield


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A completed run."""
    folders = Folders(tmp_path_factory.mktemp("records"), tmp_path_factory.mktemp("work"))
    assert run_all([RUN], folders, say=lambda line: None) == []
    return folders


def outcomes(record: Record) -> list[tuple[float | None, ...]]:
    """What the measurements of a record found, without the time that they took."""
    return [(each.success, each.mean_steps, each.mean_replans, each.planned) for each in record.results]


def refuse(*args, **kwargs):
    raise AssertionError("nothing should be trained or measured here")


def test_a_record_tells_all_that_there_is_to_know(trained: Folders):
    record = read_record(trained.records, RUN)
    assert record is not None
    assert [result.measurement for result in record.results] == list(RUN_SPEC.measurements)
    assert [result.episodes for result in record.results] == [20, 20]
    assert record.configuration["config"]["explore"]["steps"] == 9600
    assert {"commit", "device", "jax"} <= record.trained.keys() & record.evaluated.keys()
    assert record.training_seconds > 0
    assert record.scalars["edges"] == record.curves["edges"][-1][1] > 0
    assert [x for x, _ in record.curves["edges"]] == [3200, 6400, 9600]
    assert len(record.curves["attempts that succeed"]) == 4


def test_what_is_recorded_is_not_done_again(trained: Folders, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(running, "run_one", refuse)
    assert run_all([RUN], trained) == []


def test_an_agent_that_lies_there_trained_is_only_measured(
    trained: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(planner_run, "train", refuse)
    assert run_all([RUN], Folders(tmp_path, trained.work), say=lambda line: None) == []
    again, first = (read_record(folder, RUN) for folder in (tmp_path, trained.records))
    assert again is not None and first is not None
    assert outcomes(again) == outcomes(first)
    assert again.training_seconds == first.training_seconds


def test_training_alone_leaves_the_measuring_to_another_call(
    trained: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folders = Folders(tmp_path, trained.work)
    with monkeypatch.context() as patch:
        patch.setattr(run_one_module, "measure", refuse)
        assert run_all([RUN], folders, say=lambda line: None, only_train=True) == []
        begun = read_record(tmp_path, RUN)
        assert begun is not None and begun.results == [] and begun.training_seconds > 0
        patch.setattr(running, "run_one", refuse)
        assert run_all([RUN], folders, only_train=True) == []
    assert run_all([RUN], folders, say=lambda line: None) == []
    assert is_recorded(tmp_path, RUN)


def test_the_agent_alone_is_enough_to_measure_it_elsewhere(
    trained: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    here, elsewhere = Folders(tmp_path, trained.work), Folders(tmp_path, tmp_path / "work")
    run_all([RUN], here, say=lambda line: None, only_train=True)
    ship(RunDirectory(trained.work / RUN.name), elsewhere.work / RUN.name)
    monkeypatch.setattr(planner_run, "train", refuse)
    monkeypatch.setattr(run_one_module, "provenance", lambda: {"device": "elsewhere"})
    assert run_all([RUN], elsewhere, say=lambda line: None) == []
    again, first = (read_record(folder, RUN) for folder in (tmp_path, trained.records))
    assert again is not None and first is not None
    assert outcomes(again) == outcomes(first)
    assert (again.evaluated, again.trained) == ({"device": "elsewhere"}, first.trained)


def test_a_killed_measuring_goes_on_where_it_stopped(trained: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    done, folders, measure = [], Folders(tmp_path, trained.work), run_one_module.measure

    def killed_at_the_second(trained, measurement, episodes, seed):
        if done:
            raise KeyboardInterrupt
        done.append(measurement)
        return measure(trained, measurement, episodes, seed)

    monkeypatch.setattr(run_one_module, "measure", killed_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        run_all([RUN], folders, say=lambda line: None)
    assert not is_recorded(tmp_path, RUN)

    monkeypatch.setattr(run_one_module, "measure", lambda *given: done.append(given[1]) or measure(*given))
    assert run_all([RUN], folders, say=lambda line: None) == []
    assert done == list(RUN_SPEC.measurements)


def test_a_killed_training_goes_on_where_it_stopped(trained: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folders = Folders(tmp_path / "records", tmp_path / "work")
    write = MetricsWriter.write

    def killed_while_practising(self, line):
        write(self, line)
        if line["phase"] == "practise" and line["steps"] > 1280:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(MetricsWriter, "write", killed_while_practising)
        with pytest.raises(KeyboardInterrupt):
            run_all([RUN], folders, say=lambda line: None)
    assert not RunDirectory(folders.work / RUN.name).is_finished()

    said = []
    assert run_all([RUN], folders, say=said.append) == []
    assert said[0] == f"{RUN.name}: training resumes"
    again, first = (read_record(each.records, RUN) for each in (folders, trained))
    assert again is not None and first is not None
    assert outcomes(again) == outcomes(first)


def test_a_run_of_other_settings_is_not_taken_for_the_runs_own(trained: Folders, tmp_path: Path):
    other = Run(replace(RUN_SPEC, settings=(*TINY, "practise.hindsight=0.25")), 1, "small")
    said = []
    assert run_all([other], Folders(tmp_path, trained.work), say=said.append) == [other]
    assert "was trained with other settings than run small-probe-1" in said[-1]


def test_a_record_of_another_training_is_not_appended_to(trained: Folders, tmp_path: Path):
    """Results of today's settings must not be added to a record that tells of other settings, or another commit."""
    complete = read_record(trained.records, RUN)
    assert complete is not None
    config = complete.configuration["config"]
    other_settings = complete.configuration | {"config": config | {"explore": config["explore"] | {"steps": 7}}}
    for begun in (
        replace(complete, results=[], configuration=other_settings),
        replace(complete, results=[], trained=complete.trained | {"commit": "another"}),
    ):
        write_record(tmp_path, begun)
        said = []
        assert run_all([RUN], Folders(tmp_path, trained.work), say=said.append) == [RUN]
        assert "was begun with another training" in said[-1]
        assert read_record(tmp_path, RUN) == begun


def test_a_run_that_fails_stops_no_other(trained: Folders, tmp_path: Path):
    broken = Run(replace(RUN_SPEC, name="broken", settings=("explore.speed=1",)), 0, "small")
    said = []
    assert run_all([broken, RUN], Folders(tmp_path, trained.work), say=said.append) == [broken]
    assert "small-broken-0: failed" in said[0] and "explore.speed" in said[0]
    assert is_recorded(tmp_path, RUN)


def test_the_seeds_of_a_row_train_together_and_are_measured_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    done: list[tuple[str, bool, int]] = []

    def one(run: Run, folders: Folders, say: object, *, only_train: bool = False) -> None:
        done.append((run.name, only_train, num_together()))
        if run.seed == 1:
            raise ValueError("a mistake")

    monkeypatch.setattr(running, "run_one", one)
    alone = replace(RUN, spec=replace(RUN_SPEC, name="other"))
    runs = [*(replace(RUN, seed=seed) for seed in range(3)), replace(alone, seed=0)]
    failed = run_all(runs, Folders(tmp_path, tmp_path), say=lambda line: None, together=True)
    assert [run.name for run in failed] == ["small-probe-1"]
    assert sorted(done[:3]) == [(f"small-probe-{seed}", True, 3) for seed in range(3)]
    assert done[3:] == [(name, False, 1) for name in ("small-probe-0", "small-probe-2", "small-other-0")]


def test_processes_are_used_and_their_failures_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    runs = [Run(replace(RUN_SPEC, name=f"probe-{number}", measurements=()), 0, "small") for number in range(4)]
    at_once, most, folders = [], 0, Folders(tmp_path, tmp_path)

    def start(piece: list[Run], folders: Folders, only_train: bool) -> subprocess.Popen:
        assert not only_train
        nonlocal most
        at_once[:] = [each for each in at_once if each.poll() is None]
        (run,) = piece
        if run is not runs[2]:
            write_record(folders.records, replace(RECORD, run=run.name))
        process = subprocess.Popen([sys.executable, "-c", f"raise SystemExit({int(run is runs[2])})"])
        at_once.append(process)
        most = max(most, len(at_once))
        return process

    monkeypatch.setattr(running, "_start", start)
    said = []
    assert run_all(runs, folders, processes=2, say=said.append) == [runs[2]]
    assert most == 2
    assert said == ["A process ended with exit status 1."]


def test_a_process_that_is_killed_takes_only_one_run_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    runs = [Run(replace(RUN_SPEC, measurements=()), seed, "small") for seed in range(3)]
    started = []

    def start(piece: list[Run], folders: Folders, only_train: bool) -> subprocess.Popen:
        started.append(piece)
        done, fate = (piece[:1], "os.kill(os.getpid(), signal.SIGKILL)") if len(piece) == 3 else (piece, "")
        for run in done:
            write_record(folders.records, replace(RECORD, run=run.name, seed=run.seed))
        return subprocess.Popen([sys.executable, "-c", f"import os, signal; {fate}"])

    monkeypatch.setattr(running, "_start", start)
    monkeypatch.setattr(running, "PIECES_PER_PROCESS", 0.1)
    said = []
    assert run_all(runs, Folders(tmp_path, tmp_path), processes=2, say=said.append) == [runs[1]]
    assert started == [runs, runs[2:]]
    assert said == [f"A process ended with exit status {-signal.SIGKILL}."]


def test_a_terminated_process_ends_its_child_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    started = []

    def start(*_: object) -> subprocess.Popen:
        if started:
            os.kill(os.getpid(), signal.SIGTERM)
        started.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]))
        return started[0]

    monkeypatch.setattr(running, "_start", start)
    with handled_signals("test") as signals, pytest.raises(Interrupted):
        run_all([RUN, replace(RUN, seed=2)], Folders(tmp_path, tmp_path), processes=2, say=print)
    assert signals.exit_code == 128 + signal.SIGTERM
    assert started[0].returncode == -signal.SIGTERM


def test_runs_of_a_kind_stay_together_unless_processes_would_be_idle(monkeypatch: pytest.MonkeyPatch):
    """Three kinds of six runs each, in the order of the tables, which goes through them in turn."""
    kinds = [("switches", "planner"), ("crafting", "planner"), ("switches", "reinforce")]
    run_specs = [replace(RUN_SPEC, name=kind[1], environment=kind[0], model=kind[1]) for kind in kinds]
    runs = [Run(run_spec, seed, "small") for seed in range(6) for run_spec in run_specs]
    seconds = {"planner": 2.0, "reinforce": 1.0}
    monkeypatch.setattr(running, "seconds_of", lambda run: seconds[run.spec.model])
    monkeypatch.setattr(running, "PIECES_PER_PROCESS", 2)
    for processes, sizes in ((1, [6, 6, 6]), (2, [3, 3, 3, 3, 6]), (50, [1] * 18)):  # 30 s in all
        pieces = pieces_of(runs, processes)
        assert [len(piece) for piece in pieces] == sizes
        assert sorted((run for piece in pieces for run in piece), key=runs.index) == runs
        assert all(len({(run.spec.environment, run.spec.model) for run in piece}) == 1 for piece in pieces)


def test_the_module_runs_without_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert running.main(["detector", "--dry-run", "--scale", "small", "--records", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == [
        "small-blocks-paper-0",
        "small-blocks-default-0",
        "small-blocks-paper-10k-labels-0",
        "small-blocks-default-10k-labels-0",
    ]


def test_carrying_out_says_what_it_found(trained: Folders, tmp_path: Path):
    said = []
    run_one(RUN, Folders(tmp_path, trained.work), said.append)
    assert len(said) == 2 and all(line.startswith("small-probe-1: 1-step, ") for line in said)
