from dataclasses import replace
from pathlib import Path

import pytest

from attribute_planner.errors import AttributePlannerError
from attribute_planner.experiments.records import (
    Record,
    Result,
    is_recorded,
    read_record,
    read_records,
    record_path,
    write_record,
)
from attribute_planner.experiments.runs import OURS, PUBLISHED, Measurement, Run, RunSpec, measured

RUN = Run(RunSpec("probe", "switches", measured(["multi-step"], PUBLISHED, OURS)), 3, "small")


def result_of(measurement: Measurement, success: float = 0.5) -> Result:
    how = measurement.execution
    return Result(
        measurement.task, how.mode, how.estimator, how.model_edges, 200, success, [0.4, 0.6], None, 1.5, 0.25, 960, 2.0
    )


RECORD = Record(
    run=RUN.name,
    run_spec="probe",
    seed=3,
    scale="small",
    command="attribute-planner reproduce",
    configuration={"config": {"explore": {"steps": 7}}},
    trained={"version": "0.2", "commit": "abc", "device": "cpu", "cores": 2, "machine": "probe", "jax": "1.0"},
    evaluated={"version": "0.2", "commit": "def", "device": "cpu"},
    training_seconds=12.5,
    results=[result_of(RUN.spec.measurements[0])],
    scalars={"edges": 25},
    curves={"edges": [[100, 3.0], [200, 25.0]]},
)


def test_a_record_survives_the_way_through_its_file(tmp_path: Path):
    write_record(tmp_path / "records", RECORD)
    assert read_record(tmp_path / "records", RUN) == RECORD
    assert read_records(tmp_path / "records") == [RECORD]
    assert [path.name for path in (tmp_path / "records").iterdir()] == ["small-probe-3.json"]


def test_a_run_is_recorded_when_nothing_is_left_to_measure(tmp_path: Path):
    assert not is_recorded(tmp_path, RUN)
    write_record(tmp_path, RECORD)
    assert RECORD.missing(RUN) == [Measurement("multi-step", OURS)]
    assert not is_recorded(tmp_path, RUN)
    write_record(tmp_path, replace(RECORD, results=[*RECORD.results, result_of(RUN.spec.measurements[1])]))
    assert is_recorded(tmp_path, RUN)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"format": 2}', '{"format": 0}', '{"format": 2, "results": [], "speed": 1}']
)
def test_what_is_no_record_is_said_to_be_none(text: str, tmp_path: Path):
    record_path(tmp_path, RUN).write_text(text)
    with pytest.raises(AttributePlannerError, match=r"small-probe-3\.json"):
        read_record(tmp_path, RUN)
