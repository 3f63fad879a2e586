"""Workers on the machines of a Ray cluster."""

from __future__ import annotations

import os
import pickle
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from attribute_planner.environments.faults import first_line
from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchArrays
from attribute_planner.environments.workers.process import SECONDS_TO_END, Batch, WorkerLostError
from attribute_planner.environments.workers.remote import INPUTS, OUTPUTS, RemoteServer, package_version
from attribute_planner.errors import ConfigurationError

LOCAL, AUTO = "local", "auto"
"""A cluster on this machine that ends with the training; and the one that `RAY_ADDRESS` names."""

SECONDS_TO_CONNECT = 5.0


@contextmanager
def connected(cluster: str) -> Iterator[int]:
    """Connect to a Ray cluster: `local`, `auto` or an address. Gives its number of cores."""
    ray = _imported_ray(cluster)
    was_connected = ray.is_initialized()
    if not was_connected:
        _connect(ray, cluster)
    try:
        yield int(ray.cluster_resources().get("CPU", 0))
    finally:
        if not was_connected:
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
    address = os.environ["RAY_ADDRESS"] if cluster == AUTO else cluster
    options: dict[str, Any] = {"log_to_driver": False, "include_dashboard": False}
    if cluster == LOCAL:
        # On this machine, workers find the same modules as this process.
        options["runtime_env"] = {"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}}
    else:
        _require_answer(address)
        options = {"address": address, "log_to_driver": False}
    try:
        ray.init(**options)
    except Exception as error:
        raise ConfigurationError(
            f"The Ray cluster {address} cannot be used: {type(error).__name__}: {first_line(str(error))}"
        ) from error


def _require_answer(address: str) -> None:
    """An error at once, and not after a minute, if nobody listens at the address."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigurationError(f"cluster={address!r} is not an address: it must be like 10.0.0.1:6379, or 'local'.")
    try:
        socket.create_connection((host, int(port)), SECONDS_TO_CONNECT).close()
    except OSError as error:
        raise ConfigurationError(f"No Ray cluster answers at {address}: {first_line(str(error))}.") from error


def num_cluster_workers(wanted: int | None, cores: int, num_envs: int) -> int:
    """As many workers as asked for, or as the cluster has cores; never more than environments."""
    if wanted is not None and wanted > cores:
        raise ConfigurationError(f"num_workers is {wanted}, but the Ray cluster has {cores} cores.")
    return min(cores if wanted is None else wanted, num_envs)


def ray_workers() -> Callable[[], RayWorker]:
    """Starts actors. The first ones reserve a core each; one that replaces another runs wherever there is a machine."""
    started: set[RayWorker] = set()

    def start() -> RayWorker:
        lost = any(each.is_lost for each in started)
        worker = RayWorker(num_cpus=0 if lost else 1)
        started.add(worker)
        return worker

    return start


class RayWorker:
    """A Ray actor that runs environments; the rows of a batch travel with each message."""

    def __init__(self, num_cpus: float) -> None:
        import ray  # pyright: ignore[reportMissingImports]

        self._ray: Any = ray
        actor: Any = ray.remote(num_cpus=num_cpus, scheduling_strategy="SPREAD", max_restarts=0)(RemoteServer)
        self._actor: Any = actor.remote(package_version())
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
            kind, result, outputs = self._ray.get(reference, timeout=timeout * count)
        except self._ray.exceptions.GetTimeoutError:
            self.kill()
            raise WorkerLostError(f"did not answer within {timeout * count:g} s", hung=True) from None
        except self._ray.exceptions.RayError as error:
            self.kill()
            raise WorkerLostError(f"was lost ({_last_line(error)})") from None
        if number is not None:
            arrays, rows = self._batches[number]
            asked = arrays.which[rows]
            for name in OUTPUTS:
                getattr(arrays, name)[rows][asked] = outputs[name][asked]
        return kind, result

    def close(self) -> None:
        if not self.is_lost:
            with suppress(Exception):
                self._ray.get(self._actor.handle.remote(("end",), None), timeout=SECONDS_TO_END)
            self.kill()
            self.is_lost = False

    def kill(self) -> None:
        self.is_lost, self._pending = True, []
        with suppress(Exception):
            self._ray.kill(self._actor)


def _last_line(error: Exception) -> str:
    """The last line of Ray's message, which names the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1][:200] if lines else 'no message'}"
