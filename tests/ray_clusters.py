"""Real Ray clusters on this machine: several nodes, each with processes of its own, which can be killed."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from attribute_planner.environments.workers import cluster as cluster_module
from attribute_planner.environments.workers import head as head_module

BYTES = 80_000_000
"""Of each node's object store; Ray's minimum is slightly less."""


ADDRESSES = (f"127.0.0.{number}" for number in count(2))
"""Each machine has its own, so that this process belongs to the head, which is not killed with a machine."""

LOOKS = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3}
"""The head notices in 3 s that nobody listens at a machine any more; by default that takes 15 s."""


@contextmanager
def ray_cluster(machines: int, settings: dict[str, Any] | None = None) -> Iterator[Any]:
    """A cluster of a head without cores and some machines with one core each.

    settings: further ones of Ray itself.
    """
    ray = pytest.importorskip("ray", reason="Ray is not installed: the extra ray")
    from ray.cluster_utils import Cluster  # pyright: ignore[reportMissingImports]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        patch.delenv("RAY_ADDRESS", raising=False)
        # Ray listens at the address of this machine, which the test session takes for another one.
        for module in (cluster_module, head_module):
            patch.setattr(module, "why_no_answer", lambda address: None)
        system = {**LOOKS, **(settings or {})}
        head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": BYTES, "_system_config": system}
        started = Cluster(initialize_head=True, head_node_args=head)
        try:
            for _ in range(machines):
                add_machine(started)
            yield started
        finally:
            ray.shutdown()
            started.shutdown()


def add_machine(cluster: Any) -> Any:
    """Add a machine with one core."""
    return cluster.add_node(num_cpus=1, object_store_memory=BYTES, node_ip_address=next(ADDRESSES))


def kill_machine(cluster: Any, node_id: str | None = None) -> None:
    """Kill all processes of a machine, by default of any, as a power cut does."""
    node = next(each for each in cluster.worker_nodes if node_id in (None, each.node_id))
    workers = children_of(raylet_of(node))
    cluster.remove_node(node, allow_graceful=False)
    kill(workers)


def kill_head(cluster: Any) -> None:
    """Kill all processes of the head."""
    workers = children_of(raylet_of(cluster.head_node))
    cluster.head_node.kill_all_processes(check_alive=False, allow_graceful=False, wait=False)
    kill(workers)


def raylet_of(node: Any) -> int:
    """The process that starts all others of a node."""
    return node.all_processes["raylet"][0].process.pid


def children_of(parent: int) -> list[int]:
    """The processes that a process has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            found += [int(path.parent.name)] if int(fields[1]) == parent else []
    return found


def kill(processes: list[int]) -> None:
    for each in processes:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
