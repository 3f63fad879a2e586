"""The task of a machine: complete one run, and return its record.

What is returned are plain values, which a machine with another version of the package can read.
"""

import os
import platform
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

from attribute_planner.environments.workers.remote import package_version
from attribute_planner.experiments.records import Record, record_path
from attribute_planner.experiments.run_one import Folders, Say
from attribute_planner.experiments.runs import Run
from attribute_planner.storage.compilation_cache import use_user_compilation_cache

Complete = Callable[[Run, Folders, Say], Record]
"""Trains and measures a run. A function of a module, which each machine imports by its name."""


class Outcome(TypedDict):
    """What a task returns.

    machine, version: the name of the machine, and its version of this package.
    seconds: duration of the task.
    lines: what the run said; its traceback if it failed.
    record: the file of the record; `None` if the run failed or the versions differ.
    """

    machine: str
    version: str
    seconds: float
    lines: list[str]
    record: bytes | None


def completed(run: Run, complete: Complete, begun: bytes | None, work: Path | None, version: str) -> Outcome:
    """Complete a run on this machine.

    begun: the file of the record so far, if there is one.
    work: folder of the run directories; `None` for a temporary one.
    version: the version of this package that the record must come from.
    """
    lines, record, started = [], None, time.monotonic()
    if version == package_version():
        # Otherwise each process reserves most of the GPU's memory.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        use_user_compilation_cache()
        with TemporaryDirectory(prefix="attribute-planner-") as folder:
            folders = Folders(Path(folder) / "records", work or Path(folder) / "work")
            record = _record(run, complete, begun, folders, lines.append)
    return Outcome(
        machine=platform.node(),
        version=package_version(),
        seconds=time.monotonic() - started,
        lines=lines,
        record=record,
    )


def _record(run: Run, complete: Complete, begun: bytes | None, folders: Folders, say: Say) -> bytes | None:
    """The file of the record of a run; `None` if the run fails, which is reported and not raised."""
    path = record_path(folders.records, run)
    if begun is not None:
        path.parent.mkdir()
        path.write_bytes(begun)
    try:
        complete(run, folders, say)
    except Exception:
        say(f"{run.name}: failed\n{traceback.format_exc()}")
        return None
    return path.read_bytes()
