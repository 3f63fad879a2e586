"""Several seeds that train together: each agent is that of its seed alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.data import seeds
from attribute_planner.environments.graph_world import graph_world
from attribute_planner.errors import AttributePlannerError, ConfigurationError, RunDirectoryError
from attribute_planner.several_seeds import SeedDisplays
from attribute_planner.storage.run_directory import RunDirectory
from tests.probes import RING, TINY, Hosted, numbers

PLACES = 80
LONG_RING = graph_world(
    numbers(PLACES),
    [((i,), action, ((i + (1, -1)[action]) % PLACES,)) for i in range(PLACES) for action in (0, 1)],
    episode_steps=20,
)
"""So many places that short explorations find different ones."""

SMALL = replace(
    TINY,
    explore=replace(TINY.explore, steps=480, rollouts_per_epoch=2),
    practise=replace(TINY.practise, steps=960, rollouts_per_epoch=2),
)
"""A few epochs of each phase."""

LARGEST_DIFFERENCE = 1e-4
"""Of a weight: sums are rounded in another order."""


def assert_same(one: ap.Agent, other: ap.Agent) -> None:
    for name in ("values", "source", "target", "visits", "attempts", "successes"):
        before, after = (np.asarray(getattr(each.table, name), np.float32) for each in (one, other))
        assert np.array_equal(before, after), name
    for before, after in zip(jax.tree.leaves(one.policy), jax.tree.leaves(other.policy), strict=True):
        assert np.abs(np.asarray(before) - np.asarray(after)).max(initial=0) < LARGEST_DIFFERENCE


def interrupted_after(monkeypatch: pytest.MonkeyPatch, num_calls: int) -> None:
    stacked, made = seeds.stacked_call, []

    def call(function: Any, calls: Any) -> Any:
        made.append(len(calls))
        if len(made) > num_calls:
            raise KeyboardInterrupt
        return stacked(function, calls)

    monkeypatch.setattr(seeds, "stacked_call", call)


def test_seeds_that_train_together_lead_to_the_agents_of_each_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupted_after(patch, 7)  # a scan and an update in three rollouts, and one epoch of practice
        ap.train_seeds(LONG_RING, seeds=(0, 3), config=SMALL, run_dir=tmp_path)
    assert all(RunDirectory(tmp_path / name).has_checkpoint for name in ("seed-0", "seed-3"))
    logged: list[dict[str, float]] = []
    agents = ap.train_seeds(LONG_RING, seeds=(0, 3), run_dir=tmp_path, resume=True, logger=logged.append)
    alone = [ap.train(LONG_RING, seed=seed, config=SMALL) for seed in (0, 3)]
    assert alone[0].table.num_edges != alone[1].table.num_edges
    for agent, other, seed in zip(agents, alone, (0, 3), strict=True):
        assert_same(agent, other)
        assert_same(ap.load(tmp_path / f"seed-{seed}", LONG_RING), other)
        assert sum(f"seed-{seed}/practise/success" in each for each in logged) == 2


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["dqn", "reinforce", "graph"])
def test_other_learners_and_explorers_lead_to_the_same_agents_too(learner: str):
    config = SMALL
    if learner == "graph":
        config = replace(config, explore=replace(config.explore, policy="graph"))
    else:
        explore = replace(config.explore, policy="frontier" if learner == "dqn" else "count-based", learner="reinforce")
        config = replace(config, explore=explore, practise=replace(config.practise, method=learner))
    agents = ap.train_seeds(LONG_RING, seeds=(0, 3), config=config)
    for seed, agent in zip((0, 3), agents, strict=True):
        assert_same(agent, ap.train(LONG_RING, seed=seed, config=config))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"seeds": ()}, "seeds must have at least one seed"),
        ({"seeds": (1, 2, 1)}, "seeds must differ; 1 is repeated"),
        ({"seeds": (0, -1)}, "each of seeds must be at least zero; it is -1"),
        ({"steps": 0}, "steps must be greater than zero"),
        ({"resume": True}, "resume and tensorboard need the directory of the runs"),
        ({"resume": True, "refine": True, "run_dir": "runs"}, "Resumed runs keep their own settings"),
    ],
)
def test_mistakes_are_one_clear_line(wrong: dict[str, Any], message: str):
    with pytest.raises(ConfigurationError, match=message):
        ap.train_seeds(RING, **{"seeds": (0, 1), **wrong})


def test_an_environment_that_is_not_written_in_jax_is_trained_seed_by_seed():
    with pytest.raises(ConfigurationError, match=r"is not written in JAX.*start one run for each seed"):
        ap.train_seeds(Hosted(RING), seeds=(0, 1))


def test_no_seed_begins_if_a_directory_is_in_use(tmp_path: Path):
    (tmp_path / "seed-1").mkdir()
    (tmp_path / "seed-1" / "notes.txt").write_text("mine")
    with pytest.raises(RunDirectoryError, match="seed-1 already exists"):
        ap.train_seeds(RING, seeds=(0, 1), run_dir=tmp_path)
    with pytest.raises(RunDirectoryError, match="seed-0 is not a run directory"):
        ap.train_seeds(RING, seeds=(0, 1), run_dir=tmp_path, resume=True)
    assert not (tmp_path / "seed-0").exists()


def test_an_error_of_one_seed_names_it(monkeypatch: pytest.MonkeyPatch):
    def train(env: Any, *, seed: int, **arguments: Any) -> Any:
        raise AttributePlannerError("No space." if seed == 1 else "Nothing to practise.")

    monkeypatch.setattr("attribute_planner.several_seeds.train_on_this_host", train)
    with pytest.raises(AttributePlannerError, match=r"^Seed 0: Nothing to practise\.$"):
        ap.train_seeds(RING, seeds=(0, 1))
    with pytest.raises(AttributePlannerError, match=r"^Nothing to practise\.$"):
        ap.train_seeds(RING, seeds=(0, 2))


class Shown:
    """A display that keeps what it shows."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, float, int]] = []

    def show(self, phase: str, done: float, metrics: dict[str, Any]) -> None:
        self.lines.append((phase, done, metrics["seed"]))

    def close(self) -> None: ...


def test_bars_are_those_of_the_seed_that_is_furthest_behind():
    shown = Shown()
    displays = SeedDisplays((0, 1), shown, None)
    for seed, done in ((0, 0.25), (0, 0.5), (1, 0.25), (1, 0.5)):
        displays.of(seed).show("explore", done, {"seed": seed})
    displays.of(0).close()
    displays.of(1).show("explore", 1.0, {"seed": 1})
    assert shown.lines == [("explore", 0.25, 1), ("explore", 0.5, 1), ("explore", 1.0, 1)]
