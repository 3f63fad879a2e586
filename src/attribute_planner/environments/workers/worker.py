"""The program of a worker process: it makes environments, and resets and steps them when told to.

It imports neither JAX nor the learner. It ends with the process that started it, also if that one is killed.
"""

import faulthandler
import math
import mmap
import os
import pickle
import signal
import socket
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from attribute_planner.environments.faults import first_line
from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchLayout, batch_arrays
from attribute_planner.environments.gymnasium_bridge.bridge import Bridge, build_bridge
from attribute_planner.environments.gymnasium_bridge.env_rows import EnvRows
from attribute_planner.environments.seen_from_agent import markers_in
from attribute_planner.environments.space_specs import FlatSpec
from attribute_planner.environments.watchdog import WATCHDOG
from attribute_planner.environments.workers.sending import unpacked
from attribute_planner.errors import AttributePlannerError, EnvironmentFaultError

Reply = tuple[str, Any]
"""`done` and a result; or `fault` or `unsupported`, and a line of text."""

DONE = pickle.dumps(("done", None))
"""The reply to a reset or step."""


def main(channel: int, lifeline: int) -> None:
    """Serve the learner.

    channel: number of the socket on which messages arrive.
    lifeline: number of a pipe that nobody writes to; it ends when the learner's process does.
    """
    faulthandler.enable()
    _yield_to_learner()
    WATCHDOG.limit = math.inf  # the learner's process limits the time
    for each in (channel, lifeline):
        os.set_inheritable(each, False)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    server = WorkerServer()
    with socket.socket(fileno=channel) as stream:
        connection = Connection(os.dup(channel))
        while True:
            try:
                message = connection.recv()
                if message[0] == "open":
                    kind, result = _open(server, _received_descriptor(stream), *message[1:])
                else:
                    kind, result = server.handle(message)
                is_plain = kind == "done" and result is None
                connection.send_bytes(DONE if is_plain else pickle.dumps((kind, result)))
            except (EOFError, OSError):
                return
            if message[0] == "end":
                return


def _yield_to_learner() -> None:
    """Do not interrupt other processes to begin with a message.

    Otherwise the first worker that is sent a message may take the core of the learner, which then sends the others
    theirs too late.
    """
    if hasattr(os, "SCHED_BATCH"):  # Linux
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def _end_with(lifeline: int) -> None:
    """Wait until the learner's process has ended; then end this one, and those that the environments started."""
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


def _open(server: "WorkerServer", descriptor: int, number: int, layout: BatchLayout, rows: range) -> "Reply":
    """Open rows of a batch in the memory that a file has."""
    try:
        buffer = mmap.mmap(descriptor, layout.nbytes)
    finally:
        os.close(descriptor)
    return server.open(number, lambda bridge: EnvRows(bridge, batch_arrays(layout, buffer), rows))


def _received_descriptor(stream: socket.socket) -> int:
    return socket.recv_fds(stream, 1, 1)[1][0]


class WorkerServer:
    """Environments of several batches. Each message has a reply."""

    def __init__(self) -> None:
        self._bridge: Bridge | None = None
        self._batches: dict[int, EnvRows] = {}

    def handle(self, message: tuple) -> Reply:
        """Reset or step environments, or do what the message names."""
        kind, *arguments = message
        if kind in ("reset", "step"):
            return self._answer(kind, lambda: self._batches[arguments[0]].run(kind))
        return self._answer(kind, lambda: getattr(self, f"_{kind}")(*arguments))

    def open(self, number: int, rows_of: Callable[[Bridge], EnvRows]) -> Reply:
        """Acquire the environments of a batch."""
        return self._answer("open", lambda: self._open(number, rows_of))

    def _answer(self, kind: str, work: Callable[[], Any]) -> Reply:
        """`done` with a result, or `fault` or `unsupported` with a line of text."""
        try:
            return "done", work()
        except NotImplementedError as error:
            return "unsupported", str(error)
        except AttributePlannerError as error:
            return "fault", str(error)
        except (Exception, SystemExit) as error:
            return "fault", f"{kind}: {type(error).__name__}: {first_line(str(error))}"

    def _make(self, name: str, recipe: bytes, spec: FlatSpec) -> None:
        """Build the bridge, and check that it reads observations as the learner does."""
        self._bridge = build_bridge(unpacked(recipe), name, markers_in(spec))
        if self._bridge.encoder.spec != spec:
            raise EnvironmentFaultError(
                f"{name}: its observation after reset(seed=0) has another form in a worker process: "
                f"{self._bridge.encoder.spec}, not {spec}."
            )

    def _open(self, number: int, rows_of: Callable[[Bridge], EnvRows]) -> None:
        assert self._bridge is not None
        self._batches[number] = rows_of(self._bridge)

    def _render(self, number: int, row: int) -> Any:
        return self._batches[number].render(row)

    def _close(self, number: int) -> None:
        self._batches.pop(number).close()

    def _end(self) -> None:
        for batch in self._batches.values():
            batch.close()
        if self._bridge is not None:
            self._bridge.pool.close()
