import warnings

import pytest

from attribute_planner.errors import ConfigurationError
from attribute_planner.storage import threads
from attribute_planner.storage.threads import VARIABLE, fix_threads, num_threads


@pytest.fixture
def unused(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """JAX is not in use yet, and no number is set."""
    monkeypatch.setattr(threads, "_is_in_use", lambda: False)
    # Set first, so that it is removed again after the test.
    monkeypatch.setenv(VARIABLE, "7")
    monkeypatch.delenv(VARIABLE)
    return monkeypatch


@pytest.mark.parametrize(("cores", "expected"), [(1, 2), (2, 2), (16, 16)])
def test_one_core_has_the_threads_of_two(unused: pytest.MonkeyPatch, cores: int, expected: int):
    unused.setattr(threads, "num_cores", lambda: cores)
    fix_threads()
    assert num_threads() == expected


def test_a_resumed_run_has_its_own_number(unused: pytest.MonkeyPatch):
    fix_threads(5)
    assert num_threads() == 5


def test_a_number_of_the_user_takes_precedence_with_a_warning(unused: pytest.MonkeyPatch):
    unused.setenv(VARIABLE, "3")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fix_threads()
        fix_threads(3)
    with pytest.warns(UserWarning, match="began with 5 threads and continues with 3"):
        fix_threads(5)


def test_nothing_is_changed_once_jax_is_in_use(unused: pytest.MonkeyPatch):
    unused.setattr(threads, "_is_in_use", lambda: True)
    unused.setattr(threads, "num_cores", lambda: 4)
    fix_threads()
    assert num_threads() == 4
    with pytest.warns(UserWarning, match="began with 2 threads and continues with 4"):
        fix_threads(2)


def test_an_impossible_number_is_an_error(unused: pytest.MonkeyPatch):
    unused.setenv(VARIABLE, "0")
    with pytest.raises(ConfigurationError, match=f"{VARIABLE} must be greater than zero"):
        num_threads()
