"""Verdicts: sentences that say where the numbers of a table differ from the paper's."""

from collections.abc import Iterator, Sequence

from attribute_planner.experiments.aggregates import (
    ALIKE,
    HIGHER,
    LOWER,
    Aggregate,
    aggregate_of,
    compared,
    shown,
    shown_of_paper,
)
from attribute_planner.experiments.records import Record
from attribute_planner.experiments.tables.layout import PERCENT, Column, Entry, Row, Table

WORDS = {
    HIGHER: "higher than the paper on",
    LOWER: "lower than the paper on",
    ALIKE: "no significant difference from the paper on",
}
FAR_APART = 25.0
"""Points between the best and the worst seed from which a row is mentioned."""


def verdicts_of(table: Table, records: Sequence[Record]) -> list[str]:
    """A sentence per row that can be compared, then rows whose seeds differ much, then rows without measurements."""
    rows = [(row, list(_numbers(table, row, records))) for row in table.rows]
    sentences = [sentence for row, numbers in rows if (sentence := _compared(row, numbers))]
    far_apart = [where for row, numbers in rows if (where := _far_apart(row, numbers))]
    missing = [_name(row) for row, numbers in rows if not numbers]
    return [
        *sentences,
        *([f"Seeds differ by {FAR_APART:.0f} points or more: {'; '.join(far_apart)}."] if far_apart else []),
        *([f"Not measured yet: {'; '.join(missing)}."] if missing else []),
    ]


def _numbers(table: Table, row: Row, records: Sequence[Record]) -> Iterator[tuple[Column, Entry, Aggregate]]:
    """The numbers of a row that are measured."""
    for column, entry in zip(table.columns, row.entries, strict=True):
        number = aggregate_of(entry.ours, records, column.kind) if entry.ours is not None else None
        if number is not None:
            yield column, entry, number


def _compared(row: Row, numbers: Sequence[tuple[Column, Entry, Aggregate]]) -> str:
    """Where a row is higher, lower or not significantly different; empty if there is nothing to compare."""
    found: dict[str, list[str]] = {how: [] for how in WORDS}
    for column, entry, number in numbers:
        if entry.reference is not None:
            theirs = shown_of_paper(entry.reference, column.kind, bound=entry.bound)
            how = compared(number, entry.reference, bound=entry.bound)
            found[how].append(f"{column.label} ({shown(number.mean, column.kind)} against {theirs})")
    parts = [f"{WORDS[how]} {', '.join(places)}" for how, places in found.items() if places]
    return f"{_name(row)}: {'; '.join(parts)}." if parts else ""


def _far_apart(row: Row, numbers: Sequence[tuple[Column, Entry, Aggregate]]) -> str:
    """The columns in which the seeds of a row differ much; empty if there are none."""
    places = [
        f"{column.label} ({shown(number.extremes[0], column.kind)} to {shown(number.extremes[1], column.kind)})"
        for column, _, number in numbers
        if column.kind == PERCENT and number.extremes[1] - number.extremes[0] >= FAR_APART
    ]
    return f"{_name(row)} on {', '.join(places)}" if places else ""


def _name(row: Row) -> str:
    return f"{row.label} ({row.training})" if row.training else row.label
