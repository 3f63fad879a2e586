"""The report: every table beside the paper's numbers. It is made of records; nothing in it is typed by hand."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from attribute_planner.experiments.aggregates import number_of, shown, shown_number, shown_of_paper
from attribute_planner.experiments.plots import PLOTS, draw_plot
from attribute_planner.experiments.records import Record, read_records
from attribute_planner.experiments.run_one import is_current
from attribute_planner.experiments.run_specs import SUBJECTS
from attribute_planner.experiments.runs import SCALES
from attribute_planner.experiments.tables import SUMMARY, TABLES, cell_of
from attribute_planner.experiments.tables.layout import PERCENT, Column, Entry, Row, Table
from attribute_planner.experiments.verdicts import read_table

REPORTS = {"paper": Path("REPRODUCTION.md"), "small": Path("reproduction/small.md")}
"""Where the report of each scale is written."""
PICTURES = "pictures"
"""The folder of the plots, beside that of the records."""

Pictures = Mapping[str, str]
"""Where the picture of each plot lies, as seen from the report."""


def write_report(report: Path, records: Path, scale: str) -> None:
    """Write the report and its pictures, which go beside the folder of records."""
    found = records_at(records, scale)
    folder = records.parent / PICTURES / scale
    links: dict[str, str] = {}
    for plot in (make(found) for make in PLOTS):
        if plot.lines:
            draw_plot(folder / f"{plot.name}.svg", plot)
            links[plot.name] = _seen_from(report.parent, folder / f"{plot.name}.svg")
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(report_text(found, scale, links), encoding="utf-8")


def records_at(folder: Path, scale: str) -> list[Record]:
    """All records of a scale, of subjects that still exist."""
    return [each for each in read_records(folder) if each.scale == scale and each.subject in SUBJECTS]


def report_text(records: Sequence[Record], scale: str, pictures: Pictures) -> str:
    """The whole report."""
    parts = [
        "# Reproduction",
        _introduction(records, scale),
        *(table_section(table, records, scale, pictures) for table in TABLES.values()),
        _hardware_section(records),
    ]
    return "\n\n".join(parts) + "\n"


def _introduction(records: Sequence[Record], scale: str) -> str:
    command = "attribute-planner reproduce" + ("" if scale == "paper" else f" --scale {scale}")
    episodes = SCALES[scale].episodes
    small = (
        "\n\n**This is the small scale**: the same code and the same rows, but budgets so small that the numbers say "
        "nothing about the methods."
        if scale == "small"
        else ""
    )
    return f"""\
Every table of the paper beside what this code measured, made by `{command}` of {len(records)} records. Nothing here is
typed by hand: change the records, and run the command again.{small}

- Success in % of {episodes:,} fresh tasks per seed. A cell reads *paper's number · ours*. Ours is the mean over seeds ±
  half of its 95 % t-interval; where there is one seed only, its 95 % interval over tasks, in brackets.
- The paper gives no intervals. "As the paper, within error" means that its number lies in our interval over seeds, or
  in that over all tasks of all seeds; it does not mean that the two were shown to be equal.
