"""A lock on a folder: one process at a time writes to it. The lock of a process that was killed is free at once."""

import errno
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from attribute_planner.errors import DamagedFileError, RunInUseError
from attribute_planner.files.reading import MAX_TEXT_BYTES, read_file
from attribute_planner.files.writing import is_running, write_error

try:
    import fcntl
except ImportError:  # not a POSIX system: there is no lock
    fcntl = None

LOCK = ".lock"
OWNER_SECONDS = 1.0
"""How long to wait for the owner of a lock to write its name into it."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; a `RunInUseError` at once if another process has it.

    The operating system holds the lock and ends it with the process. The file only names the owner; one that a killed
    process left is taken over.
    """
    if fcntl is None:
        yield
        return
    descriptor = _acquire(folder)
    _HELD.add(descriptor)
    try:
        yield
    finally:
        with suppress(OSError):
            (folder / LOCK).unlink(missing_ok=True)
        _HELD.discard(descriptor)
        os.close(descriptor)


_HELD: set[int] = set()
"""The descriptors of the locks of this process."""


def _leave_to_parent() -> None:
    """A forked process does not hold the locks of its parent: they must not outlive it."""
    for descriptor in _HELD:
        os.close(descriptor)
    _HELD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


def _acquire(folder: Path) -> int:
    assert fcntl is not None
    path = folder / LOCK
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o644)
        except OSError as error:
            raise write_error(path, 0, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise RunInUseError(f"{folder} is in use by {_owner(path)}.") from error
            raise write_error(path, 0, error) from error
        if _is_same_file(descriptor, path):
            return _signed(descriptor, path)
        os.close(descriptor)  # the owner before has removed it in the meantime


def _signed(descriptor: int, path: Path) -> int:
    """The lock file, with the name of this process in it."""
    try:
        os.truncate(descriptor, 0)
        os.write(descriptor, json.dumps(_myself()).encode())
    except OSError as error:
        os.close(descriptor)
        raise write_error(path, 0, error) from error
    return descriptor


def _is_same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def _myself() -> dict[str, str | int]:
    return {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now().astimezone().isoformat(timespec="seconds"),
    }


def _owner(path: Path) -> str:
    """The owner of a lock in words."""
    until = time.monotonic() + OWNER_SECONDS
    while time.monotonic() < until:
        with suppress(DamagedFileError, OSError, ValueError, LookupError, TypeError):
            owner = json.loads(read_file(path, MAX_TEXT_BYTES))
            # A name that a killed process left is not that of the present owner.
            if owner["host"] != socket.gethostname() or is_running(int(owner["process"])):
                return f"process {owner['process']} on {owner['host']}, since {owner['since']}"
        time.sleep(0.01)
    return "another process"
