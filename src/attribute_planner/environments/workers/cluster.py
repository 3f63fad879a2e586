"""Workers on the machines of a Ray cluster."""

from __future__ import annotations

import atexit
import os
import pickle
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from attribute_planner.environments.faults import first_line
from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchArrays
from attribute_planner.environments.workers.head import HeadWatch, why_no_answer
from attribute_planner.environments.workers.process import SECONDS_TO_END, Batch, WorkerLostError
from attribute_planner.environments.workers.remote import INPUTS, OUTPUTS, RemoteServer, package_version
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError

LOCAL, AUTO = "local", "auto"
"""A cluster on this machine that ends with the training; and the one that `RAY_ADDRESS` names."""

CLIENT = "ray://"
"""Before the address of a cluster that this machine is no part of."""

LOOK_SECONDS = 1.0
"""How often to look whether the head is lost while a worker does not answer."""


@dataclass(frozen=True)
class Connection:
    """A cluster that this process is connected to.

    cores: its number of cores.
    head: tells whether its head is lost.
    """

    cores: int
    head: HeadWatch


@contextmanager
def connected(cluster: str) -> Iterator[Connection]:
    """Connect to a Ray cluster: `local`, `auto` or an address."""
    ray = _imported_ray(cluster)
    was_connected = ray.is_initialized()
    if not was_connected:
        _connect(ray, cluster)
    head = HeadWatch(_head_address(ray, cluster))
    try:
        with head.looking():
            yield Connection(int(ray.cluster_resources().get("CPU", 0)), head)
    finally:
        if head.is_lost:  # Ray would wait for it for a minute, and then end the process
            atexit.unregister(ray.shutdown)
        elif not was_connected:
            ray.shutdown()


def _imported_ray(cluster: str) -> Any:
    try:
        import ray  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise ConfigurationError(
            f'cluster={cluster!r} needs Ray, which is not installed: pip install "attribute-planner[ray]".'
        ) from None
    return ray


