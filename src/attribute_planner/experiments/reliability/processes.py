"""Processes that rows start, kill and look for."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")


def lines_of(module: str, *arguments: object) -> list[str]:
    """The lines that a module prints in a new process: one in which other threads run cannot be forked safely."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def fork(work: Callable[[], None]) -> int:
    """Do some work in a forked process, which ends after it; returns the number of the process."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def kill(process: int) -> None:
    """Kill a forked process, and wait for its end."""
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def two_at_a_time(tasks: Iterable[Callable[[], Result]]) -> list[Result]:
    """The results of tasks that wait for other processes."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda task: task(), tasks))


def descendants_of(process: int) -> list[int]:
    """The processes that a process has started, and those that these have started."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(_fields(stat)[1])
        except OSError:
            continue  # it has ended meanwhile
    found, new = [], [process]
    while new := [child for child, parent in parents.items() if parent in new]:
        found += new
    return found


def is_running(process: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        return _fields(Path(f"/proc/{process}/stat"))[0] != "Z"
    except OSError:
        return False


def _fields(stat: Path) -> list[str]:
    """State, parent and more of a process: what follows its name, which may contain spaces."""
    return stat.read_text().rpartition(")")[2].split()
