"""A run with a policy that replays recorded steps, interrupted and resumed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner import recorder
from attribute_planner.algorithm import first_round
from attribute_planner.data.dataset import Dataset
from attribute_planner.errors import RunDirectoryError
from attribute_planner.evaluation import goal_meter
from attribute_planner.files import manifest
from attribute_planner.files.array_file import read_arrays
from attribute_planner.learning.dqn import DQNConfig
from attribute_planner.storage.run_directory import RunDirectory, ship
from tests.phases.test_refine import KEY_IN_CELLAR, REFINING
from tests.probes import RING, TINY, Hosted, HostedWorlds

WORLD = Hosted(RING)

REPLAYED = replace(
    TINY,
    explore=replace(TINY.explore, policy="frontier", num_envs=4, rollout_length=10, rollouts_per_epoch=1, steps=160),
    practise=replace(
        TINY.practise,
        method="dqn",
        stop_on_any_change=False,
        goal_sampling="planned",
        num_envs=4,
        rollout_length=10,
        rollouts_per_epoch=2,
        steps=320,
        dqn=DQNConfig(batch_size=16, replay_ratio=4.0, capacity=240, n_step=2),
    ),
    rounds=2,
)
"""Two rounds of two epochs of exploration (40 steps each) and two of practice (80 steps); 240 of 480 steps are kept."""

PHASES = ["explore", "explore", "practise", "practise"] * 2


class StoppedError(Exception):
    """What interrupts a run in these tests."""


def run(path: Path, **options: Any) -> ap.Agent:
    return ap.train(WORLD, run_dir=path, **options)


def stop_after(patch: pytest.MonkeyPatch, reports: int) -> None:
    """Interrupt training after so many reports."""
    report, left = recorder.Recorder.__call__, [reports]

    def interrupted(self: Any, *given: Any) -> None:
        report(self, *given)
        left[0] -= 1
        if left[0] == 0:
            raise StoppedError

    patch.setattr(recorder.Recorder, "__call__", interrupted)


def metrics_of(path: Path) -> list[dict[str, Any]]:
    """The metrics without those that depend on the clock: when goals are measured is one of them."""
    lines = map(json.loads, (path / "metrics.jsonl").read_text().splitlines())
    timed = {"seconds", "goals_reached", "goals_planned", "goals_measured", "weakest_edge"}
    return [{name: value for name, value in line.items() if name not in timed} for line in lines]


def assert_same_run(one: Path, other: Path) -> None:
    (arrays, notes), (expected, expected_notes) = (read_arrays(path / "agent.safetensors") for path in (one, other))
    assert notes == expected_notes
    assert set(arrays) == set(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(arrays[name], array, err_msg=name, strict=True)
    assert metrics_of(one) == metrics_of(other)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ap.Agent]:
    """A run that nothing interrupted, and its agent."""
    path = tmp_path_factory.mktemp("runs") / "whole"
    return path, run(path, seed=3, config=REPLAYED)


@pytest.mark.parametrize("reports", [1, 3, 7])
def test_a_run_that_replays_is_resumed_bit_for_bit(
    whole: tuple[Path, ap.Agent], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reports: int
):
    """Stopped in exploration, in practice, and in the second round."""
    assert [line["phase"] for line in metrics_of(whole[0])] == PHASES
    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        stop_after(patch, reports)
        run(tmp_path / "run", seed=3, config=REPLAYED)
    agent = run(tmp_path / "run", resume=True)
    assert_same_run(tmp_path / "run", whole[0])
    assert_same_agent(agent, whole[1])


@pytest.mark.slow
def test_a_run_that_adds_hidden_attributes_is_resumed_bit_for_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Stopped right before and right after it: the steps before it are recorded without the hidden attribute."""
    env = Hosted(KEY_IN_CELLAR)
    ap.train(env, seed=0, config=REFINING, run_dir=tmp_path / "whole")
    refined = [line["phase"] for line in metrics_of(tmp_path / "whole")].index("refine")
    for reports in (refined, refined + 1):
        path = tmp_path / str(reports)
        with monkeypatch.context() as patch, pytest.raises(StoppedError):
            stop_after(patch, reports)
            ap.train(env, seed=0, config=REFINING, run_dir=path)
        ap.train(env, run_dir=path, resume=True)
        assert_same_run(path, tmp_path / "whole")


