"""Marks: whether a number is at least the paper's, and the footnotes of a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attribute_planner.experiments.aggregates import (
    HIGHER,
    LOWER,
    Aggregate,
    aggregate_of,
    compared,
    shown,
    shown_aggregate,
    shown_of_paper,
)
from attribute_planner.experiments.outdated import is_outdated, outdated_runs
from attribute_planner.experiments.records import Record
from attribute_planner.experiments.tables.layout import ERROR, PERCENT, Column, Entry, Row, Table

AT_LEAST, BELOW, OUTDATED = "✓", "✗", "†"
"""At least the paper's number, or not significantly different from it; below it; other settings than today's."""
NOT_EXPLAINED = "The cause is not measured yet."
OTHER_SETTINGS = f"{OUTDATED} Trained with other settings than those of this version, by version 0.1."
FAR_APART = 25.0
"""Points between the best and the worst seed from which a row is mentioned."""


@dataclass(frozen=True)
class MarkedTable:
    """The texts of a table's entries, row by row, and what stands below it."""

    entries: list[list[str]]
    footnotes: list[str]


def marked(table: Table, records: Sequence[Record]) -> MarkedTable:
    """A table with a mark at every number that can be compared with the paper's."""
    outdated = outdated_runs(records)
    reasons: list[str] = []
    texts: list[list[str]] = []
    old = False
    for row in table.rows:
        texts.append([])
        for column, entry in zip(table.columns, row.entries, strict=True):
            number = None if entry.ours is None else aggregate_of(entry.ours, records, column.kind)
            mark = _mark(entry, number, column)
            if mark == BELOW:
                reason = entry.below or row.below or NOT_EXPLAINED
                reasons += [reason] * (reason not in reasons)
                mark += superscript(reasons.index(reason) + 1)
            stale = entry.ours is not None and is_outdated(entry.ours, records, outdated)
            old |= stale
            texts[-1].append(_text(entry, number, column) + (f" {mark}" if mark else "") + OUTDATED * stale)
    numbered = [f"{BELOW}{superscript(index)} {reason}" for index, reason in enumerate(reasons, 1)]
    return MarkedTable(texts, [*numbered, *([OTHER_SETTINGS] if old else []), *_remarks(table, records)])


def superscript(number: int) -> str:
    """A number as the mark of a footnote."""
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _mark(entry: Entry, number: Aggregate | None, column: Column) -> str:
    """The mark of a number; empty if there is nothing to compare it with."""
    if number is None or entry.reference is None:
        return ""
    worse = HIGHER if column.kind == ERROR else LOWER
    return BELOW if compared(number, entry.reference, bound=entry.bound) == worse else AT_LEAST


def _text(entry: Entry, number: Aggregate | None, column: Column) -> str:
    """The paper's number, if there is one, and ours."""
    theirs = "" if entry.published is None else shown_of_paper(entry.published, column.kind, bound=entry.bound)
    if entry.ours is None and not theirs:
        return "–"
    ours = "not measured yet" if number is None else shown_aggregate(number, column.kind)
    return f"{theirs} → {ours}" if theirs else ours


def _remarks(table: Table, records: Sequence[Record]) -> Iterator[str]:
    """Rows whose seeds differ much, then rows without measurements."""
    rows = [(row, list(_numbers(table, row, records))) for row in table.rows]
    far_apart = [where for row, numbers in rows if (where := _far_apart(row, numbers))]
    missing = [_name(row) for row, numbers in rows if not numbers]
    if far_apart:
        yield f"Seeds differ by {FAR_APART:.0f} points or more: {'; '.join(far_apart)}."
    if missing:
        yield f"Not measured yet: {'; '.join(missing)}."


def _numbers(table: Table, row: Row, records: Sequence[Record]) -> Iterator[tuple[Column, Aggregate]]:
    """The numbers of a row that are measured."""
    for column, entry in zip(table.columns, row.entries, strict=True):
        number = aggregate_of(entry.ours, records, column.kind) if entry.ours is not None else None
        if number is not None:
            yield column, number


def _far_apart(row: Row, numbers: Sequence[tuple[Column, Aggregate]]) -> str:
    """The columns in which the seeds of a row differ much; empty if there are none."""
    places = [
        f"{column.label} ({shown(number.extremes[0], column.kind)} to {shown(number.extremes[1], column.kind)})"
        for column, number in numbers
        if column.kind == PERCENT and number.extremes[1] - number.extremes[0] >= FAR_APART
    ]
    return f"{_name(row)} on {', '.join(places)}" if places else ""


def _name(row: Row) -> str:
    return f"{row.label} ({row.training})" if row.training else row.label
