"""What a table is: rows and columns of entries, each with the published number and where ours comes from."""

from collections.abc import Iterator
from dataclasses import dataclass

from attribute_planner.experiments.runs import Execution, Measurement

PERCENT, COUNT, ERROR = "%", "count", "% error"
"""What the numbers of a column are: success in %, how many, or errors in % with more digits."""


@dataclass(frozen=True)
class Source:
    """Where a number of ours comes from: a measurement on a subject, or a scalar that its training left behind."""

    subject: str
    value: Measurement | str


@dataclass(frozen=True)
class Entry:
    """One place in a table.

    published: the paper's number, if it has one here.
    ours: where our number comes from.
    against: the paper's number to read ours against, where the paper has none here.
    bound: whether the paper only says that its number is below that.
    """

    published: float | None = None
    ours: Source | None = None
    against: float | None = None
    bound: bool = False

    @property
    def reference(self) -> float | None:
        """The paper's number that ours is compared with."""
        return self.against if self.published is None else self.published


@dataclass(frozen=True)
class Column:
    """label: what stands above it; kind: what its numbers are."""

    label: str
    kind: str = PERCENT


@dataclass(frozen=True)
class Row:
    """label: which model; training: what it was trained on; entries: one for each column."""

    label: str
    training: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Table:
    """A table of the paper.

    name: as the command line calls it; where: its place in the paper.
    notes: what a reader must know; small_notes: what else of the small scale, where labels tell of the full one.
    """

    name: str
    title: str
    where: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    small_notes: tuple[str, ...] = ()

    def notes_at(self, scale: str) -> tuple[str, ...]:
        """All that a reader of that scale must know."""
        return self.notes + (self.small_notes if scale == "small" else ())

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.entries) != len(self.columns):
                raise ValueError(f"Row {row.label!r} of {self.name} has {len(row.entries)} entries.")

    def sources(self) -> Iterator[Source]:
        """Where all numbers of ours come from."""
        return (entry.ours for row in self.rows for entry in row.entries if entry.ours is not None)


def entry(
    subject: str,
    task: str,
    execution: Execution,
    published: float | None = None,
    *,
    against: float | None = None,
) -> Entry:
    """An entry for success on a task."""
    return Entry(published, Source(subject, Measurement(task, execution)), against)


def scalar(subject: str, name: str, published: float | None = None, *, bound: bool = False) -> Entry:
    """An entry for a number that training left behind."""
    return Entry(published, Source(subject, name), bound=bound)
