import numpy as np
import pytest

from attribute_planner.planning.state_success import TABLE_ALONE, SuccessModel, fitted_success

COUNT = 4_000


def attempts(of_table: float, of_value: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities in the table, values, and outcomes that depend on both with these weights."""
    random = np.random.default_rng(0)
    c, value = random.uniform(0.1, 0.9, (2, COUNT))
    chance = SuccessModel(0.0, of_table, of_value).probability(c, value)
    return c, value, random.random(COUNT) < chance


@pytest.mark.parametrize(("of_table", "of_value"), [(1.0, 0.0), (0.0, 1.0), (0.5, 2.0)])
def test_the_weights_are_found(of_table: float, of_value: float):
    found = fitted_success(*attempts(of_table, of_value))
    assert found == pytest.approx((0.0, of_table, of_value), abs=0.2)


def test_nothing_is_assumed_from_no_attempts():
    nothing = np.zeros(0)
    assert fitted_success(nothing, nothing, nothing.astype(bool)) == pytest.approx(TABLE_ALONE)


def test_values_are_never_evidence_of_the_opposite():
    c, value, reached = attempts(0.5, 2.0)
    assert fitted_success(c, 1 - value, reached).of_value == 0


def test_the_table_alone_leaves_probabilities_as_they_are():
    c = np.array([0.0, 0.2, 0.9])
    assert TABLE_ALONE.probability(c, np.array([0.9, 0.9, 0.1])) == pytest.approx(c)


def test_what_the_table_excludes_stays_impossible():
    assert SuccessModel(0.0, 0.0, 5.0).probability(np.array([0.0]), np.array([0.99])) == 0
