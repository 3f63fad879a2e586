import numpy as np

from attribute_planner.attributes import Attribute, AttributeSpace, goal_from_names
from attribute_planner.planning.nearest_set import most_alike, same_change
from attribute_planner.transitions.table import UNKNOWN
from tests.probes import table_of

SPACE = AttributeSpace(
    (Attribute("ore", range(10)), Attribute("marine", range(5)), Attribute("colour", ("red", "green", "blue")))
)
SETS = [(0, 0, 0), (9, 2, 0), (3, 1, 2), (4, 1, 1)]
TABLE = table_of(SPACE, [], also=SETS)
GOAL = goal_from_names(SPACE, {"marine": 3})


def alike(values: tuple[int, ...], possible: list[bool] | None = None) -> tuple[int, ...] | None:
    """The most similar set; by default, all are possible."""
    allowed = np.ones(len(SETS), bool)
    if possible is not None:
        order = [TABLE.number_of(np.array(each)) for each in SETS]
        allowed[order] = possible
    number = most_alike(TABLE, np.array(values), GOAL, allowed)
    return None if number == UNKNOWN else tuple(TABLE.values[number].tolist())


def test_what_the_goal_mentions_counts_first_then_how_far_numbers_are_apart():
    assert alike((1, 2, 1)) == (9, 2, 0)
    assert alike((5, 1, 0)) == (4, 1, 1)


def test_names_differ_or_they_do_not():
    # Blue is as far from red as green is, whatever their numbers.
    assert alike((3, 1, 0)) == (3, 1, 2)


def test_only_possible_sets_are_looked_at():
    assert alike((1, 2, 1), [True, False, True, True]) == (4, 1, 1)
    assert alike((1, 2, 1), [False] * 4) is None


def test_numbers_change_by_as_much_and_names_to_the_same():
    changed = same_change(SPACE, np.array([7, 1, 0]), np.array([5, 0, 2]), np.array([2, 1, 1]))
    assert changed.tolist() == [4, 2, 1]


def test_numbers_stay_within_their_range_and_what_does_not_change_stays():
    changed = same_change(SPACE, np.array([1, 4, 0]), np.array([5, 3, 2]), np.array([2, 4, 2]))
    assert changed.tolist() == [0, 4, 0]
