"""The same function in one process on each of several machines of a Ray cluster, connected by `jax.distributed`."""

from __future__ import annotations

import pickle
import platform
import random
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypedDict

import cloudpickle

from attribute_planner import errors
from attribute_planner.environments.faults import first_line
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.workers.cluster import LOCAL, connected, last_line
from attribute_planner.environments.workers.head import HeadWatch
from attribute_planner.environments.workers.remote import package_version
from attribute_planner.errors import AttributePlannerError, ConfigurationError, HostLostError
from attribute_planner.interruption import save_all, saved_by

SECONDS_BETWEEN_LOOKS = 0.5

SECONDS_TO_START = 60.0
"""How long to wait until the machines have free cores and GPUs."""

SECONDS_TO_SAVE = 10.0

PORTS = range(20_000, 32_000)
"""For the coordinator of JAX, which crashes if its port is taken. Higher ones are given to any connection, lower
ones are used by Ray."""

SECONDS_TO_NOTICE = 10.0
"""Within so long after a process has failed, Ray knows whether that is because another one is lost."""

Files = dict[str, bytes]

Report = tuple[str, float, dict[str, Any]]
"""A phase, which fraction of it is done, and its metrics."""

Show = Callable[[str, float, dict[str, Any]], None]
"""Is given a report."""

Task = Callable[[Show], Files]
"""What each process does; it must not load arrays before it is called. The files of the first one are returned."""


class Outcome(TypedDict):
    """How the task of a process ended: plain values, which another version of the package can read.

    files: what it returned; empty if it failed.
    error: the name and the message of the exception; `None` if there was none.
    """

    files: Files
    error: tuple[str, str] | None


def packed_environment(env: Environment | str, name: str) -> bytes:
    """An environment, or the function `module:function` that makes it, as bytes for other machines."""
    try:
        return cloudpickle.dumps(env)
    except Exception as error:
        raise ConfigurationError(
            f"{name} cannot be sent to other machines ({type(error).__name__}: {first_line(str(error))}). Give the "
            "name of a function that makes it: module:function."
        ) from error


def unpacked_environment(env: bytes) -> Environment | str:
    """What another process has packed."""
    return pickle.loads(env)


def run_on_hosts(cluster: str, num_hosts: int, task: Task, *, show: Show) -> Files:
    """Run a task in `num_hosts` processes that JAX connects, and return the files of the first one.

    cluster: `local`, `auto` or the address of a Ray cluster.
    show: is given the reports of the first process.
    """
    with connected(cluster) as connection:
        import ray  # pyright: ignore[reportMissingImports]

        machines = [each["Resources"] for each in ray.nodes() if each["Alive"]]
        needed = needed_by_host(machines, num_hosts, share_machines=cluster == LOCAL)
        strategy = "PACK" if cluster == LOCAL else "STRICT_SPREAD"
        with _started(ray, num_hosts, needed, strategy) as hosts:
            return _completed(ray, hosts, task, show, connection.head)


def needed_by_host(
    machines: Sequence[Mapping[str, float]], num_hosts: int, *, share_machines: bool
) -> dict[str, float]:
    """What each process reserves: a core, and all GPUs of its machine if there are any.

    machines: the resources of each machine, by Ray's names.
    share_machines: whether several processes may be on one machine, and divide its GPUs.
    """
    machines = [each for each in machines if each.get("CPU", 0) >= 1]
    gpus = sorted((int(each["GPU"]) for each in machines if each.get("GPU")), reverse=True)
    if share_machines:
        cores = int(sum(each["CPU"] for each in machines))
        if num_hosts > cores:
            raise ConfigurationError(f"num_hosts is {num_hosts}, but this machine has {cores} cores.")
        return {"CPU": 1, "GPU": sum(gpus) // num_hosts}
    available, kind = (len(gpus), "machines with GPUs") if gpus else (len(machines), "machines")
    if num_hosts > available:
        raise ConfigurationError(f"num_hosts is {num_hosts}, but the Ray cluster has {available} {kind}.")
    return {"CPU": 1, "GPU": gpus[num_hosts - 1] if gpus else 0}


@contextmanager
def _started(ray: Any, num_hosts: int, needed: Mapping[str, float], strategy: str) -> Iterator[list[Any]]:
    """Actors, which are killed afterwards with the group of their places."""
    from ray.util.placement_group import placement_group, remove_placement_group  # pyright: ignore
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy  # pyright: ignore

    group = placement_group([{name: amount for name, amount in needed.items() if amount}] * num_hosts, strategy)
    try:
        if not group.wait(SECONDS_TO_START):
            raise ConfigurationError(
                f"num_hosts is {num_hosts}, but not as many machines of the Ray cluster have a core and "
                f"{needed['GPU']:g} GPUs that nobody uses."
            )
        places = [PlacementGroupSchedulingStrategy(group, index) for index in range(num_hosts)]
        amounts = {"num_cpus": needed["CPU"], "num_gpus": needed["GPU"], "max_restarts": 0}
        # Two threads: one for the task, one for reports and for saving.
        yield [
            ray.remote(scheduling_strategy=place, max_concurrency=2, **amounts)(HostServer).remote() for place in places
        ]
    finally:
        with suppress(Exception):  # the cluster may be lost
            remove_placement_group(group)


class HostServer:
    """The process of one host: a Ray actor."""

    def __init__(self) -> None:
        self._reports: list[Report] = []
        self._changed = threading.Condition()

    def about(self) -> tuple[str, str, str]:
        """The name of this machine, its version of this package, and an address that is free for a coordinator."""
        import ray  # pyright: ignore[reportMissingImports]

        return platform.node(), package_version(), f"{ray.util.get_node_ip_address()}:{free_port(PORTS)}"

    def run(self, coordinator: str, num_hosts: int, index: int, task: Task) -> Outcome:
        """Connect this process with the others, and run the task."""
        import jax

        try:
            # With the persistent cache, which only the first process writes, two processes on CPUs have waited for
            # each other in different collective operations.
            jax.config.update("jax_enable_compilation_cache", False)
            jax.distributed.initialize(coordinator, num_hosts, index)
            return Outcome(files=task(self._report), error=None)
        except AttributePlannerError as error:
            return Outcome(files={}, error=(type(error).__name__, str(error)))
        except Exception as error:
            traceback.print_exc()  # into the logs of Ray
            return Outcome(files={}, error=("", f"{type(error).__name__}: {error}"))

    def _report(self, phase: str, done: float, metrics: dict[str, Any]) -> None:
        with self._changed:
            self._reports.append((phase, done, metrics))
            self._changed.notify()

    def reports(self) -> list[Report]:
        """The reports since the last call; waits for one for a moment."""
        with self._changed:
            self._changed.wait_for(lambda: self._reports, SECONDS_BETWEEN_LOOKS)
            taken, self._reports = self._reports, []
        return taken

    def save(self) -> None:
        """Save what the task has learned so far, while it runs."""
        save_all([])


def free_port(ports: Sequence[int]) -> int:
    """One of these ports at which nobody listens, by chance."""
    for port in random.sample(ports, len(ports)):
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("", port))
            return port
    raise ConfigurationError(f"All ports from {ports[0]} to {ports[-1]} are in use on {platform.node()}.")


