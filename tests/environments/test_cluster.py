"""Workers on a Ray cluster, as far as none is needed: addresses that are wrong, and what a worker returns."""

import importlib.util
import io
import sys

import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchLayout
from attribute_planner.environments.workers.cluster import num_cluster_workers
from attribute_planner.environments.workers.remote import NotedStream, RemoteServer, package_version
from attribute_planner.environments.workers.running import cluster_workers
from attribute_planner.environments.workers.sending import packed
from attribute_planner.errors import ConfigurationError
from tests.environments.test_workers import NUM_ENVS
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
    made = server.handle(("make", "walk", packed(env.recipe, "walk"), env.encoder.spec), None)
    assert made[:2] == ("done", None) and isinstance(made[2], tuple) and made[2][0] > 2**20
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
    assert kind == "done" and isinstance(outputs, dict) and outputs["finished"].tolist() == [True, False]
    kind, _, stepped = server.handle(("step", 7), inputs)
    assert kind == "done" and isinstance(stepped, dict) and stepped["observation"][:, 1].tolist() == [1, 0]
    # What ended an episode is forgotten when the learner says so.
    kind, _, after = server.handle(("reset", 7), {**inputs, "terminated": np.array([False, True])})
    assert isinstance(after, dict) and after["terminated"].tolist() == [False, True]


def test_another_version_of_the_package_is_named():
    kind, words, _ = RemoteServer("9.9").handle(("make", "walk", b"", None), None)
    assert kind == "fault" and f"different versions of attribute-planner: {package_version()} there, 9.9 here" in words


def test_the_first_line_that_is_printed_is_noted():
    written, noted = io.StringIO(), []
    for stream in (NotedStream(written, noted), NotedStream(written, noted)):
        print("\n", end="", file=stream)
        print("wel", "come", sep="", file=stream)
        print("again", file=stream)
    assert noted == ["welcome"]
    assert written.getvalue() == 2 * "\nwelcome\nagain\n"
