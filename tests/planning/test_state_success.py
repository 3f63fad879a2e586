import numpy as np
import pytest

from attribute_planner.planning.state_success import adjusted, fitted_weight

COUNT = 4_000


def attempts(weight: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities in the table, what values exceed the usual ones by, and outcomes that depend on both."""
    random = np.random.default_rng(0)
    c, surplus = random.uniform(0.1, 0.9, COUNT), random.normal(0.0, 2.0, COUNT)
    return c, surplus, random.random(COUNT) < adjusted(c, weight, surplus)


@pytest.mark.parametrize("weight", [0.5, 1.0, 3.0])
def test_the_weight_is_found(weight: float):
    assert fitted_weight(*attempts(weight)) == pytest.approx(weight, rel=0.1)


def test_values_without_meaning_have_no_weight():
    c, surplus, reached = attempts(0.0)
    assert fitted_weight(c, surplus, reached) == pytest.approx(0.0, abs=0.05)
    c, surplus, reached = attempts(1.0)
    assert fitted_weight(c, -surplus, reached) == 0, "values are never evidence of the opposite"


def test_the_usual_value_leaves_the_probability_as_it_is():
    c = np.array([0.0, 0.2, 0.9])
    assert adjusted(c, 3.0, np.zeros(3)) == pytest.approx(c)


def test_where_nothing_is_known_the_probability_stays():
    assert adjusted(np.array([0.2, 0.7]), 3.0, np.full(2, np.nan)) == pytest.approx([0.2, 0.7])


def test_what_the_table_excludes_stays_impossible():
    assert adjusted(np.array([0.0]), 5.0, np.array([9.0])) == 0
