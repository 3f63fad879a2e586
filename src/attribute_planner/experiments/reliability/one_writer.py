"""Row 5: several processes begin to train in the same run directory at once."""

import json
import os
import signal
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from attribute_planner.errors import RunInUseError
from attribute_planner.experiments.reliability.processes import fork, lines_of
from attribute_planner.experiments.reliability.row import Row
from attribute_planner.files.lock import LOCK
from attribute_planner.files.manifest import commit
from attribute_planner.storage.run_directory import CONFIG
from attribute_planner.training import run_lock

NUMBER = 5
PROCESSES = 3
HELD_SECONDS = 0.3
MAX_SECONDS = 2.0
"""A process that is refused must say so within this time."""


def measure(races: int = 50, seed: int = 0) -> Row:
    """Let processes race for the lock of a run, and kill the winner of every other race."""
    began = time.monotonic()
    found = [json.loads(line) for line in lines_of(__name__, races, seed)]
    single = sum(each["winners"] == 1 for each in found)
    named = sum(each["named"] == PROCESSES - 1 for each in found)
    stale = [each for each in found if each["killed"]]
    taken = sum(each["taken_over"] for each in stale)
    slowest = max(each["slowest"] for each in found)
    measured = (
        f"{len(found)} races of {PROCESSES} processes: one winner in {single}, the others refused with the name of its "
        f"process in {named}, at the latest after {slowest:.2f} s; the lock of a killed winner taken over in {taken} "
        f"of {len(stale)}"
    )
    passed = single == named == races == len(found) and taken == len(stale) and slowest <= MAX_SECONDS
    return Row("two processes, one run", measured, passed, time.monotonic() - began)


def main(races: str, seed: str) -> None:
    """Fork and race; prints an object for each race."""
    random = np.random.default_rng(int(seed))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        commit(path, {CONFIG: b"{}"})
        for number in range(int(races)):
            print(json.dumps(race(path, bool(number % 2), random)), flush=True)


def race(path: Path, killed: bool, random: np.random.Generator) -> dict[str, float]:
    """Start processes at the same time; kill the winner at once, if so asked, and see whether the lock is free."""
    start = time.time() + 0.05
    read, write = os.pipe()
    children = [fork(partial(compete, path, start + random.uniform(0, 0.002), write)) for _ in range(PROCESSES)]
    os.close(write)
    with open(read) as results:
        lines = [json.loads(results.readline()) for _ in children]
        winners = [each["process"] for each in lines if each["won"]]
        if killed and winners:
            os.kill(winners[0], signal.SIGKILL)
    for child in children:
        os.waitpid(child, 0)
    refused = [each for each in lines if not each["won"]]
    named = sum(any(f"process {winner} " in each["message"] for winner in winners) for each in refused)
    return {
        "winners": len(winners),
        "named": named,
        "slowest": max(each["seconds"] for each in lines),
        "killed": killed,
        "taken_over": (path / LOCK).exists() and is_free(path) if killed else is_free(path),
    }


def compete(path: Path, start: float, write: int) -> None:
    """Wait for the start, try to get the run, and say how that went."""
    time.sleep(max(start - time.time(), 0))
    began = time.monotonic()
    try:
        with run_lock(path, resume=True):
            say(write, True, "", began)
            time.sleep(HELD_SECONDS)
    except RunInUseError as error:
        say(write, False, str(error), began)


def say(write: int, won: bool, message: str, began: float) -> None:
    """Write one line into a pipe."""
    said = {"process": os.getpid(), "won": won, "message": message, "seconds": time.monotonic() - began}
    os.write(write, json.dumps(said).encode() + b"\n")


def is_free(path: Path) -> bool:
    """Whether a run can be trained in now."""
    try:
        with run_lock(path, resume=True):
            return True
    except RunInUseError:
        return False


if __name__ == "__main__":
    main(*sys.argv[1:])
