"""The tables by name, and the runs that they need."""

from collections.abc import Iterable, Sequence

from attribute_planner.errors import unknown_name
from attribute_planner.experiments.run_specs import RUN_SPECS
from attribute_planner.experiments.runs import SCALES, Run, RunSpec, named_runs, runs_of
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
"""The table of the README; it needs no runs of its own."""


def chosen_runs(
    tables: Iterable[str] = (), scale: str = "paper", seeds: int | None = None, names: Sequence[str] = ()
) -> list[Run]:
    """The runs of the given tables (default: all), restricted to those named, or with a prefix given, in `names`."""
    tables = tuple(tables)
    for table in tables:
        if table not in TABLES:
            raise unknown_name("table", table, TABLES)
    if scale not in SCALES:
        raise unknown_name("scale", scale, SCALES)
    return named_runs(runs_of(run_specs_of(tables or TABLES), scale, seeds), names)


def run_specs_of(tables: Iterable[str]) -> list[RunSpec]:
    """The run specifications of these tables, each once."""
    wanted = {source.run_spec for name in tables for source in TABLES[name].sources()}
    return [run_spec for name, run_spec in RUN_SPECS.items() if name in wanted]


def tables_of(run_spec: RunSpec) -> list[str]:
    """The tables that use the runs of a specification."""
    return [name for name, table in TABLES.items() if any(each.run_spec == run_spec.name for each in table.sources())]
