"""Reading a table: sentences that say where our numbers differ from the paper's, made of the numbers alone."""

from collections.abc import Iterator, Sequence

from attribute_planner.experiments.aggregates import (
    ALIKE,
    HIGHER,
    LOWER,
    Number,
    compared,
    number_of,
    shown,
    shown_of_paper,
)
from attribute_planner.experiments.records import Record
from attribute_planner.experiments.tables.layout import PERCENT, Column, Entry, Row, Table

UNDECIDED = "undecided"
WORDS = {
    HIGHER: "higher than the paper on",
    LOWER: "lower than the paper on",
    ALIKE: "as the paper, within error, on",
    UNDECIDED: "no verdict, as seeds lie too far apart, on",
}
FAR_APART = 25.0
"""By how many points seeds must differ for their mean to say little."""


def read_table(table: Table, records: Sequence[Record]) -> list[str]:
    """A sentence for each row that can be compared, then what depends on the seed, then what is not measured yet."""
    rows = [(row, list(_numbers(table, row, records))) for row in table.rows]
    sentences = [sentence for row, numbers in rows if (sentence := _compared(row, numbers))]
    far_apart = [where for row, numbers in rows if (where := _far_apart(row, numbers))]
    missing = [_name(row) for row, numbers in rows if not numbers]
    return [
        *sentences,
        *([f"Seeds lie far apart: {'; '.join(far_apart)}."] if far_apart else []),
        *([f"Not measured yet: {'; '.join(missing)}."] if missing else []),
    ]


def _numbers(table: Table, row: Row, records: Sequence[Record]) -> Iterator[tuple[Column, Entry, Number]]:
    """The numbers of a row that are there."""
    for column, entry in zip(table.columns, row.entries, strict=True):
        number = number_of(entry.ours, records, column.kind) if entry.ours is not None else None
        if number is not None:
            yield column, entry, number


def _compared(row: Row, numbers: Sequence[tuple[Column, Entry, Number]]) -> str:
    """Where a row of ours is higher, lower, alike or neither; empty if there is nothing to compare."""
    found: dict[str, list[str]] = {how: [] for how in WORDS}
    for column, entry, number in numbers:
        if entry.reference is not None:
            theirs = shown_of_paper(entry.reference, column.kind, bound=entry.bound)
            how = compared(number, entry.reference, bound=entry.bound)
            how = UNDECIDED if how == ALIKE and _lie_far_apart(column, number) else how
            found[how].append(f"{column.label} ({shown(number.mean, column.kind)} against {theirs})")
    parts = [f"{WORDS[how]} {', '.join(places)}" for how, places in found.items() if places]
    return f"{_name(row)}: {'; '.join(parts)}." if parts else ""


def _far_apart(row: Row, numbers: Sequence[tuple[Column, Entry, Number]]) -> str:
    """On which columns the seeds of a row lie far apart; empty if on none."""
    places = [
        f"{column.label} ({shown(number.extremes[0], column.kind)} to {shown(number.extremes[1], column.kind)})"
        for column, _, number in numbers
        if _lie_far_apart(column, number)
    ]
    return f"{_name(row)} on {', '.join(places)}" if places else ""


def _lie_far_apart(column: Column, number: Number) -> bool:
    return column.kind == PERCENT and number.extremes[1] - number.extremes[0] >= FAR_APART


def _name(row: Row) -> str:
    return f"{row.label} ({row.training})" if row.training else row.label