def _completed(ray: Any, hosts: list[Any], task: Task, show: Show, head: HeadWatch) -> Files:
    """Run the task in all actors. If it does not end in order, what was learned is saved."""
    names, coordinator = _introduced(ray, hosts)
    running = {
        host.run.remote(coordinator, len(hosts), index, task): f"host {index + 1} of {len(hosts)} ({names[index]})"
        for index, host in enumerate(hosts)
    }

    def save() -> None:
        with suppress(ray.exceptions.RayError):
            ray.get(hosts[0].save.remote(), timeout=SECONDS_TO_SAVE)

    with saved_by(save):
        try:
            return _first_files(ray, running, hosts[0], show, head)
        except BaseException:
            if not head.is_lost:
                save()
            raise


def _introduced(ray: Any, hosts: list[Any]) -> tuple[list[str], str]:
    """The names of the machines, and the address of the coordinator; an error if versions differ."""
    about = _answers(ray, [host.about.remote() for host in hosts])
    for name, version, _ in about:
        if version != package_version():
            raise ConfigurationError(
                f"The machine {name} has attribute-planner {version}, this one {package_version()}: "
                "install the same version on all machines."
            )
    return [name for name, *_ in about], about[0][2]


def _answers(ray: Any, references: list[Any]) -> list[Any]:
    try:
        return ray.get(references)
    except ray.exceptions.RayError as error:
        raise HostLostError(f"A process cannot be started on the Ray cluster ({last_line(error)}).") from error


def _first_files(ray: Any, running: Mapping[Any, str], first: Any, show: Show, head: HeadWatch) -> Files:
    """The files of the first process, when it has ended; an error if any of them fails."""
    waiting = list(running)
    while True:
        head.require()
        ended, waiting = ray.wait(waiting, timeout=0.0)
        with suppress(ray.exceptions.RayError):  # if it is lost, so is its task
            for report in ray.get(first.reports.remote(), timeout=SECONDS_TO_NOTICE):
                show(*report)
        for each in ended:
            outcome = _outcome(ray, each, running)
            if outcome["error"] is not None:
                _require_others(ray, outcome["error"][0], waiting, running)
                raise _error(*outcome["error"])
            if each is next(iter(running)):
                return outcome["files"]


def _outcome(ray: Any, reference: Any, running: Mapping[Any, str]) -> Outcome:
    try:
        return ray.get(reference)
    except ray.exceptions.RayError as error:
        raise HostLostError(
            f"The training has ended, because {running[reference]} was lost ({type(error).__name__}). What was saved "
            "is kept: continue with resume."
        ) from None


def _require_others(ray: Any, error: str, waiting: list[Any], running: Mapping[Any, str]) -> None:
    """An error if a process has failed as a consequence of the loss of another one, which Ray notices a little later.

    error: the name of the exception; empty for one that is not of this package.
    """
    until = time.monotonic() + SECONDS_TO_NOTICE
    while not error and waiting and time.monotonic() < until:
        ended, waiting = ray.wait(waiting, timeout=SECONDS_BETWEEN_LOOKS)
        for each in ended:
            _outcome(ray, each, running)


def _error(name: str, message: str) -> AttributePlannerError:
    """The exception of a process."""
    if not name:
        return AttributePlannerError(f"The training on several hosts has failed: {message}")
    kind = getattr(errors, name, AttributePlannerError)
    return AttributePlannerError(message) if kind is errors.StorageError else kind(message)
