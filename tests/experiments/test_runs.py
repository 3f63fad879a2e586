"""Names of runs are unique, and every entry of every table is measured by a run."""

import re

import pytest

from attribute_planner.environments.registry import builder
from attribute_planner.errors import UnknownNameError
from attribute_planner.experiments.estimates import seconds_of
from attribute_planner.experiments.run_specs import RUN_SPECS
from attribute_planner.experiments.runs import SCALES, Measurement, Run, planner_config, runs_of
from attribute_planner.experiments.tables import SUMMARY, TABLES, chosen_runs, run_specs_of, tables_of

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
    names = [run.name for run in chosen_runs(scale=scale)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


def test_every_number_of_every_table_is_measured_by_some_run():
    sources = [source for table in EVERY_TABLE for source in table.sources()]
    for source in sources:
        run_spec = RUN_SPECS[source.run_spec]
        known = run_spec.measurements if isinstance(source.value, Measurement) else SCALARS
        assert source.value in known, f"{source} is measured by no run"


def test_nothing_is_trained_or_measured_that_no_table_shows():
    shown = {(source.run_spec, source.value) for table in EVERY_TABLE for source in table.sources()}
    assert [name for name, run_spec in RUN_SPECS.items() if not tables_of(run_spec)] == []
    idle = [
        (name, each)
        for name, run_spec in RUN_SPECS.items()
        for each in run_spec.measurements
        if (name, each) not in shown
    ]
    assert idle == []


@pytest.mark.parametrize("run_spec", RUN_SPECS.values(), ids=RUN_SPECS)
def test_tasks_that_are_measured_exist(run_spec):
    tasks = builder(run_spec.environment)().tasks
    assert {each.task for each in run_spec.measurements} <= set(tasks)


@pytest.mark.parametrize("run", [*chosen_runs(scale="small"), *chosen_runs(seeds=1)], ids=lambda run: run.name)
def test_settings_are_valid_and_time_is_estimated(run: Run):
    if not run.spec.is_baseline:
        assert planner_config(run).steps > 0
    assert 0 < seconds_of(run) < float("inf")


def test_the_small_scale_is_smaller():
    for run_spec in RUN_SPECS.values():
        assert seconds_of(Run(run_spec, 0, "small")) < seconds_of(Run(run_spec, 0, "paper"))


def test_a_table_is_filled_by_its_own_runs():
    runs = chosen_runs(["detector"], seeds=2)
    assert {run.spec.name for run in runs} == {
        "blocks-paper",
        "blocks-default",
        "blocks-paper-10k-labels",
        "blocks-default-10k-labels",
    }
    assert {run.seed for run in runs} == {0, 1}
    assert runs == runs_of(run_specs_of(["detector"]), "paper", 2)


def test_runs_are_chosen_by_how_their_names_begin():
    assert [run.name for run in chosen_runs(names=["paper-switches-paper-0"])] == ["paper-switches-paper-0"]
    assert [run.name for run in chosen_runs(names=["paper-blocks-paper-1"])] == ["paper-blocks-paper-1"]
    assert {run.spec.name for run in chosen_runs(scale="small", names=["small-crafting-pa"])} == {"crafting-paper"}


@pytest.mark.parametrize(("tables", "names"), [(["grid-world"], []), ([], ["paper-nobody"])])
def test_what_does_not_exist_is_named(tables: list[str], names: list[str]):
    with pytest.raises(UnknownNameError, match=r"There is no (table|run)"):
        chosen_runs(tables, names=names)


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
