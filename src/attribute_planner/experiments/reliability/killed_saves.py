"""Row 2: a process is killed while it creates a run directory and saves checkpoints into it."""

import shutil
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

from attribute_planner.errors import AttributePlannerError
from attribute_planner.experiments.reliability.processes import fork, kill, lines_of
from attribute_planner.experiments.reliability.row import Row
from attribute_planner.files.manifest import (
    commit,
    has_manifest,
    read_manifest,
    read_verified,
    recover,
    temporary_files,
)
from attribute_planner.storage.run_directory import AGENT, CONFIG, is_free

NUMBER = 2
AGENT_BYTES = 2_000_000
FRESH_SHARE = 0.3
"""Fraction of the kills that meet a process which begins with an empty folder."""
LATEST = 0.05
"""Seconds after which a process is killed at the latest; a checkpoint takes about a fifth of it."""


def measure(kills: int = 1_000, seed: int = 0) -> Row:
    """Kill processes that save, and look at what each of them has left."""
    began = time.monotonic()
    states = Counter(word for line in lines_of(__name__, kills, seed) for word in line.split())
    measured = (
        f"{states['empty'] + states['run']:,} kills: {states['torn']} torn, {states['refused']} accepted by neither "
        f"`train` nor `--resume`, {states['stale']} with temporary files after the next start "
        f"({states['left']:,} had some before it); {states['empty']:,} left nothing that was saved, "
        f"{states['run']:,} a run, {states['interrupted']:,} of them between manifest and files"
    )
    passed = states["empty"] + states["run"] == kills and not states["torn"] + states["refused"] + states["stale"]
    return Row("kill while saving", measured, passed, time.monotonic() - began)


def main(kills: str, seed: str) -> None:
    """Fork, kill and check; prints one word for each thing that was found."""
    random = np.random.default_rng(int(seed))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        for _ in range(int(kills)):
            if random.random() < FRESH_SHARE:
                shutil.rmtree(path, ignore_errors=True)
            process = fork(partial(save_for_ever, path))
            time.sleep(random.uniform(0, LATEST))
            kill(process)
            print(*state_of(path), flush=True)


def save_for_ever(path: Path) -> None:
    """One checkpoint after the other; all files of a checkpoint hold its number."""
    path.mkdir(exist_ok=True)
    recover(path)
    if not has_manifest(path):
        commit(path, {CONFIG: b"0"})
    number = int(read_verified(path, CONFIG))
    while True:
        number += 1
        content = f"{number:09d}".encode()
        changed = {CONFIG: str(number).encode(), AGENT: content * (AGENT_BYTES // 9), f"experience/{number}": content}
        old = f"experience/{number - 2}"
        commit(path, changed, removed=[old] if old in read_manifest(path) else [])


def state_of(path: Path) -> list[str]:
    """What a killed process has left, in words; the folder is then as the next start makes it."""
    if not path.exists():
        return ["empty"]
    words = ["left"] if temporary_files(path) else []
    if not has_manifest(path):
        words += ["empty"] if is_free(path) else ["refused", "empty"]
    else:
        words += ["run", *faults_of(path)]
        words += [] if all((path / name).exists() for name in read_manifest(path)) else ["interrupted"]
    recover(path)
    return [*words, *(["stale"] if temporary_files(path) else [])]


def faults_of(path: Path) -> list[str]:
    """`torn` unless all files belong to the same checkpoint, `refused` if they cannot be read."""
    try:
        found = {name: read_verified(path, name) for name in read_manifest(path)}
    except AttributePlannerError:
        return ["refused"]
    number = int(found[CONFIG])
    whole = number == 0 or (
        found[AGENT] == f"{number:09d}".encode() * (AGENT_BYTES // 9) and f"experience/{number}" in found
    )
    return [] if whole else ["torn"]


if __name__ == "__main__":
    main(*sys.argv[1:])
