"""Runs as tasks of a Ray cluster, each on a machine that has the resources for it.

The machines need not share files: a task returns its record, which is written here when it arrives. A run whose machine
is lost is run again on another one; in a folder that all machines share, it continues where it was.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attribute_planner.environments.workers.cluster import connected, last_line
from attribute_planner.environments.workers.head import HeadWatch
from attribute_planner.environments.workers.remote import package_version
from attribute_planner.errors import ConfigurationError
from attribute_planner.experiments.cluster.resources import (
    Amounts,
    ClusterConfig,
    fits_one_of,
    needed_by,
    require_machine,
)
from attribute_planner.experiments.cluster.task import Complete, Outcome, completed
from attribute_planner.experiments.records import record_path
from attribute_planner.experiments.run_one import Say
from attribute_planner.experiments.runs import Run
from attribute_planner.files.writing import write_bytes

MOST_LOSSES = 3
"""A run that is lost with its machine or its process this often has failed."""

SECONDS_BETWEEN_LOOKS, SECONDS_BETWEEN_LINES = 1.0, 60.0

Start = Callable[[Run], Any]
"""Starts a run as a task; returns Ray's reference to what it will return."""


def run_on_cluster(runs: Sequence[Run], complete: Complete, config: ClusterConfig, records: Path, say: Say) -> None:
    """Complete runs, those first that come first, and write their records into a folder."""
    with connected(config.address) as connection:
        import ray  # pyright: ignore[reportMissingImports]

        needed = needed_by(config, ray.cluster_resources())
        require_machine(needed, _machines(ray))
        start = _starter(ray, complete, config, needed, records)
        _complete_all(ray, runs, start, records, say, connection.head, lambda: fits_one_of(needed, _machines(ray)))


def _machines(ray: Any) -> list[Amounts]:
    """The resources of each machine that is alive."""
    return [each["Resources"] for each in ray.nodes() if each["Alive"]]


def _starter(ray: Any, complete: Complete, config: ClusterConfig, needed: Amounts, records: Path) -> Start:
    """A function that starts a run. Tasks that have not ended are ended with the connection to the cluster."""
    amounts = {"num_cpus": needed["CPU"], "num_gpus": needed["GPU"], "memory": needed["memory"]}
    task = ray.remote(max_retries=0, scheduling_strategy="SPREAD", **amounts)(completed)

    def start(run: Run) -> Any:
        path = record_path(records, run)
        begun = path.read_bytes() if path.exists() else None
        return task.remote(run, complete, begun, config.work, package_version())

    return start


def _complete_all(
    ray: Any,
    runs: Sequence[Run],
    start: Start,
    records: Path,
    say: Say,
    head: HeadWatch,
    is_possible: Callable[[], bool],
) -> None:
    """Start all runs, write their records as they arrive, and start again what is lost."""
    running, losses, heard = {start(run): run for run in runs}, Counter[str](), time.monotonic()
    while running:
        head.require()
        ended, _ = ray.wait(list(running), timeout=SECONDS_BETWEEN_LOOKS)
        if not ended:
            if time.monotonic() - heard > SECONDS_BETWEEN_LINES and not is_possible():
                say("No machine of the Ray cluster has the resources of a run any more; waiting for one.")
                heard = time.monotonic()
            continue
        heard, run = time.monotonic(), running.pop(ended[0])
        try:
            _write(ray.get(ended[0]), run, records, say)
        except (ray.exceptions.RayTaskError, ray.exceptions.RuntimeEnvSetupError) as error:
            say(f"{run.name}: failed ({last_line(error)})")
        except ray.exceptions.RayError as error:
            losses[run.name] += 1
            again = losses[run.name] < MOST_LOSSES
            say(f"{run.name}: lost ({last_line(error)}); {'it is run again' if again else 'it has failed'}.")
            if again:
                running[start(run)] = run


def _write(outcome: Outcome, run: Run, records: Path, say: Say) -> None:
    """Write the record that a task has returned, if there is one."""
    machine, version = outcome["machine"], outcome["version"]
    if version != package_version():
        raise ConfigurationError(
            f"The machine {machine} has attribute-planner {version}, this one {package_version()}: "
            "install the same version on all machines."
        )
    for line in outcome["lines"]:
        say(line)
    if outcome["record"] is not None:
        records.mkdir(parents=True, exist_ok=True)
        write_bytes(record_path(records, run), outcome["record"])
        say(f"{run.name}: done on {machine} after {outcome['seconds']:.0f} s")