def _connect(ray: Any, cluster: str) -> None:
    if cluster == AUTO and not os.environ.get("RAY_ADDRESS"):
        raise ConfigurationError("cluster='auto': RAY_ADDRESS is not set; give the address of the cluster, or 'local'.")
    address = _address(cluster)
    options: dict[str, Any] = {}
    if cluster == LOCAL:
        # On this machine, workers find the same modules as this process.
        modules = {"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}}
        options = {"include_dashboard": False, "runtime_env": modules}
    else:
        _require_answer(address)
    try:
        with warnings.catch_warnings():
            # JAX warns of forked processes; Ray's execute another program at once.
            warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called", category=RuntimeWarning)
            ray.init(address=address, log_to_driver=False, logging_level="warning", **options)
    except Exception as error:
        raise ConfigurationError(
            f"The Ray cluster {address} cannot be used: {type(error).__name__}: {first_line(str(error))}"
        ) from error


def _address(cluster: str) -> str:
    return os.environ.get("RAY_ADDRESS", AUTO) if cluster == AUTO else cluster


def _head_address(ray: Any, cluster: str) -> str:
    """Where the head listens; for a client, where it is connected to."""
    address = _address(cluster)
    if address.startswith(CLIENT):
        return address.removeprefix(CLIENT)
    return ray.get_runtime_context().gcs_address


def _require_answer(address: str) -> None:
    """An error at once, and not after a minute, if nobody listens at the address."""
    host, _, port = address.removeprefix(CLIENT).rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigurationError(f"cluster={address!r} is not an address: it must be like 10.0.0.1:6379, or 'local'.")
    error = why_no_answer(address.removeprefix(CLIENT))
    if error is not None:
        raise ConfigurationError(f"No Ray cluster answers at {address}: {first_line(str(error))}.") from error


def num_cluster_workers(wanted: int | None, cores: int, num_envs: int) -> int:
    """As many workers as asked for, or as the cluster has cores; never more than environments."""
    if wanted is not None and wanted > cores:
        raise ConfigurationError(f"num_workers is {wanted}, but the Ray cluster has {cores} cores.")
    return min(cores if wanted is None else wanted, num_envs)


def ray_workers(head: HeadWatch) -> Callable[[], RayWorker]:
    """Starts actors. The first ones reserve a core each; one that replaces another runs wherever there is a machine."""
    started: set[RayWorker] = set()

    def start() -> RayWorker:
        lost = any(each.is_lost for each in started)
        worker = RayWorker(head, num_cpus=0 if lost else 1)
        started.add(worker)
        return worker

    return start


class RayWorker:
    """A Ray actor that runs environments; the rows of a batch travel with each message."""

    def __init__(self, head: HeadWatch, num_cpus: float) -> None:
        import ray  # pyright: ignore[reportMissingImports]

        self._ray, self._head = ray, head
        actor: Any = ray.remote(num_cpus=num_cpus, scheduling_strategy="SPREAD", max_restarts=0)(RemoteServer)
        self._actor: Any = actor.remote(package_version(), notes_output=True)
        self._batches: dict[int, tuple[BatchArrays, slice]] = {}
        self._pending: list[tuple[Any, int | None]] = []
        self.printed: list[str] = []
        self.memory = 0
        self.is_lost = False

    def send(self, message: bytes) -> None:
        kind, *arguments = pickle.loads(message)
        number, inputs = None, None
        if kind in ("reset", "step"):
            number = arguments[0]
            arrays, rows = self._batches[number]
            inputs = {name: np.array(getattr(arrays, name)[rows]) for name in INPUTS}
        elif kind == "close":
            self._batches.pop(arguments[0])
        self._pending.append((self._actor.handle.remote((kind, *arguments), inputs), number))

    def open(self, batch: Batch, rows: range) -> None:
        self._batches[batch.number] = batch.arrays, slice(rows.start, rows.stop)
        message = ("open", batch.number, batch.layout, rows)
        self._pending.append((self._actor.handle.remote(message, None), None))

    def receive(self, timeout: float, progress: Callable[[], int] = lambda: 0) -> tuple[str, Any]:
        del progress  # not visible from here: the time limit is for all rows together
        reference, number = self._pending.pop(0)
        count = 1 if number is None else max(self._batches[number][1].stop - self._batches[number][1].start, 1)
        try:
            kind, result, outputs = self._reply(reference, timeout * count)
        except self._ray.exceptions.GetTimeoutError:
            self.kill()
            raise WorkerLostError(f"did not answer within {timeout * count:g} s", hung=True) from None
        except self._ray.exceptions.RayError as error:
            self.kill()
            if is_full(self._ray, error):
                raise EnvironmentFaultError(
                    "The object store of the Ray cluster is full, and so is its disk. Start Ray with a larger "
                    f"--object-store-memory, or train with fewer num_envs ({last_line(error)})."
                ) from None
            raise WorkerLostError(f"was lost ({last_line(error)})") from None
        if number is not None:
            arrays, rows = self._batches[number]
            asked = arrays.which[rows]
            for name in OUTPUTS:
                getattr(arrays, name)[rows][asked] = outputs[name][asked]
        elif outputs is not None:
            self.memory, self.printed = outputs
        return kind, result

    def _reply(self, reference: Any, timeout: float) -> Any:
        """What the actor returns. It may do so after the head is lost, but no worker could be replaced."""
        until = time.monotonic() + timeout
        while True:
            self._head.require()
            left = until - time.monotonic()
            try:
                return self._ray.get(reference, timeout=max(min(left, LOOK_SECONDS), 0))
            except self._ray.exceptions.GetTimeoutError:
                if left <= LOOK_SECONDS:
                    raise

    def close(self) -> None:
        if not (self.is_lost or self._head.is_lost):
            with suppress(Exception):
                self._pending = [(self._actor.handle.remote(("end",), None), None)]
                self.receive(SECONDS_TO_END)
            self.kill()
            self.is_lost = False

    def kill(self) -> None:
        self.is_lost, self._pending = True, []
        if not self._head.is_lost:
            with suppress(Exception):
                self._ray.kill(self._actor)


def is_full(ray: Any, error: Exception) -> bool:
    """Whether an actor could not return its rows because there was no room for them."""
    full = (ray.exceptions.ObjectStoreFullError, ray.exceptions.OutOfDiskError)
    return isinstance(error, full) or isinstance(getattr(error, "cause", None), full)


def last_line(error: Exception) -> str:
    """The last line of Ray's message, which names the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1][:200] if lines else 'no message'}"
