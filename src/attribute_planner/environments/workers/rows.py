"""The environments of a batch, run by worker processes through shared memory."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchLayout, batch_arrays
from attribute_planner.environments.gymnasium_bridge.env_rows import Operation
from attribute_planner.environments.workers.memory import SharedMemory
from attribute_planner.environments.workers.process import WorkerLostError
from attribute_planner.errors import EnvironmentFaultError

if TYPE_CHECKING:
    from attribute_planner.environments.workers.pool import WorkerPool


class WorkerRows:
    """Rows of a batch; each worker runs a contiguous share of them, one environment after the other.

    If a worker is lost, the episodes in its share are truncated where they are.
    """

    def __init__(self, pool: WorkerPool, number: int, layout: BatchLayout) -> None:
        self._pool, self.number, self.layout = pool, number, layout
        self._memory = SharedMemory(layout.nbytes)
        self.arrays = batch_arrays(layout, self._memory.buffer)
        self.shares = shares(layout.num_envs, pool.num_workers)
        # Rows whose last episode did not end by itself: they say nothing about the health of a worker.
        self._cut = np.ones(layout.num_envs, bool)
        self._messages = {kind: pickle.dumps((kind, number)) for kind in ("reset", "step")}
        self._operation: Operation = "reset"
        self._waiting: list[int] = []

    @property
    def descriptor(self) -> int:
        """The file of the shared memory."""
        return self._memory.fd

    def run(self, operation: Operation) -> None:
        """Reset or step the environments `arrays.which`."""
        self._operation = operation
        self.arrays.finished[:] = False
        self._waiting = [worker for worker, rows in enumerate(self.shares) if self._asked(rows).any()]
        for worker in self._waiting:
            self._pool.send(worker, self._messages[operation])
        self._wait()

    def _wait(self) -> None:
        """Wait for all workers; the first of their faults is raised when all have answered."""
        faults = []
        while self._waiting:
            worker = self._waiting[0]
            try:
                kind, result = self._pool.receive(worker, lambda rows=self.shares[worker]: self._num_finished(rows))
            except WorkerLostError as lost:
                self._pool.replace(worker, lost, self._place(worker))
                if self._operation == "reset":
                    self._reset_again(worker)
                    continue
            else:
                faults += [result] if kind == "fault" else []
                if self._operation == "reset":
                    self._note_ends(worker)
            self._waiting.pop(0)
        if faults:
            raise EnvironmentFaultError(faults[0])

    def cut(self, worker: int) -> None:
        """Truncate the episodes of a worker that was lost."""
        rows = _slice(self.shares[worker])
        self._cut[rows] = True
        self.arrays.truncated[rows] = ~self.arrays.terminated[rows]

    def render(self, row: int) -> np.ndarray:
        worker = next(number for number, rows in enumerate(self.shares) if row in rows)
        return self._pool.call(worker, ("render", self.number, row))

    def close(self) -> None:
        if self._waiting:  # interrupted: replies to come would be taken for others
            self._pool.kill()
        self._pool.forget(self)
        self._memory.close()

    def _asked(self, rows: range) -> np.ndarray:
        return self.arrays.which[_slice(rows)]

    def _num_finished(self, rows: range) -> int:
        return int(self.arrays.finished[_slice(rows)].sum())

    def _place(self, worker: int) -> str:
        """Where a worker was lost: the first environment that is not finished."""
        rows = self.shares[worker]
        unfinished = np.flatnonzero(self._asked(rows) & ~self.arrays.finished[_slice(rows)])
        row = rows.start + (int(unfinished[0]) if len(unfinished) else 0)
        return f"environment {row}, step {self.arrays.age[row]}: env.{self._operation}"

    def _reset_again(self, worker: int) -> None:
        rows = _slice(self.shares[worker])
        self.arrays.truncated[rows] &= ~self.arrays.which[rows]
        self.arrays.finished[rows] = False
        self._pool.send(worker, self._messages["reset"])

    def _note_ends(self, worker: int) -> None:
        """After a reset: if an episode before it was complete, the worker is not failing in a row."""
        rows = _slice(self.shares[worker])
        if (self.arrays.which[rows] & ~self._cut[rows]).any():
            self._pool.note_success(worker)
        self._cut[rows] &= ~self.arrays.which[rows]


def shares(count: int, parts: int) -> list[range]:
    """The numbers 0 to `count` - 1 in contiguous ranges, the first ones longer by one if they are not equal."""
    size, longer = divmod(count, parts)
    starts = [part * size + min(part, longer) for part in range(parts + 1)]
    return [range(begin, end) for begin, end in pairwise(starts)]


def _slice(rows: range) -> slice:
    return slice(rows.start, rows.stop)
