"""The worker processes of an environment: they are started, given work, replaced when they are lost, and ended."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchLayout
from attribute_planner.environments.gymnasium_bridge.bridge import Recipe
from attribute_planner.environments.space_specs import FlatSpec
from attribute_planner.environments.workers.process import Worker, WorkerLostError, WorkerProcess
from attribute_planner.environments.workers.rows import WorkerRows
from attribute_planner.environments.workers.sending import packed
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError

START_SECONDS = 300.0
"""A worker has this time to start, in addition to the time limit for making each environment."""

MOST_IN_A_ROW = 3
"""A worker that is lost this often, without a complete episode in between, is an error."""

MOST_LINES = 10
"""Number of losses that are reported in a line each; all are counted."""

LEAK = 2**30
"""Bytes by which the memory of a worker may grow after its first batch before a line says so."""


@dataclass(eq=False)
class Workers:
    """The worker processes that run an environment; `None` while it runs in this process."""

    running: WorkerPool | None = None


class WorkerPool:
    """`num_workers` processes that run environments made from a recipe.

    new_worker: starts a worker; by default a process on this machine.
    num_restarts, num_timeouts: workers replaced so far, and how many of them because they did not answer.
    """

    def __init__(
        self,
        name: str,
        recipe: Recipe,
        spec: FlatSpec,
        num_workers: int,
        *,
        step_timeout: float,
        say: Callable[[str], Any] | None = None,
        new_worker: Callable[[], Worker] | None = None,
    ) -> None:
        self.name, self.num_workers, self.step_timeout = name, num_workers, step_timeout
        self.num_restarts = self.num_timeouts = 0
        self._message = pickle.dumps(("make", name, packed(recipe, name), spec))
        self._say = say or _to_stderr
        self._lost_in_a_row = [0] * num_workers
        self._first_memory: int | None = None
        self._open: dict[int, WorkerRows] = {}
        self._opened = 0
        self._new_worker = new_worker or WorkerProcess
        self._workers: list[Worker] = []
        is_ready = False
        try:
            self._workers += [self._new_worker() for _ in range(num_workers)]
            for worker in self._workers:  # all make their first environment at the same time
                worker.send(self._message)
            for number in range(num_workers):
                self._made(number)
            is_ready = True
        except WorkerLostError as lost:
            raise ConfigurationError(f"{name} cannot be made in a worker process: the process {lost}.") from None
        finally:
            if not is_ready:
                self.kill()

    @property
    def workers(self) -> tuple[Worker, ...]:
        """The workers."""
        return tuple(self._workers)

    def metrics(self) -> dict[str, int]:
        """What is counted."""
        return {
            "workers": self.num_workers,
            "worker_restarts": self.num_restarts,
            "worker_timeouts": self.num_timeouts,
        }

    def open(self, layout: BatchLayout) -> WorkerRows:
        """A batch of environments, divided among the workers."""
        self._opened += 1
        batch = self._open[self._opened] = WorkerRows(self, self._opened, layout)
        for number in range(self.num_workers):
            self._workers[number].open(batch, batch.shares[number])
        self._finish_all("making environments", self._seconds_to_make(len(batch.shares[0])))
        return batch

    def forget(self, batch: WorkerRows) -> None:
        """Close a batch; the workers keep its environments for the next one."""
        if self._open.pop(batch.number, None) is None:
            return
        for number in range(self.num_workers):
            self.send(number, pickle.dumps(("close", batch.number)))
        self._finish_all("closing environments")
        self._note_memory()

    def send(self, number: int, message: bytes) -> None:
        """Send a pickled message to a worker."""
        self._workers[number].send(message)

    def receive(self, number: int, progress: Callable[[], int]) -> tuple[str, Any]:
        """The reply of a worker to the oldest message; it is lost if nothing advances `progress` in time."""
        return self._workers[number].receive(self.step_timeout, progress)

    def call(self, number: int, message: tuple) -> Any:
        """Send a message that changes nothing, and return the result."""
        self.send(number, pickle.dumps(message))
        try:
            return self._finish(number)
        except WorkerLostError as lost:
            self.replace(number, lost, str(message[0]))
            raise EnvironmentFaultError(f"{self.name}: {message[0]}: the worker process {lost}.") from None

    def replace(self, number: int, lost: WorkerLostError, place: str) -> None:
        """Start another worker in place of one that is lost; the episodes that it ran are cut."""
        while True:
            self._note_loss(number, lost, place)
            self._workers[number].kill()
            for batch in self._open.values():
                batch.cut(number)
            self._workers[number] = self._new_worker()
            self.send(number, self._message)
            try:
                self._made(number)
                for batch in self._open.values():
                    self._workers[number].open(batch, batch.shares[number])
                    self._finish(number, self._seconds_to_make(len(batch.shares[number])))
                return
            except WorkerLostError as again:
                lost, place = again, "making environments"

    def note_success(self, number: int) -> None:
        """A worker has run a complete episode."""
        self._lost_in_a_row[number] = 0

    def close(self) -> None:
        """End all processes. A line says so if the environment printed anything, because that was not shown."""
        for worker in self._workers:
            worker.close()
        printed = next((line for worker in self._workers for line in worker.printed), None)
        if printed is not None:
            self._say(f"{self.name} prints in its worker processes, where it is not shown: {printed!r}")
        self._workers, self._open = [], {}

    def kill(self) -> None:
        """End all processes at once."""
        for worker in self._workers:
            worker.kill()
        self._workers, self._open = [], {}

    def _made(self, number: int) -> None:
        try:
            self._finish(number, self._seconds_to_make(1))
        except EnvironmentFaultError as error:
            raise ConfigurationError(f"{self.name} cannot be made in a worker process: {error}") from error

    def _seconds_to_make(self, num_envs: int) -> float:
        return START_SECONDS + num_envs * self.step_timeout

    def _finish_all(self, place: str, timeout: float | None = None) -> None:
        """Wait for all workers; the first of their faults is raised when all have answered."""
        faults = []
        for number in range(self.num_workers):
            try:
                self._finish(number, timeout)
            except WorkerLostError as lost:
                self.replace(number, lost, place)
            except EnvironmentFaultError as fault:
                faults.append(fault)
        if faults:
            raise faults[0]

    def _finish(self, number: int, timeout: float | None = None) -> Any:
        kind, result = self._workers[number].receive(timeout or self.step_timeout)
        if kind == "unsupported":
            raise NotImplementedError(result)
        if kind == "fault":
            raise EnvironmentFaultError(result)
        return result

    def _note_memory(self) -> None:
        """Say once if the workers need more and more memory."""
        memory = max(worker.memory for worker in self._workers)
        if self._first_memory is None:
            self._first_memory = memory
        elif 0 < self._first_memory < memory - LEAK:
            first, now = (round(each / 2**20) for each in (self._first_memory, memory))
            self._say(f"{self.name}: the memory of a worker process has grown from {first:,} to {now:,} MiB.")
            self._first_memory = 0

    def _note_loss(self, number: int, lost: WorkerLostError, place: str) -> None:
        self.num_restarts += 1
        self.num_timeouts += lost.hung
        self._lost_in_a_row[number] += 1
        if self._lost_in_a_row[number] >= MOST_IN_A_ROW:
            raise EnvironmentFaultError(
                f"{self.name}: {place}: a worker process was lost {MOST_IN_A_ROW} times in a row; the last one {lost}."
            )
        if self.num_restarts <= MOST_LINES:
            further = " Further ones are only counted." if self.num_restarts == MOST_LINES else ""
            self._say(
                f"{self.name}: {place}: worker process {number} {lost}; it is replaced, and its episodes are cut."
                f"{further}"
            )


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)
