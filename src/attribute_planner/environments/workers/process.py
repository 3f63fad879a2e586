"""A worker process, as the learner sees it: it is sent messages, answers in time, or is lost."""

import contextlib
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from attribute_planner.environments.faults import first_line
from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchArrays, BatchLayout
from attribute_planner.environments.workers.memory import anonymous_file

SECONDS_TO_END = 5.0
"""For closing environments; a worker that takes longer is killed."""

POLL_SECONDS = 1.0
"""How often to look whether a worker that does not answer is still alive and makes progress."""

TAIL = 4096
"""Bytes of a worker's output in which the reason of its death is looked for."""


class WorkerLostError(Exception):
    """A worker that has died, or has been killed because it did not answer. The message is the rest of a sentence."""

    def __init__(self, words: str, *, hung: bool = False) -> None:
        super().__init__(words)
        self.hung = hung


@runtime_checkable
class Batch(Protocol):
    """What a worker must know of a batch.

    number, layout, arrays: its number, and its arrays.
    descriptor: the file of the memory that has the arrays.
    """

    number: int
    layout: BatchLayout
    arrays: BatchArrays

    @property
    def descriptor(self) -> int: ...


@runtime_checkable
class Worker(Protocol):
    """Runs environments elsewhere: in another process, or on another machine."""

    printed: list[str]

    @property
    def memory(self) -> int:
        """Bytes of memory that it uses; 0 if that is not known."""
        ...

    def send(self, message: bytes) -> None:
        """Send a pickled message, without waiting for the reply."""

    def open(self, batch: Batch, rows: range) -> None:
        """Send the message that opens `rows` of a batch."""

    def receive(self, timeout: float, progress: Callable[[], int] = lambda: 0) -> tuple[str, Any]:
        """The reply to the oldest message; `WorkerLostError` if there is none."""
        ...

    def close(self) -> None:
        """Let it close its environments, then end it."""

    def kill(self) -> None:
        """End it at once."""


class WorkerProcess:
    """A process that runs `workers.worker`, in a process group of its own."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        ends, self._lifeline = os.pipe()
        self._output = anonymous_file()
        program = (
            f"import sys; sys.path[:] = {sys.path!r}; from attribute_planner.environments.workers.worker import main; "
            f"main({theirs.fileno()}, {ends})"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output,
            pass_fds=(theirs.fileno(), ends),
            process_group=0,
        )
        theirs.close()
        os.close(ends)
        self._connection = Connection(os.dup(self._socket.fileno()))
        # Registered once: the connection's own `poll` takes longer than the message.
        self._replies = select.poll()
        self._replies.register(self._connection.fileno(), select.POLLIN)
        self.printed: list[str] = []
        """The first line that it printed, if any, once it has ended."""
        self._last_lines: list[str] = []

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def memory(self) -> int:
        """Bytes of memory that it uses; 0 if the system does not tell."""
        with contextlib.suppress(OSError, IndexError):
            return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return 0

    def send(self, message: bytes) -> None:
        """Send a pickled message. If the worker is lost, `receive` says so."""
        with contextlib.suppress(OSError):
            self._connection.send_bytes(message)

    def open(self, batch: Batch, rows: range) -> None:
        """Send the message that opens `rows` of a batch, with the file of its memory."""
        self.send(pickle.dumps(("open", batch.number, batch.layout, rows)))
        with contextlib.suppress(OSError):
            socket.send_fds(self._socket, [b"\0"], [batch.descriptor])

    def receive(self, timeout: float, progress: Callable[[], int] = lambda: 0) -> tuple[str, Any]:
        """The reply to the oldest message. The worker is lost if nothing advances `progress` for `timeout` seconds."""
        seen, since = progress(), time.monotonic()
        while not self._replies.poll(1000 * min(timeout, POLL_SECONDS)):
            if self._has_ended():
                break
            if progress() != seen:
                seen, since = progress(), time.monotonic()
            elif time.monotonic() - since >= timeout:
                self.kill()
                raise WorkerLostError(f"did not answer within {timeout:g} s", hung=True)
        try:
            return self._connection.recv()
        except (EOFError, OSError):
            raise WorkerLostError(self._last_words()) from None

    def close(self) -> None:
        """Let it close its environments, then end it."""
        if self._process.returncode is None:
            self.send(pickle.dumps(("end",)))
            with contextlib.suppress(WorkerLostError):
                self.receive(SECONDS_TO_END)
        self.kill()

    def kill(self) -> None:
        """End the process and those that its environments started."""
        if self._process.returncode is not None:
            return
        # Before it is waited for: until then, no other process can get its number.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.printed = self._lines(0)[:1]
        self._last_lines = self._lines(-TAIL)
        self._connection.close()
        self._socket.close()
        os.close(self._lifeline)
        os.close(self._output)

    def _has_ended(self) -> bool:
        """Whether the process has ended; it is not waited for, so that its number stays taken."""
        if self._process.returncode is not None:
            return True
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _last_words(self) -> str:
        """How a process ended that has closed its connection, and the last line that it printed."""
        deadline = time.monotonic() + SECONDS_TO_END
        while not self._has_ended() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.kill()
        status = self._process.returncode
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        fatal = [line for line in self._last_lines if line.startswith("Fatal Python error")]
        words = (fatal or self._last_lines)[-1:]
        return f"{how} ({first_line(words[0])})" if words else how

    def _lines(self, start: int) -> list[str]:
        """Lines of its output that are not empty: the first ones, or the last ones if `start` is negative."""
        begin = max(os.fstat(self._output).st_size + start, 0) if start < 0 else start
        text = os.pread(self._output, TAIL, begin).decode(errors="replace")
        return [line.strip() for line in text.splitlines() if line.strip()]