def test_measuring_goals_does_not_change_what_is_learned(
    whole: tuple[Path, ap.Agent], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Every epoch is measured in the one run, and none in the other."""
    monkeypatch.setattr(goal_meter, "FIRST_AFTER", 0.0)
    monkeypatch.setattr(goal_meter, "SHARE", 1e6)
    run(tmp_path / "run", seed=3, config=REPLAYED)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    measured = [line for line in lines if "goals_reached" in line]
    assert len(measured) == 4 and all(0 <= line["goals_reached"] <= 1 for line in measured)
    assert_same_run(tmp_path / "run", whole[0])


@pytest.mark.parametrize("committed", [False, True])
def test_a_run_that_is_killed_while_it_saves_is_resumed_bit_for_bit(
    whole: tuple[Path, ap.Agent], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, committed: bool
):
    """In the third checkpoint, before and after its manifest is in place; no file has its name then."""
    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(recorder, "SECONDS_BETWEEN_SAVES", 0.0)
        rename, renamed = manifest.rename, []

        def killed(old: Path, new: Path) -> None:
            renamed.extend([new] if new.name == manifest.MANIFEST else [])
            if len(renamed) > 4 or (len(renamed) == 4 and (not committed or new.name != manifest.MANIFEST)):
                raise StoppedError
            rename(old, new)

        patch.setattr(manifest, "rename", killed)
        with pytest.raises(StoppedError):
            run(path, seed=3, config=REPLAYED)
    assert RunDirectory(path).notes()["experience"]["end"] == (40 if committed else 20)
    assert manifest.temporary_files(path)
    run(path, resume=True)
    assert not manifest.temporary_files(path)
    assert_same_run(path, whole[0])


def test_what_the_simulator_did_before_it_failed_is_not_replayed_twice(whole: tuple[Path, ap.Agent], tmp_path: Path):
    """It fails in the second rollout of the first epoch of practice, after steps of that epoch were recorded."""
    HostedWorlds.steps_of_all = 0
    with pytest.raises(RuntimeError, match="the simulator fell over"):
        ap.train(Hosted(RING, fails_at=35), run_dir=tmp_path / "run", seed=3, config=REPLAYED)
    run(tmp_path / "run", resume=True)
    assert_same_run(tmp_path / "run", whole[0])


def test_training_continues_in_the_round_that_was_interrupted(whole: tuple[Path, ap.Agent]):
    explored = RunDirectory(whole[0]).progress(WORLD).explored
    assert explored is not None
    assert (explored.steps, explored.round_number) == (160, 1)
    assert first_round(None, REPLAYED) == 0
    # An epoch was longer than what was left of the round: the next one has not begun.
    assert first_round(explored._replace(steps=100, round_number=0), REPLAYED) == 0
    assert first_round(explored._replace(steps=100), REPLAYED) == 1
    # Steps were added to a finished run.
    more = replace(REPLAYED, explore=replace(REPLAYED.explore, steps=400))
    assert first_round(explored, more) == 0


def test_missing_experience_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        stop_after(patch, 1)
        run(tmp_path / "run", seed=3, config=REPLAYED)
    for shard in Dataset(tmp_path / "run").shards.values():
        (tmp_path / "run" / "experience" / shard).unlink()
    with pytest.raises(RunDirectoryError, match=r"000000000\.safetensors is missing"):
        run(tmp_path / "run", resume=True)


def assert_same_agent(one: ap.Agent, other: ap.Agent) -> None:
    np.testing.assert_array_equal(one.table.words, other.table.words)
    np.testing.assert_array_equal(one.table.target, other.table.target)
    np.testing.assert_allclose(one.table.probability, other.table.probability, rtol=1e-6)
    np.testing.assert_array_equal(one.policy.action_head.weight, other.policy.action_head.weight)


def test_the_agent_of_a_run_is_the_one_that_training_returned(whole: tuple[Path, ap.Agent], tmp_path: Path):
    path, agent = whole
    ship(RunDirectory(path), tmp_path / "shipped", WORLD)
    for loaded in (ap.load(path, WORLD), ap.load(tmp_path / "shipped", WORLD)):
        assert_same_agent(loaded, agent)
        episodes = [each.reach({"n": 2}, seed=1, max_steps=10) for each in (agent, loaded)]
        assert episodes[0].steps == episodes[1].steps


def test_the_dataset_of_a_run_holds_its_last_steps(whole: tuple[Path, ap.Agent]):
    dataset = Dataset(whole[0])
    assert dataset.spec == WORLD.spec
    steps = dataset.read()
    assert steps.terminated.shape[1] == 4
    assert steps.size >= 240
    # The ring: action 0 leads on, action 1 back.
    before, after = (
        np.asarray(WORLD.attributes.unpack(each))[..., 0] for each in (steps.attributes, steps.next_attributes)
    )
    np.testing.assert_array_equal(after, (before + np.where(steps.action == 0, 1, -1)) % 5)
    value = np.array([place.values[0] for place in RING.places])
    np.testing.assert_array_equal(value[steps.observation.argmax(axis=-1)], before)
    follows = ~steps.over[:-1]
    np.testing.assert_array_equal(before[1:][follows], after[:-1][follows])
    assert set(np.unique(steps.info.goal)) <= set(range(-1, 5))
    assert steps.over[-1].all()


def test_a_directory_without_experience_is_one_clear_line(tmp_path: Path):
    with pytest.raises(RunDirectoryError, match="holds no recorded experience"):
        Dataset(tmp_path)
