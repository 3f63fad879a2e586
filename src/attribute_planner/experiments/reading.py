"""Reading a table: sentences that say where our numbers differ from the paper's, made of the numbers alone."""

from collections.abc import Sequence

from attribute_planner.experiments.numbers import ALIKE, HIGHER, LOWER, compared, number_of, shown
from attribute_planner.experiments.records import Record
from attribute_planner.experiments.tables.layout import Row, Table

WORDS = {HIGHER: "higher than the paper on", LOWER: "lower than the paper on", ALIKE: "as the paper, within error, on"}


def read_table(table: Table, records: Sequence[Record]) -> list[str]:
    """A sentence for each row that can be compared, and one for all that is not measured yet."""
    sentences = [sentence for row in table.rows if (sentence := read_row(table, row, records))]
    missing = [_name(row) for row in table.rows if _is_missing(table, row, records)]
    return [*sentences, *([f"Not measured yet: {'; '.join(missing)}."] if missing else [])]


def read_row(table: Table, row: Row, records: Sequence[Record]) -> str:
    """Where a row of ours is higher, lower or alike; empty if there is nothing to compare."""
    found: dict[str, list[str]] = {HIGHER: [], LOWER: [], ALIKE: []}
    for column, entry in zip(table.columns, row.entries, strict=True):
        number = number_of(entry.ours, records, column.kind) if entry.ours is not None else None
        if number is None or entry.reference is None:
            continue
        theirs = entry.shown or shown(entry.reference, column.kind)
        found[compared(number, entry.reference)].append(
            f"{column.label} ({shown(number.mean, column.kind)} against {theirs})"
        )
    parts = [f"{WORDS[how]} {', '.join(places)}" for how, places in found.items() if places]
    return f"{_name(row)}: {'; '.join(parts)}." if parts else ""


def _is_missing(table: Table, row: Row, records: Sequence[Record]) -> bool:
    """Whether no number of a row is there."""
    pairs = zip(table.columns, row.entries, strict=True)
    return all(entry.ours is None or number_of(entry.ours, records, column.kind) is None for column, entry in pairs)


def _name(row: Row) -> str:
    return f"{row.label} ({row.training})" if row.training else row.label
