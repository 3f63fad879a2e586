"""A baseline is trained once, stored, and measured from its run directory."""

from dataclasses import replace
from pathlib import Path

import jax
import pytest

from attribute_planner.baselines import BASELINES
from attribute_planner.environments.registry import make
from attribute_planner.errors import RunDirectoryError
from attribute_planner.experiments import baseline_run
from attribute_planner.experiments.baseline_run import POLICY, baseline_config, trained_baseline, untrained
from attribute_planner.experiments.runs import REACTIVE, Measurement, Run, RunSpec, measured

SHORT = ("training.steps=640", "training.num_envs=16", "training.rollout_length=10", "training.hidden_size=16")
RUN_SPEC = RunSpec(
    "probe",
    "switches",
    measured(["1-step"], REACTIVE),
    model="reinforce",
    training_distribution="1-step",
    settings=SHORT,
)
RUN = Run(RUN_SPEC, 2, "small")
ONE_STEP = Measurement("1-step", REACTIVE)


def silent(line: str) -> None:
    """Says nothing."""


@pytest.mark.slow
def test_a_player_is_kept_and_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = trained_baseline(RUN, tmp_path / "run", silent)
    monkeypatch.setattr(baseline_run, "_train", None)
    again = trained_baseline(RUN, tmp_path / "run", silent)
    found, expected = again.evaluate(ONE_STEP, 50, 0), first.evaluate(ONE_STEP, 50, 0)
    assert (found.success, found.episodes, found.max_steps) == (expected.success, 50, expected.max_steps)
    assert again.seconds == first.seconds > 0
    assert again.configuration["config"]["training"]["steps"] == 640
    assert again.curves["episodes that succeed"][-1][0] == 640
    other = Run(replace(RUN_SPEC, training_distribution="multi-step"), 2, "small")
    with pytest.raises(RunDirectoryError, match="was trained with other settings than run small-probe-2"):
        trained_baseline(other, tmp_path / "run", silent)


def test_an_interrupted_training_starts_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def broken_off(*args, **kwargs):
        raise KeyboardInterrupt

    baseline = replace(BASELINES["reinforce"], train=broken_off)
    with monkeypatch.context() as patch:
        patch.setitem(BASELINES, "reinforce", baseline)
        with pytest.raises(KeyboardInterrupt):
            trained_baseline(RUN, tmp_path, silent)
    assert not (tmp_path / POLICY).exists()
    trained_baseline(RUN, tmp_path, silent)
    assert (tmp_path / POLICY).exists()


FITTED_SHORTLY = (
    "examples=4096",
    "num_envs=64",
    "hidden_size=16",
    "steps_per_episode=50",  # it takes some steps to reach a switch
    "learning.fit.updates=2",
    "learning.fit.batch=16",
)


@pytest.mark.parametrize("model", BASELINES)
@pytest.mark.slow
def test_the_policies_of_all_baselines_can_be_loaded(model: str):
    settings = FITTED_SHORTLY if model == "inverse" else SHORT
    run = Run(replace(RUN_SPEC, model=model, settings=settings), 0, "small")
    env, config = make("switches"), baseline_config(run)
    policy = BASELINES[model].train(env, "1-step", config, key=jax.random.key(0))
    shapes, trained = jax.tree.leaves(untrained(env, config)), jax.tree.leaves(policy)
    assert jax.tree.structure(untrained(env, config)) == jax.tree.structure(policy)
    assert [leaf.shape for leaf in shapes] == [leaf.shape for leaf in trained]
