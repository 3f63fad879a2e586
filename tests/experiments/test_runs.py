"""Cells are unique and independent, and every place of every table is filled by one of them."""

import re

import pytest

from attribute_planner.environments.registry import builder
from attribute_planner.errors import UnknownNameError
from attribute_planner.experiments.estimates import seconds_of
from attribute_planner.experiments.run_specs import SUBJECTS
from attribute_planner.experiments.runs import SCALES, Cell, Measurement, cells_of, planner_config
from attribute_planner.experiments.tables import SUMMARY, TABLES, chosen_cells, subjects_of, tables_of

SCALARS = {
    "sets",
    "edges",
    "edges with model-generated ones",
    "detector error",
    "detector states",
    "forward model error",
}
EVERY_TABLE = [*TABLES.values(), SUMMARY]


@pytest.mark.parametrize("scale", SCALES)
def test_names_are_unique_and_fit_for_files(scale: str):
    names = [cell.name for cell in chosen_cells(scale=scale)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


def test_every_number_of_every_table_is_measured_by_some_cell():
    sources = [source for table in EVERY_TABLE for source in table.sources()]
    for source in sources:
        subject = SUBJECTS[source.subject]
        known = subject.measurements if isinstance(source.value, Measurement) else SCALARS
        assert source.value in known, f"{source} is measured by no cell"


def test_nothing_is_trained_or_measured_that_no_table_shows():
    shown = {(source.subject, source.value) for table in EVERY_TABLE for source in table.sources()}
    assert [name for name, subject in SUBJECTS.items() if not tables_of(subject)] == []
    idle = [
        (name, each) for name, subject in SUBJECTS.items() for each in subject.measurements if (name, each) not in shown
    ]
    assert idle == []


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS)
def test_tasks_that_are_measured_exist(subject):
    tasks = builder(subject.environment)().tasks
    assert {each.task for each in subject.measurements} <= set(tasks)


@pytest.mark.parametrize("cell", [*chosen_cells(scale="small"), *chosen_cells(seeds=1)], ids=lambda cell: cell.name)
def test_settings_are_valid_and_time_is_estimated(cell: Cell):
    if not cell.subject.is_baseline:
        assert planner_config(cell).steps > 0
    assert 0 < seconds_of(cell) < float("inf")


def test_the_small_scale_is_smaller():
    for subject in SUBJECTS.values():
        assert seconds_of(Cell(subject, 0, "small")) < seconds_of(Cell(subject, 0, "paper"))


def test_a_table_is_filled_by_its_own_cells():
    cells = chosen_cells(["detector"], seeds=2)
    assert {cell.subject.name for cell in cells} == {
        "blocks-paper",
        "blocks-default",
        "blocks-paper-10k-labels",
        "blocks-default-10k-labels",
    }
    assert {cell.seed for cell in cells} == {0, 1}
    assert cells == cells_of(subjects_of(["detector"]), "paper", 2)


def test_cells_are_chosen_by_how_their_names_begin():
    assert [cell.name for cell in chosen_cells(names=["paper-switches-paper-0"])] == ["paper-switches-paper-0"]
    assert [cell.name for cell in chosen_cells(names=["paper-blocks-paper-1"])] == ["paper-blocks-paper-1"]
    assert {cell.subject.name for cell in chosen_cells(scale="small", names=["small-crafting-pa"])} == {
        "crafting-paper"
    }


@pytest.mark.parametrize(("tables", "names"), [(["grid-world"], []), ([], ["paper-nobody"])])
def test_what_does_not_exist_is_named(tables: list[str], names: list[str]):
    with pytest.raises(UnknownNameError, match=r"There is no (table|cell)"):
        chosen_cells(tables, names=names)


def test_the_papers_own_numbers_are_there():
    published = {
        name: [entry.published for row in table.rows for entry in row.entries if entry.published is not None]
        for name, table in TABLES.items()
    }
    assert {name: len(numbers) for name, numbers in published.items()} == {
        "grid-worlds": 8,
        "blocks": 50,
        "sample-size": 20,
        "continuous": 50,
        "starcraft": 7,
        "detector": 4,
        "exploration": 5,
        "grid-worlds-changes": 0,
        "blocks-changes": 0,
    }
