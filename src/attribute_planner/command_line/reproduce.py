"""`attribute-planner reproduce`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from attribute_planner.command_line.arguments import (
    Names,
    OptionalFloat,
    OptionalInt,
    OptionalName,
    OptionalPath,
    shown_as,
)
from attribute_planner.command_line.printing import console, messages, print_json
from attribute_planner.command_line.strangers import STRANGERS, reproduce_strangers

if TYPE_CHECKING:
    from attribute_planner.experiments.cluster.resources import ClusterConfig


def reproduce(
    tables: Annotated[tuple[str, ...], tyro.conf.Positional, shown_as("[TABLE ...]")] = (),
    seeds: OptionalInt = None,
    scale: Literal["small", "paper"] = "paper",
    runs: Names = (),
    only: Names = (),
    dry_run: bool = False,
    only_train: bool = False,
    processes: int = 1,
    together: bool = False,
    records: OptionalPath = None,
    work: OptionalPath = None,
    report: OptionalPath = None,
    docs: Annotated[tuple[Path, ...], shown_as("[PATH ...]")] = (),
    cluster: OptionalName = None,
    cores: OptionalFloat = None,
    gpus: OptionalFloat = None,
    memory: OptionalFloat = None,
    json: bool = False,
) -> int:
    """Reproduce the tables of the paper, and our own; or `strangers`, the suite of public environments.

    A run is one training with its measurements. Recorded runs are not repeated; an interrupted run is resumed.

    Args:
        tables: Tables to fill. Default: all of
            grid-worlds, blocks, sample-size, continuous, starcraft, detector, exploration, grid-worlds-changes,
            blocks-changes. `strangers`, the suite of public environments, cannot be combined with tables.
        seeds: Number of seeds per row. Default: 5 (3 for baselines) at the scale `paper`, 1 at the scale `small`.
        scale: `paper` for full budgets (needs a GPU), `small` for budgets that two CPU cores can run.
        runs: Only these runs; a name may be the beginning of the names of several runs.
        only: Only the runs in these environments.
        dry_run: Only list the runs, with their estimated durations.
        only_train: Train without measuring; another call, perhaps on another machine, can measure later.
        processes: Number of processes.
        together: Train the runs of a row that differ in their seed alone together in this process, where the
            environment is written in JAX. They are measured one after the other.
        records: Folder of the records, one file per run. Default: reproduction/records.
        work: Folder of the run directories. Default: runs/reproduce. Models that are already trained there are only
            measured.
        report: Path of the report. Default: REPRODUCTION.md (reproduction/small.md at the scale `small`).
        docs: Documents to update: their tables between marks of the form `<!-- results: TABLE -->` are regenerated.
        cluster: Do the runs on the machines of a Ray cluster: its address, `auto` for that in RAY_ADDRESS, or `local`
            to start one on this machine. Run directories are temporary, unless --work is a folder that all machines
            share.
        cores: With --cluster: cores per run. Default: 1.
        gpus: With --cluster: share of a GPU per run. Default: 0.25 if the cluster has GPUs.
        memory: With --cluster: GiB of memory per run. Default: 2.
        json: Print the list of runs as JSON.
    """
    from attribute_planner.errors import ConfigurationError
    from attribute_planner.experiments.report import REPORTS
    from attribute_planner.experiments.run_one import Folders
    from attribute_planner.experiments.running import COMPILED, RECORDS, WORK, run_all
    from attribute_planner.experiments.runs import runs_in
    from attribute_planner.experiments.tables import chosen_runs
    from attribute_planner.ranges import require_positive
    from attribute_planner.storage.compilation_cache import use_compilation_cache

    for name, number in (("seeds", seeds), ("processes", processes)):
        if number is not None:
            require_positive(name, number)
    machines = cluster_config(cluster, work, processes, cores=cores, gpus=gpus, memory=memory)
    if machines is not None and only_train and work is None:
        raise ConfigurationError("--only-train with --cluster needs --work: a folder that all machines share.")
    if together and (processes > 1 or machines is not None or STRANGERS in tables):
        raise ConfigurationError(f"--together cannot be combined with --processes, --cluster or `{STRANGERS}`.")
    if STRANGERS in tables:
        if len(tables) > 1 or only_train or docs:
            raise ConfigurationError(f"`{STRANGERS}` cannot be combined with tables, --only-train or --docs.")
        return reproduce_strangers(
            seeds=seeds,
            scale=scale,
            runs=runs,
            worlds=only,
            dry_run=dry_run,
            processes=processes,
            records=records,
            work=work,
            report=report,
            cluster=machines,
            json=json,
        )
    folders, report = Folders(records or RECORDS, work or WORK), report or REPORTS[scale]
    chosen = runs_in(only, chosen_runs(tables, scale, seeds, runs))
    failed = []
    if not dry_run:
        use_compilation_cache(folders.work / COMPILED)
        failed = run_all(chosen, folders, processes, _say, only_train=only_train, cluster=machines, together=together)
        _write(report, docs, folders.records, scale)
    _print_listed([described(run, folders.records) for run in chosen], report, dry_run=dry_run, json=json)
    for run in failed:
        messages.print(f"attribute-planner: run {run.name} is not recorded; see its output above.")
    return 1 if failed else 0


def _print_listed(listed: list[dict[str, Any]], report: Path, *, dry_run: bool, json: bool) -> None:
    """The chosen runs, or how many of them are recorded."""
    if json:
        print_json(listed)
    elif dry_run:
        _print_runs(listed)
    else:
        count = sum(each["recorded"] for each in listed)
        console.print(f"{count} of {len(listed)} runs are recorded; {report} shows them.")


def cluster_config(
    address: str | None, work: Path | None, processes: int, **amounts: float | None
) -> "ClusterConfig | None":
    """The Ray cluster on which runs are done, and what each of them reserves; `None` for this machine."""
    from attribute_planner.errors import ConfigurationError
    from attribute_planner.experiments.cluster.resources import ClusterConfig

    given = {name: amount for name, amount in amounts.items() if amount is not None}
    if address is None:
        if given:
            raise ConfigurationError(f"--{next(iter(given))} needs --cluster.")
        return None
    if processes > 1:
        raise ConfigurationError("--processes cannot be combined with --cluster, whose resources decide.")
    return ClusterConfig(address, work=None if work is None else work.absolute(), **given)


def _write(report: Path, docs: tuple[Path, ...], records: Path, scale: str) -> None:
    """Generate the report, and the tables of documents."""
    from attribute_planner.experiments.doc_tables import fill_tables
    from attribute_planner.experiments.report import records_at, write_report

    write_report(report, records, scale)
    for document in docs:
        fill_tables(document, records_at(records, scale))


def _say(line: str) -> None:
    messages.print(line, markup=False)


def described(run: Any, records: Path) -> dict[str, Any]:
    """A run as JSON."""
    from attribute_planner.experiments.estimates import seconds_of
    from attribute_planner.experiments.records import read_record
    from attribute_planner.experiments.run_one import is_current
    from attribute_planner.experiments.tables import tables_of

    record = read_record(records, run)
    return {
        "run": run.name,
        "tables": tables_of(run.spec),
        "environment": run.spec.environment,
        "model": run.spec.model,
        "training_distribution": run.spec.training_distribution,
        "seed": run.seed,
        "measurements": len(run.spec.measurements),
        "seconds": round(seconds_of(run)),
        "recorded": record is not None and not record.missing(run),
        "current": record is None or is_current(record, run),
    }


def _state(each: dict[str, Any]) -> str:
    if not each["recorded"]:
        return f"{each['seconds']:,} s"
    return "recorded" if each["current"] else "recorded, with other settings"


def _print_runs(listed: list[dict[str, Any]]) -> None:
    # Plain lines without wrapping, so that names can be copied.
    for each in listed:
        console.print(
            f"{each['run']}  {', '.join(each['tables'])}: {_state(each)}",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    missing = [each["seconds"] for each in listed if not each["recorded"]]
    console.print(
        f"{len(missing)} of {len(listed)} runs are missing: about {sum(missing) / 60:,.0f} minutes in one process."
    )
