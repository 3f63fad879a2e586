"""Training with worker processes: the agent does not depend on their number, and the metrics count them."""

import json
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.phases.explore import ExploreConfig
from attribute_planner.phases.practise_config import PractiseConfig
from tests.environments.worker_envs import walk

SMALL = ap.TrainConfig(
    explore=ExploreConfig(steps=320, policy="random", num_envs=4, rollout_length=20, rollouts_per_epoch=2),
    practise=PractiseConfig(
        steps=320, num_envs=4, rollout_length=10, rollouts_per_epoch=4, max_attempt_steps=6, hidden_size=8
    ),
)


def assert_same(one: ap.Agent, other: ap.Agent) -> None:
    for name in ("values", "source", "target", "visits", "attempts", "successes"):
        assert np.array_equal(getattr(one.table, name), getattr(other.table, name)), name
    for before, after in zip(jax.tree.leaves(one.policy), jax.tree.leaves(other.policy), strict=True):
        assert np.array_equal(before, after)


def test_the_agent_does_not_depend_on_the_number_of_workers(tmp_path: Path):
    alone = ap.train(walk(), config=SMALL, num_workers=0)
    shared = ap.train(walk(), config=SMALL, num_workers=3, run_dir=tmp_path / "run")
    assert_same(alone, shared)
    metrics = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert {(line["workers"], line["worker_restarts"]) for line in metrics} == {(3, 0)}
    assert shared.reach({"half": True}, seed=0).steps > 0, "the trained agent runs in this process"


def test_a_worker_that_dies_in_training_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    failing = tmp_path / "failed"
    failing.mkdir()
    ap.train(walk(folder=str(failing), fails="dies"), config=SMALL, num_workers=2, run_dir=tmp_path / "run")
    assert "ended with status 7 (the simulator ran out of floor); it is replaced" in capsys.readouterr().err
    last = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["worker_restarts"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("overlap", [False, True])
def test_an_agent_that_learns_off_policy_does_not_depend_on_it_either(overlap: bool):
    config = ap.config_for(walk()).with_steps(6_000)
    assert config.practise.method == "dqn"
    config = replace(config, practise=replace(config.practise, overlap=overlap))
    alone = ap.train(walk(), config=config, num_workers=0)
    for num_workers in (1, 2, 3):
        assert_same(alone, ap.train(walk(), config=config, num_workers=num_workers))
