"""Row 6: every operation on files of a checkpoint fails in turn: no space, a quota, a read-only disk, a size limit."""

import builtins
import errno
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from attribute_planner.errors import AttributePlannerError, StorageError
from attribute_planner.experiments.reliability.processes import lines_of
from attribute_planner.experiments.reliability.row import Row
from attribute_planner.files.manifest import commit, read_manifest, read_verified, recover, temporary_files
from attribute_planner.storage.metrics import METRICS, MetricsWriter

NUMBER = 6
ERRORS = (
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO, errno.EACCES, errno.EPERM, errno.ENOMEM,
    errno.EMFILE, errno.ENAMETOOLONG, errno.ENODEV, errno.ESTALE, errno.ETIMEDOUT,
)  # fmt: skip
OLD = {"config.json": b"old", "agent.safetensors": b"o" * 3_000}
NEW = {"config.json": b"new", "agent.safetensors": b"n" * 900_000, "experience/1": b"n"}
LIMIT = 100_000
"""A real limit on the size of files, in bytes."""


def measure(limit: bool = True) -> Row:
    """Let each operation fail with each error, and save again afterwards."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        points = operations_of(Path(folder))
        faults = [
            f"{os.strerror(error)} at operation {number} ({points[number]}): {fault}"
            for number in range(len(points))
            for error in ERRORS
            if (fault := fault_of(Path(folder) / f"{number}-{error}", number, error))
        ]
    tried, limited = len(points) * len(ERRORS), message_at_limit() if limit else ""
    measured = (
        f"{tried - len(faults)} of {tried} faults: a `StorageError` with the path, the old checkpoint loads, and the "
        "next one is saved"
    )
    measured += f"; at a real limit: {limited}" if limit else ""
    measured += "".join(f"; {fault}" for fault in faults[:3])
    passed = not faults and (not limit or "it needs 900.0 kB" in limited)
    return Row("disk full, read-only, size limit", measured, passed, time.monotonic() - began)


def save(folder: Path) -> None:
    """What a training writes: lines of metrics, and a checkpoint."""
    metrics = MetricsWriter(folder, read_manifest(folder).get(METRICS))
    metrics.write({"phase": "practise", "success": 0.5})
    metrics.sync()
    commit(folder, NEW, beginnings={METRICS: metrics.written})


def operations_of(folder: Path) -> list[str]:
    """The operations on files of one checkpoint, in order."""
    (folder / "all").mkdir()
    commit(folder / "all", OLD)
    with failing(-1, 0) as done:
        save(folder / "all")
    return done


def fault_of(folder: Path, number: int, error: int) -> str:
    """What is not as promised if an operation fails; empty if everything is."""
    folder.mkdir()
    commit(folder, OLD)
    try:
        with failing(number, error):
            save(folder)
        return "no error"
    except StorageError as raised:
        if not str(raised.path).startswith(str(folder)) or str(raised.path) not in str(raised):
            return f"no path: {raised}"
        if raised.needed and (raised.free is None or "free" not in str(raised)):
            return f"no sizes: {raised}"
    except Exception as raised:
        return repr(raised)
    try:
        found = {name: read_verified(folder, name) for name in read_manifest(folder) if name != METRICS}
        if found not in (OLD, NEW):
            return "a mixture is left"
        recover(folder)
        save(folder)
        return "" if read_verified(folder, "config.json") == b"new" and not temporary_files(folder) else "not saved"
    except AttributePlannerError as raised:
        return f"afterwards: {raised}"


@contextmanager
def failing(number: int, error: int) -> Iterator[list[str]]:
    """Let the operation with this number fail; the names of the operations."""
    done: list[str] = []

    def counted(name: str, operation: Callable[..., Any]) -> Callable[..., Any]:
        def operate(*given: Any, **options: Any) -> Any:
            done.append(name)
            if len(done) - 1 == number:
                raise OSError(error, os.strerror(error))
            return operation(*given, **options)

        return operate

    def opened(path: Any, mode: str = "r", *given: Any, **options: Any) -> Any:
        if "w" not in mode and "a" not in mode:
            return real_open(path, mode, *given, **options)
        file = counted("open", real_open)(path, mode, *given, **options)
        return Unreliable(file, counted("write", file.write))

    real_open = builtins.open
    with ExitStack() as stack:
        for name in ("fsync", "replace", "truncate", "mkdir"):
            stack.enter_context(patch.object(os, name, counted(name, getattr(os, name))))
        stack.enter_context(patch.object(builtins, "open", opened))
        yield done


class Unreliable:
    """A file whose writes may fail."""

    def __init__(self, file: Any, write: Callable[[bytes], int]) -> None:
        self._file, self.write = file, write

    def __enter__(self) -> "Unreliable":
        return self

    def __exit__(self, *given: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def message_at_limit() -> str:
    """The message of a process whose files must not be larger than `LIMIT`."""
    return " ".join(lines_of(__name__))


def main() -> None:
    """Save with a real limit on the size of files, and print what that says."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
    with tempfile.TemporaryDirectory() as folder:
        commit(Path(folder), OLD)
        try:
            save(Path(folder))
        except StorageError as error:
            print(str(error).replace(folder, "RUN"))


if __name__ == "__main__":
    main()
