"""Runs that train nothing: what a cluster does with them is what is tested. The machines import this module."""

import contextlib
import os
import time
from dataclasses import replace
from pathlib import Path

from attribute_planner.experiments.records import Record, write_record
from attribute_planner.experiments.run_one import Folders, Say
from attribute_planner.experiments.runs import Run, RunSpec

RUNS = [Run(RunSpec("cell", "switches", ()), seed, "small") for seed in range(3)]
RECORD = Record("", "cell", 0, "small", "", {"config": {}}, {}, {}, training_seconds=1.0)


def complete(run: Run, folders: Folders, say: Say, notes: Path) -> Record:
    """Note the machine of each attempt. The first attempt at seed 1 takes for ever; seed 2 fails."""
    import ray  # pyright: ignore[reportMissingImports]

    attempt = 0
    while True:
        with contextlib.suppress(FileExistsError):
            path = notes / f"{run.seed}-{attempt}"
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            os.write(descriptor, ray.get_runtime_context().get_node_id().encode())
            os.close(descriptor)
            break
        attempt += 1
    if run.seed == 1 and attempt == 0:
        time.sleep(600)
    if run.seed == 2:
        raise RuntimeError("nothing to measure")
    record = replace(RECORD, run=run.name, seed=run.seed)
    write_record(folders.records, record)
    say(f"{run.name}: complete")
    return record
