"""The report: every table next to the paper's numbers. All of it is generated from records."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from attribute_planner.experiments.aggregates import aggregate_of, shown, shown_aggregate
from attribute_planner.experiments.dot_plots import DotPlot, dot_plot, draw_dots
from attribute_planner.experiments.marks import AT_LEAST, BELOW, OTHER_SETTINGS, OUTDATED, marked
from attribute_planner.experiments.outdated import is_outdated, newest, outdated_runs
from attribute_planner.experiments.plots import PLOTS, draw_plot
from attribute_planner.experiments.records import Record, read_records
from attribute_planner.experiments.run_specs import RUN_SPECS
from attribute_planner.experiments.runs import SCALES
from attribute_planner.experiments.tables import SUMMARY, TABLES
from attribute_planner.experiments.tables.layout import COUNT, PERCENT, Entry, Row, Table

REPORTS = {"paper": Path("REPRODUCTION.md"), "small": Path("reproduction/small.md")}
"""The path of the report of each scale."""
PICTURES = "pictures"
"""The folder of the plots, next to that of the records."""

Pictures = Mapping[str, str]
"""The path of each plot relative to the report."""


def write_report(report: Path, records: Path, scale: str) -> None:
    """Write the report and its plots."""
    found = records_at(records, scale)
    folder = records.parent / PICTURES / scale
    links: dict[str, str] = {}
    for plot in (make(found) for make in PLOTS):
        if plot.lines:
            draw_plot(folder / f"{plot.name}.svg", plot)
            links[plot.name] = _seen_from(report.parent, folder / f"{plot.name}.svg")
    for dots in dot_plots(found):
        draw_dots(folder / f"{dots.name}-table.svg", dots)
        links[f"{dots.name}-table"] = _seen_from(report.parent, folder / f"{dots.name}-table.svg")
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(report_text(found, scale, links), encoding="utf-8")


def dot_plots(records: Sequence[Record]) -> list[DotPlot]:
    """The plots of the tables with success rates."""
    return [plot for table in TABLES.values() if (plot := dot_plot(table, records)) is not None]


def records_at(folder: Path, scale: str) -> list[Record]:
    """The records of a scale whose run specifications exist, newer ones in place of outdated ones."""
    return newest([each for each in read_records(folder) if each.scale == scale and each.run_spec in RUN_SPECS])


def report_text(records: Sequence[Record], scale: str, pictures: Pictures) -> str:
    """The whole report."""
    parts = [
        "# Reproduction",
        _introduction(records, scale),
        *(table_section(table, records, scale, pictures) for table in TABLES.values()),
        hardware_section(records),
    ]
    return "\n\n".join(parts) + "\n"


def _introduction(records: Sequence[Record], scale: str) -> str:
    command = "attribute-planner reproduce" + ("" if scale == "paper" else f" --scale {scale}")
    episodes = SCALES[scale].episodes
    small = (
        "\n\n**This is the small scale**: the same code and the same rows with budgets that are too small to compare "
        "methods."
        if scale == "small"
        else ""
    )
    return f"""\
Every table of the paper with the paper's numbers and ours. `{command}` generates this file from {len(records)} records.
{_versions(records)}{small}

- An entry reads *paper's number → our mean over seeds [95 % interval]*, in % of {episodes:,} tasks per seed.
  {AT_LEAST}: at least the paper's number, or not significantly different from it. {BELOW}: below it. Rows that the
  paper does not have are compared with its agent (AP).
- The interval is a t-interval over seeds, cut off at the bounds of the quantity, and at least as wide as that of all
  tasks pooled; with one seed it is Wilson's interval over tasks. The paper gives no intervals: its numbers are taken as
  exact, and a number is not significantly different if its interval contains the paper's."""


def _versions(records: Sequence[Record]) -> str:
    """The versions of this package with which the records were made, and the number of records of each."""
    counts = Counter((record.trained["version"], record.evaluated["version"]) for record in records)
    parts = [
        f"trained and measured with version {trained} ({count})"
        if trained == measured
        else f"trained with version {trained}, measured with version {measured} ({count})"
        for (trained, measured), count in sorted(counts.items())
    ]
    return f"The records were {'; '.join(parts)}." if parts else "Nothing is recorded yet."


