"""Workers on a Ray cluster: addresses that are wrong, and real small clusters on this machine."""

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchLayout
from attribute_planner.environments.workers import cluster as cluster_module
from attribute_planner.environments.workers.cluster import num_cluster_workers
from attribute_planner.environments.workers.remote import RemoteServer, package_version
from attribute_planner.environments.workers.running import cluster_workers
from attribute_planner.environments.workers.sending import packed
from attribute_planner.errors import ConfigurationError
from tests.environments.test_workers import NUM_ENVS, play
from tests.environments.worker_envs import walk

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed: the extra ray")


def test_without_ray_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(
            ConfigurationError, match=r"^cluster='local' needs Ray, .* pip install \"attribute-planner\[ray\]"
        ),
        cluster_workers(walk(), "local", 2, NUM_ENVS),
    ):
        pass


def test_more_workers_than_cores_are_refused():
    assert num_cluster_workers(None, cores=8, num_envs=5) == 5
    assert num_cluster_workers(2, cores=8, num_envs=5) == 2
    with pytest.raises(ConfigurationError, match="num_workers is 9, but the Ray cluster has 8 cores"):
        num_cluster_workers(9, cores=8, num_envs=16)


def test_other_environments_do_not_run_on_a_cluster():
    words = "cluster='local': switches is not made by ap.from_gymnasium"
    with pytest.raises(ConfigurationError, match=words), cluster_workers(ap.make("switches"), "local", 2, 4):
        pass


@needs_ray
@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("127.0.0.1:1", "No Ray cluster answers at 127.0.0.1:1"),
        ("here", "cluster='here' is not an address: it must be like 10.0.0.1:6379"),
        ("auto", "RAY_ADDRESS is not set"),
    ],
)
def test_a_cluster_that_does_not_answer_is_named(address: str, words: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(ConfigurationError, match=words), cluster_workers(walk(), address, 2, NUM_ENVS):
        pass


def test_a_remote_worker_returns_the_rows_that_it_was_sent():
    env, server = walk(), RemoteServer(package_version())
    assert server.handle(("make", "walk", packed(env.recipe, "walk"), env.encoder.spec), None) == ("done", None, None)
    assert server.handle(("open", 7, BatchLayout(5, ((3,), "float32"), 2, 0), range(3, 5)), None)[0] == "done"
    inputs = {
        "action": np.array([2, 2]),
        "seed": np.array([11, 12]),
        "age": np.zeros(2, np.int64),
        "terminated": np.zeros(2, bool),
        "truncated": np.zeros(2, bool),
        "which": np.array([True, False]),
    }
    kind, _, outputs = server.handle(("reset", 7), inputs)
    assert kind == "done" and outputs is not None and outputs["finished"].tolist() == [True, False]
    kind, _, stepped = server.handle(("step", 7), inputs)
    assert kind == "done" and stepped is not None and stepped["observation"][:, 1].tolist() == [1, 0]
    # What ended an episode is forgotten when the learner says so.
    kind, _, after = server.handle(("reset", 7), {**inputs, "terminated": np.array([False, True])})
    assert after is not None and after["terminated"].tolist() == [False, True]


def test_another_version_of_the_package_is_named():
    kind, words, _ = RemoteServer("9.9").handle(("make", "walk", b"", None), None)
    assert kind == "fault" and f"different versions of attribute-planner: {package_version()} there, 9.9 here" in words


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A cluster of a head without workers and two machines with one core each."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: the extra ray")
    from ray.cluster_utils import Cluster  # pyright: ignore[reportMissingImports]

    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "300")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    # Ray listens at the address of this machine, which the test session takes for another one.
    monkeypatch.setattr(cluster_module, "_require_answer", lambda address: None)
    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        yield started
    finally:
        ray.shutdown()
        started.shutdown()


def assert_same(expected: Any, found: Any) -> None:
    for before, after in zip(jax.tree.leaves(expected), jax.tree.leaves(found), strict=True):
        assert np.array_equal(before, after)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own, of sockets and processes that it leaves to the interpreter
def test_a_cluster_steps_as_one_process_and_survives_the_loss_of_a_machine(cluster: Any, tmp_path: Path):
    env = walk()
    expected, lines = play(env), []
    machines = [cluster.add_node(num_cpus=1) for _ in range(2)]
    with cluster_workers(env, cluster.address, 2, NUM_ENVS, say=lines.append) as pool:
        assert pool is not None
        assert_same(expected, play(env))
        cluster.remove_node(machines[1], allow_graceful=False)
        found = play(env)
        assert pool.metrics()["worker_restarts"] >= 1
        assert found.size == expected.size
        assert_same(expected, play(env))
    assert "was lost" in lines[0] and "it is replaced" in lines[0]


@needs_ray
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_local_cluster_trains_the_same_agent(monkeypatch: pytest.MonkeyPatch):
    from tests.test_worker_training import SMALL
    from tests.test_worker_training import assert_same as assert_same_agent

    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "300")
    alone = ap.train(walk(), config=SMALL, num_workers=0)
    assert_same_agent(alone, ap.train(walk(), config=SMALL, cluster="local", num_workers=2))
