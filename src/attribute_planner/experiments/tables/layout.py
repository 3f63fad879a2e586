"""The structure of a table: entries with the published number and the source of ours."""

from collections.abc import Iterator
from dataclasses import dataclass

from attribute_planner.experiments.runs import Execution, Measurement

PERCENT, COUNT, ERROR = "%", "count", "% error"
"""Kinds of columns: success in %, counts, and errors in % with more digits."""


@dataclass(frozen=True)
class Source:
    """The source of a number: a measurement of a run specification, or one of its training's scalars."""

    run_spec: str
    value: Measurement | str


@dataclass(frozen=True)
class Entry:
    """One entry of a table.

    published: the paper's number, if there is one.
    ours: the source of our number.
    against: the paper's number that ours is compared with, if there is none for this entry.
    bound: whether `published` is only an upper bound.
    below: why our number is below the paper's, if a measurement shows it; by default the reason of the row.
    """

    published: float | None = None
    ours: Source | None = None
    against: float | None = None
    bound: bool = False
    below: str = ""

    @property
    def reference(self) -> float | None:
        """The paper's number that ours is compared with."""
        return self.against if self.published is None else self.published


@dataclass(frozen=True)
class Column:
    """label: its heading; kind: `PERCENT`, `COUNT` or `ERROR`."""

    label: str
    kind: str = PERCENT


@dataclass(frozen=True)
class Row:
    """label: the model; training: what it was trained on; entries: one per column.

    below: why some of its numbers are below the paper's, if a measurement shows it.
    """

    label: str
    training: str
    entries: tuple[Entry, ...]
    below: str = ""


@dataclass(frozen=True)
class Quote:
    """The result of a table in a sentence or two.

    text: with `{}` for each number; entries: where the numbers come from.
    """

    text: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Table:
    """A table of the paper.

    name: its name on the command line; where: its place in the paper.
    quote: the result in a sentence or two.
    notes: shown below the table; small_notes: further notes at the small scale.
    """

    name: str
    title: str
    where: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    small_notes: tuple[str, ...] = ()
    quote: Quote | None = None

    def notes_at(self, scale: str) -> tuple[str, ...]:
        """The notes at a scale."""
        return self.notes + (self.small_notes if scale == "small" else ())

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.entries) != len(self.columns):
                raise ValueError(f"Row {row.label!r} of {self.name} has {len(row.entries)} entries.")

    def sources(self) -> Iterator[Source]:
        """The sources of all our numbers."""
        return (entry.ours for row in self.rows for entry in row.entries if entry.ours is not None)


def entry(
    run_spec: str,
    task: str,
    execution: Execution,
    published: float | None = None,
    *,
    against: float | None = None,
) -> Entry:
    """An entry for success on a task."""
    return Entry(published, Source(run_spec, Measurement(task, execution)), against)


def scalar(run_spec: str, name: str, published: float | None = None, *, bound: bool = False) -> Entry:
    """An entry for a scalar of the training."""
    return Entry(published, Source(run_spec, name), bound=bound)
