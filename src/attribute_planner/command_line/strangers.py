"""`attribute-planner reproduce strangers`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attribute_planner.command_line.printing import console, messages, print_json

if TYPE_CHECKING:
    from attribute_planner.experiments.cluster.resources import ClusterConfig

STRANGERS = "strangers"
"""The name of the suite on the command line."""


def reproduce_strangers(
    *,
    seeds: int | None,
    scale: str,
    runs: tuple[str, ...],
    worlds: tuple[str, ...],
    dry_run: bool,
    processes: int,
    records: Path | None,
    work: Path | None,
    report: Path | None,
    cluster: ClusterConfig | None,
    json: bool,
) -> int:
    """Train and measure every environment of the suite, or only list the runs; returns the exit status."""
    from attribute_planner.experiments.records import is_recorded
    from attribute_planner.experiments.run_one import Folders
    from attribute_planner.experiments.running import COMPILED
    from attribute_planner.experiments.strangers.report import REPORTS, write_report
    from attribute_planner.experiments.strangers.suite import RECORDS, WORK, run_suite, suite_runs
    from attribute_planner.storage.compilation_cache import use_compilation_cache

    folders, path = Folders(records or RECORDS, work or WORK), report or REPORTS[scale]
    chosen = suite_runs(scale, seeds, worlds, runs)
    failed = []
    if not dry_run:
        use_compilation_cache(folders.work / COMPILED)
        failed = run_suite(chosen, folders, processes, lambda line: messages.print(line, markup=False), cluster)
        write_report(path, folders.records, scale)
    done = {run.name: is_recorded(folders.records, run) for run in chosen}
    if json:
        print_json([{"run": name, "recorded": recorded} for name, recorded in done.items()])
    elif dry_run:
        for name, recorded in done.items():
            console.print(f"{name}  {'recorded' if recorded else 'missing'}", highlight=False, soft_wrap=True)
    else:
        console.print(f"{sum(done.values())} of {len(done)} runs are recorded; {path} shows them.")
    for run in failed:
        messages.print(f"attribute-planner: run {run.name} is not recorded; see its output above.")
    return 1 if failed else 0
