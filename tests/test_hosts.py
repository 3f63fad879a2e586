"""Training on several hosts: processes on the machines of a real Ray cluster, connected by `jax.distributed`."""

import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.data.hosts import require_divisible
from attribute_planner.environments.workers.hosts import needed_by_host
from attribute_planner.errors import ConfigurationError, RunDirectoryError
from tests.probes import RING, TINY, Hosted, new_ring
from tests.ray_clusters import ray_cluster

SMALL = replace(
    TINY,
    explore=replace(TINY.explore, steps=800),
    practise=replace(TINY.practise, steps=640, rollouts_per_epoch=2),
)
"""A few epochs of each phase."""

LARGEST_DIFFERENCE = 1e-4
"""Of a weight: sums over several devices are rounded in another order."""

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed: the extra ray")
ignores_warnings = pytest.mark.filterwarnings("ignore")  # Ray's own, of sockets and processes


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A cluster of two machines, whose processes have the settings of the test session."""
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(jax.config.values["jax_compilation_cache_dir"]))
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.05")
    with ray_cluster(machines=2) as started:
        yield started


def assert_same(one: ap.Agent, other: ap.Agent) -> None:
    for name in ("values", "source", "target", "visits", "attempts", "successes"):
        assert np.array_equal(getattr(one.table, name), getattr(other.table, name)), name
    for before, after in zip(jax.tree.leaves(one.policy), jax.tree.leaves(other.policy), strict=True):
        assert np.abs(np.asarray(before) - np.asarray(after)).max() < LARGEST_DIFFERENCE


@needs_ray
@ignores_warnings
def test_two_hosts_train_the_agent_of_one(cluster: Any, tmp_path: Path):
    alone, logged = ap.train(RING, config=SMALL), []
    run = tmp_path / "run"
    with pytest.raises(ConfigurationError, match="num_hosts is 3, but the Ray cluster has 2 machines"):
        ap.train(RING, config=SMALL, cluster=cluster.address, num_hosts=3)
    agent = ap.train(RING, config=SMALL, cluster=cluster.address, num_hosts=2, run_dir=run, logger=logged.append)
    assert_same(alone, agent)
    assert_same(alone, ap.load(run, RING))
    assert sum("practise/success" in each for each in logged) == 2
    assert agent.reach({"n": 3}, seed=0).steps > 0
