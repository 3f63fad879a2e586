"""A baseline is trained once, kept, and measured as often as one likes."""

from dataclasses import replace
from pathlib import Path

import jax
import pytest

from attribute_planner.baselines import BASELINES
from attribute_planner.environments.registry import make
from attribute_planner.errors import RunDirectoryError
from attribute_planner.experiments import baseline_run
from attribute_planner.experiments.baseline_run import PLAYER, baseline_config, trained_baseline, untrained
from attribute_planner.experiments.runs import REACTIVE, Cell, Measurement, Subject, measured

SHORT = ("school.steps=640", "school.num_envs=16", "school.rollout_length=10", "school.hidden_size=16")
SUBJECT = Subject(
    "probe", "switches", measured(["1-step"], REACTIVE), model="reinforce", regime="1-step", settings=SHORT
)
CELL = Cell(SUBJECT, 2, "small")
ONE_STEP = Measurement("1-step", REACTIVE)


def silent(line: str) -> None:
    """Says nothing."""


@pytest.mark.slow
def test_a_player_is_kept_and_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = trained_baseline(CELL, tmp_path / "run", silent)
    monkeypatch.setattr(baseline_run, "_train", None)
    again = trained_baseline(CELL, tmp_path / "run", silent)
    found, expected = again.evaluate(ONE_STEP, 50, 0), first.evaluate(ONE_STEP, 50, 0)
    assert (found.success, found.episodes, found.max_steps) == (expected.success, 50, expected.max_steps)
    assert again.seconds == first.seconds > 0
    assert again.configuration["config"]["school"]["steps"] == 640
    assert again.curves["trials that succeed"][-1][0] == 640
    other = Cell(replace(SUBJECT, regime="multi-step"), 2, "small")
    with pytest.raises(RunDirectoryError, match="was not trained as cell small-probe-2 is to be"):
        trained_baseline(other, tmp_path / "run", silent)


def test_a_training_that_was_broken_off_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def broken_off(*args, **kwargs):
        raise KeyboardInterrupt

    baseline = replace(BASELINES["reinforce"], train=broken_off)
    with monkeypatch.context() as patch:
        patch.setitem(BASELINES, "reinforce", baseline)
        with pytest.raises(KeyboardInterrupt):
            trained_baseline(CELL, tmp_path, silent)
    assert not (tmp_path / PLAYER).exists()
    trained_baseline(CELL, tmp_path, silent)
    assert (tmp_path / PLAYER).exists()


FITTED_SHORTLY = (
    "examples=4096",
    "copies=64",
    "width=16",
    "learning.steps_per_episode=50",  # it takes some steps to come upon a switch
    "learning.fit.updates=2",
    "learning.fit.batch=16",
)


@pytest.mark.parametrize("model", BASELINES)
@pytest.mark.slow
def test_the_players_of_all_baselines_can_be_filled_anew(model: str):
    settings = FITTED_SHORTLY if model == "inverse" else SHORT
    cell = Cell(replace(SUBJECT, model=model, settings=settings), 0, "small")
    env, config = make("switches"), baseline_config(cell)
    player = BASELINES[model].train(env, "1-step", config, key=jax.random.key(0))
    shapes, trained = jax.tree.leaves(untrained(env, config)), jax.tree.leaves(player)
    assert jax.tree.structure(untrained(env, config)) == jax.tree.structure(player)
    assert [leaf.shape for leaf in shapes] == [leaf.shape for leaf in trained]
