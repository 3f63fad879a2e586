import numpy as np

from attribute_planner.transitions.edge_numbers import EdgeNumbers, edge_numbers
from attribute_planner.transitions.model import empty_listing
from tests.probes import numbers, table_of

SPACE = numbers(5)
LISTING = table_of(SPACE, [((0,), (1,), 0.5), ((0,), (2,), 0.5), ((1,), (2,), 0.5)]).listing()


def words(*values: int) -> np.ndarray:
    return np.asarray(SPACE.pack(np.array(values, np.int32)[:, None]))


def test_numbers_belong_to_the_edges_of_any_table():
    measured = EdgeNumbers(words(0, 3), words(2, 4), np.array([-1.5, 7.0], np.float32))
    np.testing.assert_equal(measured.of_edges(LISTING), [np.nan, -1.5, np.nan])


def test_numbers_of_edges_are_found_again():
    measured = edge_numbers(LISTING, np.array([2, 0]), np.array([4.0, 3.0]))
    np.testing.assert_equal(measured.of_edges(LISTING), [3.0, np.nan, 4.0])


def test_edges_that_do_not_exist_are_not_found():
    edge, known = LISTING.known_edges(words(0, 1, 2, 4), words(1, 0, 0, 1))
    assert known.tolist() == [True, False, False, False] and edge[0] == 0
    assert not empty_listing(SPACE).known_edges(words(0), words(1))[1].any()
