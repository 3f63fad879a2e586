"""`attribute-planner reproduce`."""

from pathlib import Path
from typing import Any, Literal

import tyro

from attribute_planner.command_line.printing import console, news, print_json


def reproduce(
    tables: tyro.conf.Positional[tuple[str, ...]] = (),
    seeds: int | None = None,
    scale: Literal["small", "paper"] = "paper",
    cells: tuple[str, ...] = (),
    dry_run: bool = False,
    only_train: bool = False,
    processes: int = 1,
    records: Path | None = None,
    work: Path | None = None,
    report: Path | None = None,
    pages: tuple[Path, ...] = (),
    json: bool = False,
) -> int:
    """Repeat the paper's tables, and our own beside them.

    What is recorded already is not done again: a run that was killed goes on where it stopped.

    Args:
        tables: Which tables to fill: grid-worlds, blocks, sample-size, continuous, starcraft, detector, exploration,
            grid-worlds-changes, blocks-changes; all if none is named.
        seeds: Trainings per row; 5 (3 for baselines) at the scale `paper`, 1 at the scale `small`, if not given.
        scale: `paper` for everything as it is meant (for a GPU), `small` for all of it in little, on two CPU cores.
        cells: Only these cells, or those whose names begin so.
        dry_run: Only list the cells, with an estimate of the time that each will take here.
        only_train: Leave the measuring to another call, on another machine perhaps; bring records and work along.
        processes: How many cells to carry out at once.
        records: Where records are kept, one file per cell; reproduction/records if not given.
        work: Where agents are trained; runs/reproduce if not given. One that lies there trained is only measured.
        report: Where the report is written; REPRODUCTION.md (reproduction/small.md at the small scale) if not given.
        pages: Pages whose results are to be made anew, between marks of the form `<!-- results: TABLE -->`.
        json: Print the list of cells as JSON.
    """
    from attribute_planner.configuration import require_positive
    from attribute_planner.experiments.report import REPORTS
    from attribute_planner.experiments.run_one import Folders
    from attribute_planner.experiments.running import COMPILED, RECORDS, WORK, end_in_order_when_told, run_cells
    from attribute_planner.experiments.tables import chosen_cells
    from attribute_planner.storage.compilation_cache import keep_compiled

    for name, number in (("seeds", seeds), ("processes", processes)):
        if number is not None:
            require_positive(name, number)
    folders = Folders(records or RECORDS, work or WORK)
    chosen = chosen_cells(tables, scale, seeds, cells)
    failed = []
    if not dry_run:
        keep_compiled(folders.work / COMPILED)
        end_in_order_when_told()
        failed = run_cells(chosen, folders, processes, _say, only_train=only_train)
        _write(report or REPORTS[scale], pages, folders.records, scale)
    listed = [described(cell, folders.records) for cell in chosen]
    if json:
        print_json(listed)
    elif dry_run:
        _print_cells(listed)
    else:
        count = sum(each["recorded"] for each in listed)
        console.print(f"{count} of {len(listed)} cells are recorded; {report or REPORTS[scale]} shows them.")
    for cell in failed:
        news.print(f"attribute-planner: cell {cell.name} is not recorded; its output above says why.")
    return 1 if failed else 0


def _write(report: Path, pages: tuple[Path, ...], records: Path, scale: str) -> None:
    """The report, and the results on pages, made of the records."""
    from attribute_planner.experiments.doc_tables import fill_page
    from attribute_planner.experiments.report import records_at, write_report

    write_report(report, records, scale)
    for page in pages:
        fill_page(page, records_at(records, scale))


def _say(line: str) -> None:
    news.print(line, markup=False)


def described(cell: Any, records: Path) -> dict[str, Any]:
    """What a program wants to know of a cell."""
    from attribute_planner.experiments.estimates import seconds_of
    from attribute_planner.experiments.records import read_record
    from attribute_planner.experiments.run_one import is_current
    from attribute_planner.experiments.tables import tables_of

    record = read_record(records, cell)
    return {
        "cell": cell.name,
        "tables": tables_of(cell.subject),
        "environment": cell.subject.environment,
        "model": cell.subject.model,
        "regime": cell.subject.regime,
        "seed": cell.seed,
        "measurements": len(cell.subject.measurements),
        "seconds": round(seconds_of(cell)),
        "recorded": record is not None and not record.missing(cell),
        "current": record is None or is_current(record, cell),
    }


def _state(each: dict[str, Any]) -> str:
    if not each["recorded"]:
        return f"{each['seconds']:,} s"
    return "recorded" if each["current"] else "recorded, with other settings"


def _print_cells(listed: list[dict[str, Any]]) -> None:
    # Plain lines, which no narrow terminal cuts: names are there to be copied.
    for each in listed:
        console.print(
            f"{each['cell']}  {', '.join(each['tables'])}: {_state(each)}",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    missing = [each["seconds"] for each in listed if not each["recorded"]]
    console.print(
        f"{len(missing)} of {len(listed)} cells are missing: about {sum(missing) / 60:,.0f} minutes in one process."
    )
