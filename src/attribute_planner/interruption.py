"""Signals that end a program: SIGINT, SIGTERM and SIGHUP. What was learned is saved, and the exit takes seconds.

A signal handler in Python runs when the main thread executes Python, not while a function is compiled or a simulator is
busy in C; and an exception that it raises can be lost in a callback. A thread therefore waits for signals too. It gives
the main thread some seconds to end in order, then it saves and ends the process.
"""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
SECONDS_TO_END = 4.0
"""How long the main thread may take to end in order, before the waiting thread saves and ends the process."""
SECONDS_TO_SAVE = 4.0
"""How long the waiting thread may take to save."""

Save = Callable[[], None]
Describe = Callable[[], str]


class Interrupted(KeyboardInterrupt):
    """A signal that ends the program."""


@contextmanager
def handled_signals(program: str) -> Iterator["SignalHandling"]:
    """Within the block, signals raise `Interrupted` in the main thread, and end the process within ten seconds."""
    handling = SignalHandling(program)
    if threading.current_thread() is not threading.main_thread():
        yield handling
        return
    with handling.installed():
        yield handling


@contextmanager
def saved_by(save: Save) -> Iterator[None]:
    """Within the block, `save` is called before the process is ended; it may be called from another thread."""
    _SAVES.append(save)
    try:
        yield
    finally:
        _SAVES.remove(save)


@contextmanager
def described_by(describe: Describe) -> Iterator[None]:
    """Within the block, and for an interruption that leaves it, `describe` says what is saved and how to continue."""
    _DESCRIPTIONS.append(describe)
    try:
        yield
    except KeyboardInterrupt:
        raise  # the program says so, after everything is saved
    except BaseException:
        _DESCRIPTIONS.remove(describe)
        raise
    else:
        _DESCRIPTIONS.remove(describe)


@contextmanager
def deferred() -> Iterator[None]:
    """Within the block, signals wait: what is changed together is not interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    handlers = {each: signal.getsignal(each) for each in SIGNALS}
    for number, handler in handlers.items():
        if callable(handler):
            signal.signal(number, lambda received, _: waiting.append(received))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if callable(handler):
                signal.signal(number, handler)
        if waiting and callable(handler := handlers[signal.Signals(waiting[0])]):
            handler(waiting[0], None)


_SAVES: list[Save] = []
_DESCRIPTIONS: list[Describe] = []
_RUNNING: list["SignalHandling"] = []


class SignalHandling:
    """The handlers of a program, and the thread that waits for signals.

    received: the first signal; `None` before it.
    """

    def __init__(self, program: str) -> None:
        self.program = program
        self.received: int | None = None
        self._said = threading.Lock()
        self._over = threading.Event()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Install the handlers, and the former ones at the end."""
        reading, self._writing = socket.socketpair()
        self._writing.setblocking(False)
        former = {each: signal.signal(each, self._handle) for each in SIGNALS}
        former_fd = signal.set_wakeup_fd(self._writing.fileno(), warn_on_full_buffer=False)
        thread = threading.Thread(target=self._wait, args=(reading,), name="signals", daemon=True)
        thread.start()
        _RUNNING.append(self)
        unraisable, sys.unraisablehook = sys.unraisablehook, self._ignore
        self._unraisable = unraisable
        try:
            yield
        finally:
            sys.unraisablehook = unraisable
            _RUNNING.remove(self)
            _DESCRIPTIONS.clear()
            self._over.set()
            signal.set_wakeup_fd(former_fd)
            for number, handler in former.items():
                signal.signal(number, handler)
            self._writing.close()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._note(number)
        # Also where other code has taken over the wake-up descriptor.
        with suppress(OSError):
            self._writing.send(bytes([number]))
        raise Interrupted(signal.Signals(number).name)

    def _ignore(self, unraisable: Any) -> None:
        """Say nothing of a signal that is lost in a callback: the waiting thread ends the process."""
        if not isinstance(unraisable.exc_value, Interrupted):
            self._unraisable(unraisable)

    def _note(self, number: int) -> None:
        self.received = self.received or number

    def _wait(self, reading: socket.socket) -> None:
        """Wait for a signal; end the process unless the main thread does."""
        number = _first_signal(reading)
        if number is None:
            return
        self._note(number)
        if self._over.wait(SECONDS_TO_END):
            return
        self.end(None, self.exit_code)

    def end(self, line: str | None, code: int) -> None:
        """Save, say a line, by default what is saved, and end the process, whatever the main thread does."""
        faults: list[str] = []
        saving = threading.Thread(target=save_all, args=(faults,), daemon=True)
        saving.start()
        saving.join(SECONDS_TO_SAVE)
        if saving.is_alive():
            faults.append(f"what was learned since the last save is lost: saving took more than {SECONDS_TO_SAVE:g} s.")
        if self._said.acquire(blocking=False):
            with suppress(OSError):  # the terminal may be closed
                said = " ".join(faults[:1] if line is None and faults else [line or self.line(), *faults[:1]])
                os.write(2, f"{self.program}: {said}\n".encode())
        os._exit(code)

    def say(self, line: str) -> None:
        """A line on standard error, unless the process is already being ended with another one."""
        if self._said.acquire(blocking=False):
            with suppress(OSError):
                print(f"{self.program}: {line}", file=sys.stderr, flush=True)

    def line(self) -> str:
        """The signal, what is saved and how to continue."""
        name = f" by {signal.Signals(self.received).name}" if self.received else ""
        return f"interrupted{name}; {_DESCRIPTIONS[-1]()}" if _DESCRIPTIONS else f"interrupted{name}."

    @property
    def exit_code(self) -> int:
        """128 and the number of the signal, as in a shell."""
        return 128 + (self.received or signal.SIGINT)


def _first_signal(reading: socket.socket) -> int | None:
    """The first of `SIGNALS` that arrives; `None` if the program ends before."""
    with reading:
        while received := reading.recv(64):
            for number in received:
                if number in SIGNALS:
                    return number
    return None


def save_all(faults: list[str]) -> None:
    """Save what has been learned, from any thread; a line is added to `faults` for what cannot be saved."""
    for save in reversed(_SAVES):
        try:
            save()
        except Exception as error:
            faults.append(f"what was learned since the last save is lost: {error}")


def end_program(line: str, code: int = 1) -> bool:
    """Save, say a line and end the process, from any thread; false, and nothing is done, if no program is running."""
    if not _RUNNING:
        return False
    _RUNNING[-1].end(line, code)
    return True


def child_command(module: str, *arguments: str) -> list[str]:
    """The command of a process that runs `main` of a module and ends with this process.

    It watches this process before it imports the module, which takes a while.
    """
    program = (
        f"from attribute_planner.interruption import end_with_parent; end_with_parent({os.getpid()}); "
        f"from {module} import main; raise SystemExit(main())"
    )
    return [sys.executable, "-c", program, *arguments]


def end_with_parent(parent: int) -> None:
    """End this process as on SIGTERM when the process `parent`, which has started it, ends."""
    threading.Thread(target=_watch_parent, args=(parent,), name="parent", daemon=True).start()


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os.kill(os.getpid(), signal.SIGTERM)


SECONDS_BETWEEN_LOOKS = 0.5
