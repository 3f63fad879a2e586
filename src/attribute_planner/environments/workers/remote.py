"""Environments on another machine: a worker without shared memory, which is sent rows and returns rows."""

import math
from dataclasses import replace
from importlib import metadata
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
Reply = tuple[str, Any, Rows | None]


def package_version() -> str:
    """The version of this package that is installed here."""
    try:
        return metadata.version("attribute-planner")
    except metadata.PackageNotFoundError:
        return "not installed"


class RemoteServer:
    """A `WorkerServer` whose arrays are its own. `handle` takes the input rows and returns the output rows."""

    def __init__(self, version: str) -> None:
        WATCHDOG.limit = math.inf  # the learner's process limits the time
        self._learner_version = version
        self._server = WorkerServer()
        self._arrays: dict[int, BatchArrays] = {}

    def handle(self, message: tuple, inputs: Rows | None) -> Reply:
        """The reply to a message, with output rows if it has input rows."""
        kind, *arguments = message
        if kind == "make" and self._learner_version != package_version():
            versions = f"{package_version()} there, {self._learner_version} here"
            return "fault", f"the machines have different versions of attribute-planner: {versions}.", None
        if kind == "open":
            return *self._open(*arguments), None
        if inputs is None:
            return *self._server.handle(message), None
        arrays = self._arrays[arguments[0]]
        for name, rows in inputs.items():
            getattr(arrays, name)[:] = rows
        arrays.finished[:] = False
        kind, result = self._server.handle(message)
        return kind, result, {name: getattr(arrays, name) for name in OUTPUTS}

    def _open(self, number: int, layout: BatchLayout, rows: range) -> tuple[str, Any]:
        arrays = self._arrays[number] = batch_arrays(replace(layout, num_envs=len(rows)))
        return self._server.open(number, lambda bridge: EnvRows(bridge, arrays, range(len(rows)), offset=rows.start))