- "All our changes" are rows that the paper does not have; they are read against its own agent (AP)."""


def table_section(table: Table, records: Sequence[Record], scale: str, pictures: Pictures) -> str:
    """A table with all that belongs to it."""
    command = f"attribute-planner reproduce {table.name}" + ("" if scale == "paper" else f" --scale {scale}")
    parts = [
        f"## {table.title}",
        f"{table.where[0].upper() + table.where[1:]}. `{command}`",
        markdown_table(table, records),
        "\n".join(f"- {sentence}" for sentence in (*read_table(table, records), *table.notes_at(scale))),
        *(f"![{PLOT_TITLES[name]}]({pictures[name]})" for name in PLOTS_OF.get(table.name, ()) if name in pictures),
    ]
    return "\n\n".join(parts)


PLOTS_OF = {"sample-size": ("sample-size",), "exploration": ("edges",), "grid-worlds": ("success",)}
"""Which plots belong to which table."""
PLOT_TITLES = {
    "sample-size": "Success on multi-step tasks over the number of examples",
    "edges": "Transitions found over steps of exploration",
    "success": "Success of what is attempted over steps of training: the planner's transitions, a baseline's tasks",
}


def markdown_table(table: Table, records: Sequence[Record]) -> str:
    """A table beside the paper's numbers."""
    trained = any(row.training for row in table.rows)
    head = ["", *(["trained on"] if trained else []), *(column.label for column in table.columns), "seeds"]
    rows = [
        [
            row.label,
            *([row.training] if trained else []),
            *(_cell(entry, column, records) for entry, column in zip(row.entries, table.columns, strict=True)),
            _seeds(table, row, records),
        ]
        for row in table.rows
    ]
    return markdown([head, *rows])


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a table; the first is its head."""
    lines = [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def _cell(entry: Entry, column: Column, records: Sequence[Record]) -> str:
    theirs = shown_of_paper(entry.published, column.kind, bound=entry.bound)
    if entry.ours is None:
        return "–" if entry.published is None else f"{theirs} · not measured yet"
    return f"{theirs} · {shown_number(number_of(entry.ours, records, column.kind), column.kind)}"


def _seeds(table: Table, row: Row, records: Sequence[Record]) -> str:
    """How many seeds the numbers of a row rest on."""
    pairs = zip(table.columns, row.entries, strict=True)
    numbers = [number_of(entry.ours, records, column.kind) for column, entry in pairs if entry.ours is not None]
    counts = sorted({0 if number is None else number.seeds for number in numbers} or {0})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def summary_text(records: Sequence[Record]) -> str:
    """The README's table: the rows of which something is measured, and a sentence on the others."""
    measured = [row for row in SUMMARY.rows if _seeds(SUMMARY, row, records) != "0"]
    missing = [row.label for row in SUMMARY.rows if row not in measured]
    head = ["", *(column.label for column in SUMMARY.columns)]
    rows = [[row.label, *(_summed_up(entry, records) for entry in row.entries)] for row in measured]
    later = f"\n\nNot measured yet: {'; '.join(missing)}." if missing else ""
    return markdown([head, *rows]) + later


def _summed_up(entry: Entry, records: Sequence[Record]) -> str:
    if entry.ours is None:
        return shown(entry.published or 0.0, PERCENT)
    number = number_of(entry.ours, records, PERCENT)
    seeds = "" if number is None else f" ({number.seeds} seed{'s' * (number.seeds > 1)})"
    return shown_number(number, PERCENT) + seeds


def _hardware_section(records: Sequence[Record]) -> str:
    """Where and how long everything was trained and measured."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(_machine(record), []).append(record)
    head = ["trained on", "cells", "training, minutes", "measuring, minutes", "commits"]
    rows = [
        [
            machine,
            str(len(mine)),
            f"{sum(record.training_seconds for record in mine) / 60:,.0f}",
            f"{sum(result.seconds for record in mine for result in record.results) / 60:,.0f}",
            ", ".join(sorted(Counter(record.trained["commit"] or "unknown" for record in mine))),
        ]
        for machine, mine in sorted(groups.items())
    ]
    if not rows:
        return "## Time and hardware\n\nNothing is recorded yet."
    return "\n\n".join(["## Time and hardware", markdown([head, *rows]), SUMS, *_outdated(records)])


SUMS = (
    "Minutes are summed over cells. Many cells shared their machine, and took the longer for it: it was busy for less "
    "than the sum."
)


def _outdated(records: Sequence[Record]) -> list[str]:
    """A sentence on records of settings that have changed since, if there are any."""
    old = [record.cell for record in records if not is_current(record, cell_of(record))]
    return [f"Recorded with settings that have changed since: {', '.join(old)}."] if old else []


def _machine(record: Record) -> str:
    where = record.trained
    return f"{where['device']}, {where['cores']} cores ({where['machine']}), JAX {where['jax']}"


def _seen_from(folder: Path, path: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()
