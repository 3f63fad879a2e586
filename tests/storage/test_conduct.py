import numpy as np
import pytest

from attribute_planner.errors import DamagedFileError
from attribute_planner.planning.executor import Conduct
from attribute_planner.planning.state_success import SuccessModel
from attribute_planner.storage.conduct import CONDUCT, CONDUCT_ARRAYS, conduct_arrays, load_conduct
from attribute_planner.transitions.edge_numbers import EdgeNumbers

SETS = np.array([[1, 2], [3, 4], [5, 6]], np.uint32)
USUAL = EdgeNumbers(SETS, SETS[::-1], np.array([-2.0, 0.0, 3.5], np.float32))
STEPS = EdgeNumbers(SETS[1:], SETS[:2], np.array([1.0, 7.5], np.float32))
MEASURED = Conduct(0.75, 4.0, SuccessModel(1.5, USUAL), 0.25, STEPS)


def assert_same(found: EdgeNumbers | None, expected: EdgeNumbers) -> None:
    assert found is not None
    for name in ("source", "target", "number"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_what_was_measured_is_loaded_again():
    arrays, note = conduct_arrays(MEASURED)
    loaded = load_conduct(arrays, {CONDUCT: note}, num_words=2)
    edges = {"success": None, "arrival_steps": None}
    assert loaded._replace(**edges) == MEASURED._replace(**edges)
    assert loaded.success is not None and loaded.success.weight == 1.5
    assert_same(loaded.success.usual, USUAL)
    assert_same(loaded.arrival_steps, STEPS)


def test_one_measurement_needs_no_other():
    arrays, note = conduct_arrays(MEASURED._replace(success=None))
    loaded = load_conduct(arrays, {CONDUCT: note}, num_words=2)
    assert loaded.success is None
    assert_same(loaded.arrival_steps, STEPS)


def test_without_measurements_there_are_no_arrays():
    arrays, note = conduct_arrays(Conduct(0.5))
    assert not arrays and load_conduct(arrays, {CONDUCT: note}, num_words=2) == Conduct(0.5)


def test_older_files_have_one_part_elsewhere():
    assert load_conduct({}, {"repeatable": 0.5}, num_words=2) == Conduct(0.5)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("success.source", SETS[:2]),
        ("success.target", SETS[:, :1]),
        ("success.target", SETS.astype(np.int64)),
        ("success.usual", np.zeros((3, 1), np.float32)),
        ("success.usual", np.array([0, np.nan, 0], np.float32)),
        ("success.usual", np.array([0, 1e9, 0], np.float32)),
        ("success.usual", np.zeros(3)),
        ("arrival.source", SETS),
        ("arrival.steps", np.array([0.5, 3.0], np.float32)),
        ("arrival.steps", np.array([3.0, np.inf], np.float32)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name: str, array: np.ndarray):
    arrays, note = conduct_arrays(MEASURED)
    with pytest.raises(DamagedFileError, match="not possible"):
        load_conduct({**arrays, name: array}, {CONDUCT: note}, num_words=2)


@pytest.mark.parametrize("name", CONDUCT_ARRAYS)
def test_arrays_that_are_lost_are_missed(name: str):
    arrays, note = conduct_arrays(MEASURED)
    with pytest.raises(DamagedFileError, match=name):
        load_conduct({each: arrays[each] for each in arrays if each != name}, {CONDUCT: note}, num_words=2)
