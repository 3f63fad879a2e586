import numpy as np
import pytest

from attribute_planner.errors import DamagedFileError
from attribute_planner.planning.executor import Conduct
from attribute_planner.planning.state_success import SuccessModel
from attribute_planner.storage.conduct import (
    CONDUCT,
    SOURCE,
    SUCCESS_ARRAYS,
    TARGET,
    USUAL,
    conduct_arrays,
    load_conduct,
)

SETS = np.array([[1, 2], [3, 4], [5, 6]], np.uint32)
MEASURED = Conduct(0.75, 4.0, SuccessModel(1.5, SETS, SETS[::-1], np.array([-2.0, 0.0, 3.5], np.float32)), 0.25, 7.5)


def test_what_was_measured_is_loaded_again():
    arrays, note = conduct_arrays(MEASURED)
    loaded = load_conduct(arrays, {CONDUCT: note}, num_words=2)
    assert loaded._replace(success=None) == MEASURED._replace(success=None)
    assert loaded.success is not None and MEASURED.success is not None and loaded.success.weight == 1.5
    for name in ("source", "target", "usual"):
        np.testing.assert_array_equal(getattr(loaded.success, name), getattr(MEASURED.success, name))


def test_without_values_there_are_no_arrays():
    arrays, note = conduct_arrays(Conduct(0.5))
    assert not arrays and load_conduct(arrays, {CONDUCT: note}, num_words=2) == Conduct(0.5)


def test_older_files_have_one_part_elsewhere():
    assert load_conduct({}, {"repeatable": 0.5}, num_words=2) == Conduct(0.5)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        (SOURCE, SETS[:2]),
        (TARGET, SETS[:, :1]),
        (TARGET, SETS.astype(np.int64)),
        (USUAL, np.zeros((3, 1), np.float32)),
        (USUAL, np.array([0, np.nan, 0], np.float32)),
        (USUAL, np.array([0, 1e9, 0], np.float32)),
        (USUAL, np.zeros(3)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name: str, array: np.ndarray):
    arrays, note = conduct_arrays(MEASURED)
    with pytest.raises(DamagedFileError, match="not possible"):
        load_conduct({**arrays, name: array}, {CONDUCT: note}, num_words=2)


@pytest.mark.parametrize("name", SUCCESS_ARRAYS)
def test_arrays_that_are_lost_are_missed(name: str):
    arrays, note = conduct_arrays(MEASURED)
    with pytest.raises(DamagedFileError, match=name):
        load_conduct({each: arrays[each] for each in arrays if each != name}, {CONDUCT: note}, num_words=2)
