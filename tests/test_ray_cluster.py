"""A real Ray cluster of three nodes on this machine: workers and runs on it, machines that are killed, a lost head."""

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.environments.workers import pool as pool_module
from attribute_planner.environments.workers.hosts import run_on_hosts
from attribute_planner.environments.workers.running import cluster_workers
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError
from attribute_planner.experiments.cluster import running
from attribute_planner.experiments.cluster.resources import ClusterConfig
from attribute_planner.experiments.cluster.running import run_on_cluster
from attribute_planner.experiments.records import record_path
from tests.environments.test_workers import NUM_ENVS, play
from tests.environments.worker_envs import careless, large, walk
from tests.experiments.cluster_cells import RUNS, complete
from tests.host_task import exchange
from tests.probes import RING
from tests.ray_clusters import add_machine, kill, kill_head, kill_machine, ray_cluster
from tests.test_worker_training import SMALL
from tests.test_worker_training import assert_same as assert_same_agent

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed: the extra ray"),
    pytest.mark.filterwarnings("ignore"),  # Ray's own, of sockets and processes that it leaves to the interpreter
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of a head without cores and two machines with one core each."""
    with ray_cluster(machines=2) as started:
        yield started


def test_a_cluster_steps_as_one_process_and_survives_the_loss_of_a_machine(cluster: Any):
    env = walk()
    expected, lines = play(env), []
    with cluster_workers(env, cluster.address, 2, NUM_ENVS, say=lines.append) as pool:
        assert pool is not None
        assert_same(expected, play(env))
        kill_machine(cluster)
        found = play(env)
        assert pool.metrics()["worker_restarts"] >= 1
        assert found.size == expected.size
        assert_same(expected, play(env))
    assert "was lost" in lines[0] and "it is replaced" in lines[0]
    add_machine(cluster)


def assert_same(expected: Any, found: Any) -> None:
    for before, after in zip(jax.tree.leaves(expected), jax.tree.leaves(found), strict=True):
        assert np.array_equal(before, after)


def test_the_processes_of_two_hosts_exchange_arrays(cluster: Any):
    """It is here, and not among the tests of hosts, because a cluster takes longer to start than this test."""
    shown = []
    with pytest.raises(ConfigurationError, match="num_hosts is 3, but the Ray cluster has 2 machines"):
        ap.train(RING, config=SMALL, cluster=cluster.address, num_hosts=3)
    files = run_on_hosts(cluster.address, 2, exchange, show=lambda *report: shown.append(report))
    assert files == {"numbers": bytes([0, 1])}
    assert shown == [("exchange", 1.0, {"processes": 2})]
    wait_until(lambda: not processes("ray::HostServer"))


@pytest.mark.slow
def test_a_machine_that_is_killed_costs_its_unfinished_runs_only(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    notes, records, said = tmp_path / "notes", tmp_path / "records", []
    notes.mkdir()
    config, noted = ClusterConfig(cluster.address, memory=0.1), partial(complete, notes=notes)
    with pytest.raises(ConfigurationError, match=r"A run needs 1 cores, 0 GPUs and 9999\.0 GiB, which no machine"):
        run_on_cluster(RUNS, noted, ClusterConfig(cluster.address, memory=9999), records, said.append)
    killing = kill_when_started(cluster, notes / "1-0", record_path(records, RUNS[0]))
    run_on_cluster(RUNS, noted, config, records, said.append)
    killing.join()
    assert [record_path(records, run).exists() for run in RUNS] == [True, True, False]
    attempts = sorted(path.name for path in notes.iterdir() if not path.name.startswith("2"))
    assert attempts == ["0-0", "1-0", "1-1"], "what was finished is not done again"
    assert sum("small-cell-1: lost" in line and "it is run again" in line for line in said) == 1
    assert any("small-cell-2: failed" in line and "nothing to measure" in line for line in said)
    monkeypatch.setattr(running, "package_version", lambda: "9.9")
    with pytest.raises(ConfigurationError, match=r"has attribute-planner .*, this one 9\.9: install the same"):
        run_on_cluster(RUNS, noted, config, records, said.append)


def kill_when_started(cluster: Any, note: Path, record: Path) -> threading.Thread:
    """Kill the machine that a note names, when the note and a record are there."""

    def kill() -> None:
        wait_until(lambda: note.exists() and note.read_text() != "" and record.exists())
        kill_machine(cluster, note.read_text())

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread


def wait_until(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


@pytest.mark.slow
def test_a_careless_environment_is_named_and_its_processes_end(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pool_module, "LEAK", 2**26)
    env, lines = careless(tmp_path), []
    here = {int(path.name) for path in tmp_path.iterdir()}
    with cluster_workers(env, cluster.address, 1, 2, say=lines.append):
        for _ in range(3):
            play(env, steps=2)
        there = {int(path.name) for path in tmp_path.iterdir()} - here
    assert ["the memory of a worker process has grown" in line for line in lines] == [True, False]
    assert "careless prints in its worker processes, where it is not shown: 'careless'" in lines[1]
    kill(list(here))
    assert there and not there & processes("sleep")


@pytest.mark.slow
def test_a_full_object_store_is_named():
    env = large()
    with (
        ray_cluster(machines=1, settings={"local_fs_capacity_threshold": 0.001}) as cluster,
        pytest.raises(EnvironmentFaultError, match="The object store of the Ray cluster is full"),
        cluster_workers(env, cluster.address, 1, 4),
    ):
        play(env, steps=2)


@pytest.mark.slow
def test_a_training_survives_a_machine_is_saved_when_the_head_is_lost_and_goes_on_elsewhere(tmp_path: Path):
    run, log = tmp_path / "run", tmp_path / "log"
    with ray_cluster(machines=2) as first, log.open("w") as output:
        training = subprocess.Popen(train_command(run, first), stdout=output, stderr=output)
        wait_until(lambda: num_metrics(run) > 2)
        kill_machine(first)
        wait_until(lambda: "it is replaced" in log.read_text())
        before = num_metrics(run)
        wait_until(lambda: num_metrics(run) > before + 1)
        kill_head(first)
        assert training.wait(50) == 1
    assert "The head of the Ray cluster does not answer any more" in log.read_text().splitlines()[-1]
    before = num_metrics(run)
    with ray_cluster(machines=2) as second:
        subprocess.run([*train_command(run, second), "--resume"], check=True, timeout=300)
    assert num_metrics(run) > before
    assert ap.load(run, walk()).reach({"half": True}, seed=0).steps > 0


def train_command(run: Path, cluster: Any) -> list[str]:
    program = [sys.executable, "-m", "attribute_planner", "train", "tests.environments.worker_envs:walk"]
    return [*program, "--steps", "20000", "--workers", "2", "--cluster", cluster.address, "--out", str(run)]


def num_metrics(run: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return len((run / "metrics.jsonl").read_text().splitlines())
    return 0


@pytest.mark.slow
def test_a_local_cluster_trains_the_same_agent():
    alone = ap.train(walk(), config=SMALL, num_workers=0)
    assert_same_agent(alone, ap.train(walk(), config=SMALL, cluster="local", num_workers=2))


@pytest.mark.slow
def test_an_interrupted_training_leaves_no_process_on_the_cluster(tmp_path: Path):
    with ray_cluster(machines=2) as cluster:
        training = subprocess.Popen(train_command(tmp_path / "run", cluster), stderr=subprocess.PIPE, text=True)
        wait_until(lambda: num_metrics(tmp_path / "run") > 1)
        actors = processes("ray::RemoteServer")
        assert len(actors) >= 2
        training.send_signal(signal.SIGINT)
        assert "what was learned is saved" in training.communicate(timeout=60)[1]
        assert training.returncode == 128 + signal.SIGINT
        wait_until(lambda: not actors & processes("ray::RemoteServer"))


def processes(name: str) -> set[int]:
    """The numbers of the processes whose command line begins with a name."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().startswith(os.fsencode(name)):
                found.add(int(path.parent.name))
    return found
