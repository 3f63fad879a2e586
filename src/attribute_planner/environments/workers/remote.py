"""Environments on another machine: a worker without shared memory, which is sent rows and returns rows."""

import math
import os
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchArrays, BatchLayout, batch_arrays
from attribute_planner.environments.gymnasium_bridge.env_rows import EnvRows
from attribute_planner.environments.watchdog import WATCHDOG
from attribute_planner.environments.workers.worker import WorkerServer

INPUTS = ("action", "seed", "age", "terminated", "truncated", "which")
OUTPUTS = ("observation", "values", "terminated", "truncated", "finished")
"""The arrays of a batch that go to a worker, and those that come back."""

Rows = dict[str, np.ndarray]

Condition = tuple[int, list[str]]
"""Bytes of memory that a worker uses (0 if the system does not tell), and the first line that it printed, if any."""

Reply = tuple[str, Any, Rows | Condition | None]


def package_version() -> str:
    """The version of this package that is installed here."""
    try:
        return metadata.version("attribute-planner")
    except metadata.PackageNotFoundError:
        return "not installed"


class RemoteServer:
    """A `WorkerServer` whose arrays are its own. `handle` takes the input rows and returns the output rows."""

    def __init__(self, version: str, *, notes_output: bool = False) -> None:
        WATCHDOG.limit = math.inf  # the learner's process limits the time
        self._printed: list[str] = []
        if notes_output:
            sys.stdout, sys.stderr = (NotedStream(each, self._printed) for each in (sys.stdout, sys.stderr))
        self._learner_version = version
        self._server = WorkerServer()
        self._arrays: dict[int, BatchArrays] = {}

    def handle(self, message: tuple, inputs: Rows | None) -> Reply:
        """The reply to a message, with output rows if it has input rows, or with the condition of this process."""
        kind, *arguments = message
        if kind == "make" and self._learner_version != package_version():
            versions = f"{package_version()} there, {self._learner_version} here"
            return "fault", f"the machines have different versions of attribute-planner: {versions}.", None
        if kind == "open":
            return *self._open(*arguments), None
        if inputs is None:
            reply = self._server.handle(message)
            if kind == "end":
                end_children()
            return *reply, (memory_used(), self._printed)
        arrays = self._arrays[arguments[0]]
        for name, rows in inputs.items():
            getattr(arrays, name)[:] = rows
        arrays.finished[:] = False
        kind, result = self._server.handle(message)
        return kind, result, {name: getattr(arrays, name) for name in OUTPUTS}

    def _open(self, number: int, layout: BatchLayout, rows: range) -> tuple[str, Any]:
        arrays = self._arrays[number] = batch_arrays(replace(layout, num_envs=len(rows)))
        return self._server.open(number, lambda bridge: EnvRows(bridge, arrays, range(len(rows)), offset=rows.start))


class NotedStream:
    """A stream of text that also notes the first line that is not empty.

    noted: where the line is added, unless there is one.
    """

    def __init__(self, stream: Any, noted: list[str]) -> None:
        self._stream, self._noted, self._begun = stream, noted, ""

    def write(self, text: str) -> int:
        """Write a text."""
        if not self._noted:
            self._begun += text[:MOST_CHARACTERS]
            *complete, self._begun = self._begun.split("\n")
            self._noted += [line.strip() for line in complete if line.strip()][:1]
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


MOST_CHARACTERS = 2_000


def memory_used() -> int:
    """Bytes of memory that this process uses; 0 if the system does not tell."""
    with suppress(OSError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def end_children() -> None:
    """Kill the processes that the environments have started."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid():
                os.kill(int(path.parent.name), signal.SIGKILL)