def table_section(table: Table, records: Sequence[Record], scale: str, pictures: Pictures) -> str:
    """A table with its heading, verdicts, notes and plots."""
    command = f"attribute-planner reproduce {table.name}" + ("" if scale == "paper" else f" --scale {scale}")
    parts = [
        f"## {table.title}",
        f"{table.where[0].upper() + table.where[1:]}. `{command}`",
        *quoted(table, records),
        markdown_table(table, records),
        "\n".join(f"- {sentence}" for sentence in (*marked(table, records).footnotes, *table.notes_at(scale))),
        *(f"![{title}]({pictures[name]})" for name, title in _plots_of(table) if name in pictures),
    ]
    return "\n\n".join(parts)


def _plots_of(table: Table) -> list[tuple[str, str]]:
    """Names and titles of the plots of a table."""
    dots = (f"{table.name}-table", f"{table.title}: success of the paper and ours")
    return [dots, *((name, PLOT_TITLES[name]) for name in PLOTS_OF.get(table.name, ()))]


PLOTS_OF = {"sample-size": ("sample-size",), "exploration": ("edges",), "grid-worlds": ("success",)}
"""The plots of each table."""
PLOT_TITLES = {
    "sample-size": "Success on multi-step tasks over the number of examples",
    "edges": "Transitions found over steps of exploration",
    "success": "Success in training over steps: of the planner's attempted transitions, of a baseline's tasks",
}


def markdown_table(table: Table, records: Sequence[Record]) -> str:
    """A table as Markdown."""
    trained = any(row.training for row in table.rows)
    head = ["", *(["trained on"] if trained else []), *(column.label for column in table.columns), "seeds"]
    rows = [
        [row.label, *([row.training] if trained else []), *texts, _seeds(table, row, records)]
        for row, texts in zip(table.rows, marked(table, records).entries, strict=True)
    ]
    return markdown([head, *rows])


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows as a Markdown table; the first is its head."""
    lines = [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def quoted(table: Table, records: Sequence[Record]) -> list[str]:
    """The result of a table in a sentence or two, if all of its numbers are measured."""
    if table.quote is None:
        return []
    sources = [entry.ours for entry in table.quote.entries if entry.ours is not None]
    numbers = [aggregate_of(source, records, COUNT if isinstance(source.value, str) else PERCENT) for source in sources]
    kinds = [COUNT if isinstance(source.value, str) else PERCENT for source in sources]
    if any(number is None for number in numbers):
        return []
    means = [shown(number.mean, kind) for number, kind in zip(numbers, kinds, strict=True) if number is not None]
    return [table.quote.text.format(*means)]


def _seeds(table: Table, row: Row, records: Sequence[Record]) -> str:
    """The number of seeds of a row."""
    pairs = zip(table.columns, row.entries, strict=True)
    numbers = [aggregate_of(entry.ours, records, column.kind) for column, entry in pairs if entry.ours is not None]
    counts = sorted({0 if number is None else number.seeds for number in numbers} or {0})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def summary_text(records: Sequence[Record]) -> str:
    """The table of the README: the rows with measurements, and a sentence that names the others."""
    measured = [row for row in SUMMARY.rows if _seeds(SUMMARY, row, records) != "0"]
    missing = [row.label for row in SUMMARY.rows if row not in measured]
    head = ["", *(column.label for column in SUMMARY.columns)]
    outdated = outdated_runs(records)
    rows = [[row.label, *(_summed_up(entry, records, outdated) for entry in row.entries)] for row in measured]
    old = f"\n\n{OTHER_SETTINGS}" if any(OUTDATED in text for row in rows for text in row) else ""
    later = f"\n\nNot measured yet: {'; '.join(missing)}." if missing else ""
    return markdown([head, *rows]) + old + later


def _summed_up(entry: Entry, records: Sequence[Record], outdated: frozenset[str]) -> str:
    if entry.ours is None:
        return shown(entry.published or 0.0, PERCENT)
    number = aggregate_of(entry.ours, records, PERCENT)
    seeds = "" if number is None else f" ({number.seeds} seed{'s' * (number.seeds > 1)})"
    return shown_aggregate(number, PERCENT) + seeds + OUTDATED * is_outdated(entry.ours, records, outdated)


def hardware_section(records: Sequence[Record]) -> str:
    """Hardware and duration of all runs."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(_machine(record), []).append(record)
    head = ["trained on", "runs", "training, minutes", "measuring, minutes", "commits"]
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
    return "\n\n".join(["## Time and hardware", markdown([head, *rows]), SUMS])


SUMS = "Minutes are summed over runs. Many runs shared a machine, which was therefore busy for less time than the sum."


def _machine(record: Record) -> str:
    where = record.trained
    return f"{where['device']}, {where['cores']} cores ({where['machine']}), JAX {where['jax']}"


def _seen_from(folder: Path, path: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()
