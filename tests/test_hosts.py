"""Training on several hosts: processes on the machines of a real Ray cluster, connected by `jax.distributed`."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.data.hosts import require_divisible
from attribute_planner.environments.workers.hosts import free_port, needed_by_host
from attribute_planner.errors import ConfigurationError, RunDirectoryError
from attribute_planner.storage.run_directory import RunDirectory
from tests.probes import RING, TINY, Hosted, new_ring
from tests.ray_clusters import add_machine, kill_machine, ray_cluster
from tests.test_ray_cluster import num_metrics, processes, wait_until

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
def cluster() -> Iterator[Any]:
    """A cluster of two machines."""
    with ray_cluster(machines=2) as started:
        yield started


def assert_same(one: ap.Agent, other: ap.Agent) -> None:
    for name in ("values", "source", "target", "visits", "attempts", "successes"):
        # Without a run directory, an agent comes back in a file with 32-bit numbers.
        before, after = (np.asarray(getattr(each.table, name), np.float32) for each in (one, other))
        assert np.array_equal(before, after), name
    for before, after in zip(jax.tree.leaves(one.policy), jax.tree.leaves(other.policy), strict=True):
        assert np.abs(np.asarray(before) - np.asarray(after)).max() < LARGEST_DIFFERENCE


@needs_ray
@ignores_warnings
@pytest.mark.slow
def test_two_hosts_train_the_agent_of_one(cluster: Any, tmp_path: Path):
    alone, logged = ap.train(RING, config=SMALL), []
    run = tmp_path / "run"
    agent = ap.train(RING, config=SMALL, cluster=cluster.address, num_hosts=2, run_dir=run, logger=logged.append)
    assert_same(alone, agent)
    assert_same(alone, ap.load(run, RING))
    assert sum("practise/success" in each for each in logged) == 2
    assert agent.reach({"n": 3}, seed=0).steps > 0
    wait_until(lambda: not processes("ray::HostServer"))


@needs_ray
@ignores_warnings
@pytest.mark.slow
def test_several_devices_on_each_host_and_a_replay_buffer_change_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XLA_FLAGS", f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count=2")
    for env, config in ((RING, SMALL), (RING, ap.config_for(RING).with_steps(4_000))):
        assert_same(ap.train(env, config=config), ap.train(env, config=config, cluster="local", num_hosts=2))


@needs_ray
@ignores_warnings
@pytest.mark.slow
def test_a_lost_host_ends_the_training_which_can_be_resumed(cluster: Any, tmp_path: Path):
    run = tmp_path / "run"
    with subprocess.Popen(train_command(run, cluster), stderr=subprocess.PIPE, text=True) as training:
        wait_until(lambda: num_metrics(run) > 3)
        kill_machine(cluster)
        said = training.communicate(timeout=60)[1].splitlines()
    assert training.returncode == 1
    assert "The training has ended, because host" in said[-1] and "was lost (Actor" in said[-1]
    wait_until(lambda: not processes("ray::HostServer"))
    before, unfinished = num_metrics(run), RunDirectory(run)
    assert not unfinished.is_finished()
    add_machine(cluster)
    ap.train(new_ring(), run_dir=run, resume=True, steps=12_000, cluster=cluster.address, num_hosts=2)
    assert num_metrics(run) > before and unfinished.is_finished()


@needs_ray
@ignores_warnings
@pytest.mark.slow
def test_an_interrupted_training_is_saved_and_leaves_no_process(cluster: Any, tmp_path: Path):
    run = tmp_path / "run"
    with subprocess.Popen(train_command(run, cluster), stderr=subprocess.PIPE, text=True) as training:
        wait_until(lambda: num_metrics(run) > 3)
        training.send_signal(signal.SIGINT)
        said = training.communicate(timeout=60)[1].splitlines()
    assert "interrupted by SIGINT; what was learned is saved; continue with" in said[-1]
    assert training.returncode == 128 + signal.SIGINT
    assert RunDirectory(run).has_checkpoint
    wait_until(lambda: not processes("ray::HostServer"))


def train_command(run: Path, cluster: Any) -> list[str]:
    program = [sys.executable, "-m", "attribute_planner", "train", "tests.probes:new_ring", "--steps", "1000000"]
    return [*program, "--cluster", cluster.address, "--hosts", "2", "--out", str(run)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"num_hosts": 2}, "num_hosts needs the Ray cluster whose machines train"),
        ({"num_hosts": 0, "cluster": "local"}, "num_hosts must be greater than zero"),
        ({"num_hosts": 2, "cluster": "local", "num_workers": 2}, "cannot be combined with policy, dataset or"),
        ({"cluster": "local"}, "graph is not made by ap.from_gymnasium. It is written in JAX: give num_hosts"),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments: dict[str, Any], words: str):
    with pytest.raises(ConfigurationError, match=words):
        ap.train(RING, config=SMALL, **arguments)


def test_an_environment_on_the_host_is_refused():
    with pytest.raises(ConfigurationError, match="num_hosts=2: hosted is not written in JAX"):
        ap.train(Hosted(RING), config=SMALL, cluster="local", num_hosts=2)


def test_a_run_directory_in_use_is_refused_before_anything_starts(tmp_path: Path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(RunDirectoryError, match="already exists; continue that run with --resume"):
        ap.train(RING, config=SMALL, cluster="local", num_hosts=2, run_dir=tmp_path)


def test_without_ray_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigurationError, match=r"^cluster='local' needs Ray, .* pip install"):
        ap.train(RING, config=SMALL, cluster="local", num_hosts=2)


def test_a_host_has_a_core_and_all_gpus_of_its_machine():
    large, small, head = {"CPU": 64.0, "GPU": 8.0}, {"CPU": 16.0, "GPU": 4.0}, {"GPU": 8.0}
    assert needed_by_host([small, large, head], 1, share_machines=False) == {"CPU": 1, "GPU": 8}
    assert needed_by_host([small, large, head], 2, share_machines=False) == {"CPU": 1, "GPU": 4}
    assert needed_by_host([{"CPU": 2.0}], 1, share_machines=False) == {"CPU": 1, "GPU": 0}
    assert needed_by_host([small], 2, share_machines=True) == {"CPU": 1, "GPU": 2}
    with pytest.raises(ConfigurationError, match="num_hosts is 3, but the Ray cluster has 2 machines with GPUs"):
        needed_by_host([small, large, {"CPU": 8.0}], 3, share_machines=False)
    with pytest.raises(ConfigurationError, match="num_hosts is 3, but this machine has 2 cores"):
        needed_by_host([{"CPU": 2.0}], 3, share_machines=True)


def test_a_port_in_use_is_not_chosen():
    with socket.socket() as used:
        used.bind(("", 0))
        used.listen()
        port = used.getsockname()[1]
        assert free_port([port, port + 1]) == port + 1
        with pytest.raises(ConfigurationError, match=f"All ports from {port} to {port} are in use"):
            free_port([port])


def test_environments_that_cannot_be_divided_are_named(monkeypatch: pytest.MonkeyPatch):
    require_divisible("explore.num_envs", 9)
    monkeypatch.setattr(jax, "process_count", lambda: 2)
    monkeypatch.setattr(jax, "device_count", lambda: 4)
    require_divisible("explore.num_envs", 8)
    with pytest.raises(ConfigurationError, match=r"explore\.num_envs is 9; it must be a multiple of 4"):
        require_divisible("explore.num_envs", 9)
