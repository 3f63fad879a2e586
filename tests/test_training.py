import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner import budget, recorder
from attribute_planner.configuration import TrainConfig
from attribute_planner.drawing.progress_bars import ProgressBars
from attribute_planner.errors import ConfigurationError, RunDirectoryError
from attribute_planner.files.array_file import read_arrays
from attribute_planner.storage.run_directory import RunDirectory
from attribute_planner.storage.tensorboard import TensorBoardWriter
from tests.probes import RING, TINY, Hosted, HostedWorlds

SHORT = replace(
    TINY, explore=replace(TINY.explore, steps=1600), practise=replace(TINY.practise, steps=1600, rollouts_per_epoch=5)
)
"""Two epochs of exploring and two of practising."""


class StoppedError(Exception):
    """What interrupts a run in these tests."""


def stop_after(patch: pytest.MonkeyPatch, phase: str, epochs: int) -> None:
    """Interrupt training when a phase has reported so often."""
    report, left = recorder.Recorder.__call__, [epochs]

    def interrupted(self: Any, now: str, *rest: Any) -> None:
        report(self, now, *rest)
        left[0] -= now == phase
        if left[0] == 0:
            raise StoppedError

    patch.setattr(recorder.Recorder, "__call__", interrupted)


def assert_same_run(one: Path, other: Path) -> None:
    (arrays, notes), (expected, expected_notes) = (read_arrays(path / "agent.safetensors") for path in (one, other))
    assert notes == expected_notes
    assert set(arrays) == set(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(arrays[name], array, err_msg=name, strict=True)


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run that nothing interrupted."""
    path = tmp_path_factory.mktemp("runs") / "whole"
    ap.train(RING, seed=3, run_dir=path, config=SHORT, tensorboard=True)
    yield path


@pytest.mark.parametrize(("phase", "epochs"), [("explore", 1), ("explore", 2), ("practise", 1)])
def test_a_resumed_run_is_the_uninterrupted_one_bit_for_bit(
    whole_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str, epochs: int
):
    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        stop_after(patch, phase, epochs)
        ap.train(RING, seed=3, run_dir=tmp_path / "run", config=SHORT)
    agent = ap.train(RING, run_dir=tmp_path / "run", resume=True)
    assert_same_run(tmp_path / "run", whole_run)
    np.testing.assert_array_equal(agent.table.successes, ap.load(whole_run, RING).table.successes)
    lines = RunDirectory(tmp_path / "run").metrics()
    assert [line["phase"] for line in lines] == ["explore"] * 2 + ["practise"] * 2


def test_resuming_a_finished_run_changes_nothing(whole_run: Path):
    before = (whole_run / "agent.safetensors").read_bytes()
    agent = ap.train(RING, run_dir=whole_run, resume=True)
    assert (whole_run / "agent.safetensors").read_bytes() == before
    assert agent.table.num_edges == 10


def test_a_saved_agent_is_the_trained_one(whole_run: Path):
    agent, loaded = ap.train(RING, seed=3, config=SHORT), ap.load(whole_run, RING)
    np.testing.assert_array_equal(agent.table.probability, loaded.table.probability)
    np.testing.assert_array_equal(agent.policy.action_head.weight, loaded.policy.action_head.weight)
    assert loaded.max_attempt_steps == SHORT.practise.max_attempt_steps


def test_metrics_are_written_epoch_by_epoch(whole_run: Path):
    lines = [json.loads(line) for line in (whole_run / "metrics.jsonl").read_text().splitlines()]
    assert [(line["phase"], line["steps"]) for line in lines] == [
        ("explore", 800), ("explore", 1600), ("practise", 800), ("practise", 1600)
    ]  # fmt: skip
    assert {"sets", "edges", "bonus", "seconds"} <= set(lines[0])
    assert {"success", "attempts", "entropy"} <= set(lines[-1])


def test_settings_cannot_be_changed_when_a_run_is_resumed(whole_run: Path):
    with pytest.raises(ConfigurationError, match="A resumed run keeps its own settings"):
        ap.train(RING, run_dir=whole_run, resume=True, config=SHORT)


def test_bars_and_writers_are_closed_even_if_saving_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    closed: list[str] = []
    monkeypatch.setattr(TensorBoardWriter, "close", lambda self: closed.append("tensorboard"))
    monkeypatch.setattr(ProgressBars, "close", lambda self: closed.append("bars"))

    def full(self: RunDirectory, progress: Any, **notes: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(RunDirectory, "save", full)
    with pytest.raises(OSError, match="no space left"):
        ap.train(RING, run_dir=tmp_path / "run", config=SHORT, progress=True, tensorboard=True)
    assert set(closed) == {"bars", "tensorboard"}


def test_tensorboard_reads_the_events(whole_run: Path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(whole_run))
    events.Reload()
    assert {"explore/edges", "practise/success"} <= set(events.Tags()["scalars"])
    edges = events.Scalars("explore/edges")
    assert [event.step for event in edges] == [800, 1600]
    assert edges[-1].value == 10


ON_HOST = replace(
    SHORT,
    explore=replace(SHORT.explore, policy="random", num_envs=8, steps=320, rollouts_per_epoch=2),
    practise=replace(SHORT.practise, num_envs=8, steps=160, rollouts_per_epoch=2),
)
"""Two epochs of exploration, each with two rollouts of ten steps in eight environments, and one epoch of practice."""


def train_on_host(path: Path, fails_at: int | None = None, **options: Any) -> ap.Agent:
    HostedWorlds.steps_of_all = 0
    return ap.train(Hosted(RING, fails_at=fails_at), run_dir=path, **options)


def test_what_was_learned_before_the_simulator_failed_is_kept(tmp_path: Path):
    # The 35th step falls into the second window of the second epoch.
    with pytest.raises(RuntimeError, match="the simulator fell over"):
        train_on_host(tmp_path / "run", fails_at=35, config=ON_HOST)
    explored = RunDirectory(tmp_path / "run").progress(Hosted(RING)).explored
    assert explored is not None
    assert (explored.epoch, explored.steps, explored.counts.total) == (1, 160, 160)
    with pytest.raises(RunDirectoryError, match="has not reached practice yet; continue with --resume"):
        ap.load(tmp_path / "run", Hosted(RING))
    train_on_host(tmp_path / "run", resume=True)
    train_on_host(tmp_path / "whole", config=ON_HOST)
    assert_same_run(tmp_path / "run", tmp_path / "whole")


FEW_STEPS = replace(
    ON_HOST, explore=replace(ON_HOST.explore, num_envs=1, rollout_length=2, rollouts_per_epoch=1, steps=4)
)
"""Exploration observes only a part of the ring."""


def test_a_run_can_be_given_more_steps(tmp_path: Path):
    path = tmp_path / "run"
    before = train_on_host(path, config=FEW_STEPS).table
    assert before.num_edges < 10
    after = train_on_host(path, resume=True, steps=2000).table
    assert after.num_edges > before.num_edges
    assert after.attempts.shape == after.probability.shape == (after.num_edges,)
    assert after.attempts.sum() > before.attempts.sum()
    assert RunDirectory(path).description.config.steps == 2000


def test_a_finished_run_that_is_stopped_while_it_explores_further_can_be_loaded_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "run"
    before = train_on_host(path, config=FEW_STEPS).table
    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        stop_after(patch, "explore", 10)
        train_on_host(path, resume=True, steps=2000)
    stopped = ap.load(path, Hosted(RING)).table
    assert stopped.num_edges > before.num_edges
    assert stopped.attempts.sum() == before.attempts.sum()
    np.testing.assert_array_equal(stopped.attempts[before.edges_in(stopped)], before.attempts)
    after = train_on_host(path, resume=True).table
    assert after.attempts.sum() > before.attempts.sum()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resume": True}, "needs the directory of the run"),
        ({"steps": 0}, "steps must be greater than zero; it is 0"),
        ({"steps": -3}, "steps must be greater than zero; it is -3"),
    ],
)
def test_mistakes_are_one_clear_line(options: dict[str, Any], message: str):
    with pytest.raises(ConfigurationError, match=message):
        ap.train(RING, config=SHORT, **options)


@pytest.mark.parametrize(("option", "value"), [("config", SHORT), ("refine", True)])
def test_a_resumed_run_keeps_its_settings(option: str, value: Any, tmp_path: Path):
    with pytest.raises(ConfigurationError, match=f"{option} cannot be given with resume"):
        ap.train(RING, run_dir=tmp_path, resume=True, **{option: value})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: TrainConfig(estimator="guess"), "no estimator 'guess'.*There are: ratio, posterior, visits"),
        (lambda: replace(TINY.explore, bonus="big"), "no bonus 'big'"),
        (lambda: replace(TINY.explore, policy="bold"), "no exploration policy 'bold'"),
        (lambda: replace(TINY.practise, steps=0), r"PractiseConfig\.steps must be greater than zero"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: Callable[[], Any], message: str):
    with pytest.raises(ap.AttributePlannerError, match=message):
        wrong()


def test_tensorboard_needs_a_run_directory():
    with pytest.raises(ConfigurationError, match=r"written into the run directory: say which, with run_dir=…"):
        ap.train(RING, tensorboard=True)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (59, "59 s"), (100, "2 min"), (3_600, "60 min"), (9_000, "2.5 h"), (180_000, "2.1 days")],
)
def test_durations_have_the_unit_that_suits_them(seconds: float, words: str):
    assert budget.duration_words(seconds) == words
