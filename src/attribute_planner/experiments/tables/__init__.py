"""The tables by name, and the cells that fill them."""

from collections.abc import Iterable, Sequence

from attribute_planner.errors import unknown_name
from attribute_planner.experiments.records import Record
from attribute_planner.experiments.run_specs import SUBJECTS
from attribute_planner.experiments.runs import SCALES, Cell, Subject, cells_of
from attribute_planner.experiments.tables import (
    blocks,
    continuous,
    detector,
    exploration,
    grid_worlds,
    improvements,
    sample_size,
    starcraft,
    summary,
)
from attribute_planner.experiments.tables.layout import Table

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        grid_worlds.TABLE,
        blocks.TABLE,
        sample_size.TABLE,
        continuous.TABLE,
        starcraft.TABLE,
        detector.TABLE,
        exploration.TABLE,
        improvements.GRID_WORLDS,
        improvements.BLOCKS,
    )
}
"""In the order of the report."""

SUMMARY = summary.TABLE
"""What the README shows; it is filled by the others' cells."""


def chosen_cells(
    tables: Iterable[str] = (), scale: str = "paper", seeds: int | None = None, names: Sequence[str] = ()
) -> list[Cell]:
    """The cells of the named tables, all if none is named; of those, the ones called as `names` say, or beginning so.

    Whoever names a whole cell means that cell, and none whose name only begins as its does.
    """
    tables = tuple(tables)
    for table in tables:
        if table not in TABLES:
            raise unknown_name("table", table, TABLES)
    if scale not in SCALES:
        raise unknown_name("scale", scale, SCALES)
    cells = cells_of(subjects_of(tables or TABLES), scale, seeds)
    everything = {cell.name: cell for cell in cells}
    wanted = set() if names else set(everything)
    for name in names:
        found = {name} if name in everything else {each for each in everything if each.startswith(name)}
        if not found:
            raise unknown_name("cell", name, list(everything))
        wanted |= found
    return [cell for cell in cells if cell.name in wanted]


def cell_of(record: Record) -> Cell:
    """The cell that a record is of."""
    return Cell(SUBJECTS[record.subject], record.seed, record.scale)


def subjects_of(tables: Iterable[str]) -> list[Subject]:
    """What is trained for these tables, each subject once."""
    wanted = {source.subject for name in tables for source in TABLES[name].sources()}
    return [subject for name, subject in SUBJECTS.items() if name in wanted]


def tables_of(subject: Subject) -> list[str]:
    """The tables that read a subject's cells."""
    return [name for name, table in TABLES.items() if any(each.subject == subject.name for each in table.sources())]
