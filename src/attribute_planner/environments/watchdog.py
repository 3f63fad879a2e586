"""A time limit for calls into the user's simulator: one that hangs is ended with an error.

A thread looks at the clock. It interrupts a call that takes too long by a signal to the main thread, which ends loops
and waiting in Python. If a call cannot be interrupted, because it is in C, what was learned is saved and the program is
ended. In a process without `interruption.handled_signals`, the thread can only say so.
"""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from attribute_planner.interruption import end_program

STEP_TIMEOUT = 120.0
"""Seconds that a reset or a step may take, unless `step_timeout` says otherwise."""
SECONDS_TO_REACT = 5.0
"""How long an interrupted call may go on."""
MOST_SECONDS_BETWEEN_LOOKS = 0.5


class HungError(BaseException):
    """A call that takes too long. Not an `Exception`, which a simulator may handle itself."""


class Watchdog:
    """Watches the calls of this process into simulators, one at a time.

    limit: the seconds that a call may take.
    """

    def __init__(self) -> None:
        self.limit = STEP_TIMEOUT
        self._since: float | None = None
        self._what = ""
        self._thread: threading.Thread | None = None

    @contextmanager
    def limited_to(self, seconds: float) -> Iterator[None]:
        """Another limit within the block."""
        before, self.limit = self.limit, seconds
        try:
            yield
        finally:
            self.limit = before

    def begin(self, what: str) -> None:
        """A call begins; `what` names it."""
        self._what, self._since = what, time.monotonic()
        if self._thread is None:
            self._start()

    def end(self) -> None:
        """The call has returned."""
        self._since = None

    def _start(self) -> None:
        is_main = threading.current_thread() is threading.main_thread()
        if ALARM is not None and is_main and signal.getsignal(ALARM) == signal.SIG_DFL:
            signal.signal(ALARM, self._interrupt)
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while True:
            time.sleep(min(self.limit / 4, MOST_SECONDS_BETWEEN_LOOKS))
            since = self._since
            if since is not None and time.monotonic() - since > self.limit:
                self._end_call(since)

    def _end_call(self, since: float) -> None:
        """Interrupt a call, and end the program if that does not help."""
        until = time.monotonic() + SECONDS_TO_REACT
        while self._since == since and time.monotonic() < until:
            if ALARM is not None and signal.getsignal(ALARM) == self._interrupt:
                signal.pthread_kill(threading.main_thread().ident or 0, ALARM)
            time.sleep(0.1)
        if self._since == since:
            line = f"{self._what} {self.overdue} and cannot be interrupted."
            if not end_program(line):
                print(f"attribute_planner: {line}", file=sys.stderr, flush=True)
                time.sleep(self.limit)

    @property
    def overdue(self) -> str:
        """What is wrong, in words."""
        return f"has not returned for {self.limit:g} s (step_timeout)"

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._since is not None and time.monotonic() - self._since > self.limit:
            raise HungError


ALARM: int | None = getattr(signal, "SIGALRM", None)

WATCHDOG = Watchdog()
"""That of this process."""
