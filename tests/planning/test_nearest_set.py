import numpy as np

from attribute_planner.attributes import Attribute, AttributeSpace, goal_from_names
from attribute_planner.planning.nearest_set import nearest_set, nearest_target, same_change
from attribute_planner.planning.plan import Planner
from attribute_planner.planning.posterior import Posterior, Target
from attribute_planner.transitions.numbering import UNKNOWN
from attribute_planner.transitions.table import TransitionTable
from tests.probes import numbers, partial_goal, table_of

SPACE = AttributeSpace(
    (Attribute("ore", range(10)), Attribute("marine", range(5)), Attribute("colour", ("red", "green", "blue")))
)
SETS = [(0, 0, 0), (9, 2, 0), (3, 1, 2), (4, 1, 1)]
TABLE = table_of(SPACE, [], also=SETS)
GOAL = goal_from_names(SPACE, {"marine": 3})


def nearest(values: tuple[int, ...], possible: list[bool] | None = None) -> tuple[int, ...] | None:
    """The nearest set; by default, all are possible."""
    allowed = np.ones(len(SETS), bool)
    if possible is not None:
        order = [TABLE.number_of(np.array(each)) for each in SETS]
        allowed[order] = possible
    number = nearest_set(TABLE, np.array(values), GOAL, allowed)
    return None if number == UNKNOWN else tuple(TABLE.values[number].tolist())


def test_attributes_of_the_goal_come_first_then_the_distance_of_integers():
    assert nearest((1, 2, 1)) == (9, 2, 0)
    assert nearest((5, 1, 0)) == (4, 1, 1)


def test_named_values_differ_by_one():
    # Blue is as far from red as green is, whatever their numbers.
    assert nearest((3, 1, 0)) == (3, 1, 2)


def test_only_possible_sets_are_considered():
    assert nearest((1, 2, 1), [True, False, True, True]) == (4, 1, 1)
    assert nearest((1, 2, 1), [False] * 4) is None


def test_integers_change_by_the_same_amount_and_names_to_the_same_value():
    changed = same_change(SPACE, np.array([7, 1, 0]), np.array([5, 0, 2]), np.array([2, 1, 1]))
    assert changed.tolist() == [4, 2, 1]


def test_integers_stay_within_their_range_and_unchanged_attributes_stay():
    changed = same_change(SPACE, np.array([1, 4, 0]), np.array([5, 3, 2]), np.array([2, 4, 2]))
    assert changed.tolist() == [0, 4, 0]


def target_from(table: TransitionTable, values: int, goal: int) -> Target | None:
    planner, wanted = Planner(table), partial_goal([goal])
    return nearest_target(planner, Posterior(planner, wanted), wanted, np.array([values], np.int32), 20.0)


def test_the_target_is_the_change_that_the_nearest_set_with_a_way_would_make():
    # 6 is nearer to 5, but from there no way leads to 3. From 1, the way leads one up.
    table = table_of(numbers(9), [((1,), (2,), 0.9), ((2,), (3,), 0.8), ((3,), (5,), 0.9)])
    target = target_from(table, 6, 3)
    assert target is not None
    assert (target.values.tolist(), target.probability) == ([7], 0.8)


def test_without_any_way_to_the_goal_there_is_no_target():
    assert target_from(table_of(numbers(9), [((1,), (2,), 0.9)]), 6, 3) is None
