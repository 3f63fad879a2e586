from dataclasses import replace

import numpy as np

from attribute_planner.diagnosis.unseen_values import incomplete
from tests.probes import numbers, table_of

TABLE = table_of(numbers(5), [((0,), (1,), 1.0), ((1,), (0,), 1.0), ((1,), (2,), 1.0)])


def advice(visits: list[float]) -> str:
    """About the values 3 and 4, which were never seen."""
    return incomplete(replace(TABLE, visits=np.array(visits)).listing(), 0, np.array([3, 4]))


def test_an_unseen_value_beside_one_that_was_hardly_seen_needs_more_steps():
    assert "it came to n=2 3 times" in advice([500.0, 400.0, 3.0])


def test_an_unseen_value_beside_one_that_was_often_seen_may_be_impossible():
    assert advice([500.0, 400.0, 300.0]) == ""


def test_without_a_value_beside_it_nothing_is_said():
    assert incomplete(TABLE.listing(), 0, np.array([4])) == ""
