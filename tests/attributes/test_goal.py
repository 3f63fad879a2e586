import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribute_planner.attributes import Attribute, AttributeSpace, Goal, goal_from_names, parse_goal
from attribute_planner.errors import ConfigurationError, GoalError, UnknownNameError

SPACE = AttributeSpace((Attribute("colour", ("red", "green", "blue")), Attribute("lamp"), Attribute("n", range(3))))


def test_a_partial_goal_minds_only_what_it_names():
    goal = goal_from_names(SPACE, {"n": 1})
    assert goal.wanted.tolist() == [False, False, True]
    sets = np.array([[0, 0, 1], [2, 1, 1], [0, 0, 0]], np.int32)
    assert goal.satisfied_by(sets).tolist() == [True, True, False]


@pytest.mark.parametrize(
    "text", ["colour=blue lamp=true", "lamp, colour=blue", "  colour=2,lamp=1 ", "lamp lamp=true colour=blue"]
)
def test_goals_are_written_with_spaces_or_commas(text):
    goal = parse_goal(SPACE, text)
    assert goal.named(SPACE) == {"colour": "blue", "lamp": True}


@pytest.mark.parametrize("text", ["", "   ", ","])
def test_an_empty_goal_is_refused(text):
    with pytest.raises(GoalError, match="The goal is empty: name at least one of colour, lamp, n"):
        parse_goal(SPACE, text)


def test_an_empty_goal_in_a_dictionary_is_refused_too():
    with pytest.raises(GoalError, match="The goal is empty"):
        goal_from_names(SPACE, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour=red colour=blue", "colour cannot be red and blue at once"),
        ("lamp=false lamp", "lamp cannot be false and true at once"),
        ("n=0,n=2", "n cannot be 0 and 2 at once"),
    ],
)
def test_a_contradictory_goal_is_refused(text, message):
    with pytest.raises(GoalError, match=message):
        parse_goal(SPACE, text)


def test_the_same_wish_twice_is_no_contradiction():
    assert parse_goal(SPACE, "colour=2 colour=blue").named(SPACE) == {"colour": "blue"}


def test_a_name_without_a_value_is_enough_only_for_binary_attributes():
    with pytest.raises(GoalError, match="'colour' needs a value, as in colour=red"):
        parse_goal(SPACE, "colour")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shape=round", "no attribute 'shape'.*There are: colour, lamp, n"),
        ("colour=grene", r"Did you mean 'green'\? There are: red, green, blue"),
        ("colour=", "Attribute 'colour' has no value ''"),
        ("=red", "no attribute ''"),
        ("colour=red=blue", "Attribute 'colour' has no value 'red=blue'"),
    ],
)
def test_unknown_names_and_values_list_what_exists(text, message):
    with pytest.raises(UnknownNameError, match=message):
        parse_goal(SPACE, text)


def test_a_number_can_be_asked_for_as_a_lower_bound():
    goal = parse_goal(SPACE, "n>=1 lamp")
    assert goal.text(SPACE) == "lamp=true n>=1"
    sets = np.array([[0, 1, 0], [0, 1, 1], [2, 1, 2], [0, 0, 2]], np.int32)
    assert goal.satisfied_by(sets).tolist() == [False, True, True, False]
    assert goal_from_names(SPACE, {"n": ">=1", "lamp": True}).key(SPACE) == goal.key(SPACE)


@pytest.mark.parametrize(
    ("text", "same"),
    [("n>=1 n>=2", "n=2"), ("n>=0 n=1", "n=1"), ("n=1 n>=1", "n=1"), ("lamp n>=0", "lamp")],
)
def test_bounds_of_one_attribute_are_taken_together(text, same):
    assert parse_goal(SPACE, text).key(SPACE) == parse_goal(SPACE, same).key(SPACE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour>=red", "colour>=red is not a valid goal: only integer .* of 'colour' are red, green, blue.$"),
        ("n>=2 n=1", "n cannot be >=2 and 1 at once"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(text, message):
    with pytest.raises(GoalError, match=message):
        parse_goal(SPACE, text)


POTS = AttributeSpace((Attribute("egg", ("in pot", "on the table", "in", "it's, now")), Attribute("n", range(3))))


@pytest.mark.parametrize(
    ("text", "egg"),
    [
        ('egg="in pot"', "in pot"),
        ("n=1, egg='on the table'", "on the table"),
        ('egg="in",n>=1', "in"),
        ('''n>=1 egg="it's, now"''', "it's, now"),
    ],
)
def test_values_with_spaces_are_in_quotes(text, egg):
    assert parse_goal(POTS, text).named(POTS)["egg"] == egg


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("egg=in pot", "There is no attribute 'pot'"),
        ("egg='in pot", r"egg='in is not a valid goal: ' must be closed at the end of the value"),
        ('egg="in pot"n=1', r'egg="in is not a valid goal: " must be closed at the end of the value'),
        ('egg="', "must be closed"),
        ("egg='in pto'", r'''Did you mean "in pot"\? There are: "in pot", "on the table", in, "it's, now"'''),
        ("egg", 'needs a value, as in egg="in pot"'),
    ],
)
def test_what_is_suggested_can_be_typed(text, message):
    with pytest.raises((GoalError, UnknownNameError), match=message):
        parse_goal(POTS, text)


awkward = st.text(st.sampled_from(list("ab ,='\"><\t\n1"))) | st.text()


def can_be_an_attribute(values: list[str]) -> bool:
    try:
        return bool(Attribute("v", values))
    except ConfigurationError:
        return False


@given(
    st.lists(awkward.map(str.strip), min_size=2, max_size=5, unique=True).filter(can_be_an_attribute),
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 4)),
    st.tuples(st.booleans(), st.booleans(), st.booleans()).filter(any),
    st.booleans(),
)
def test_a_goal_is_read_as_it_is_written(values, chosen, wanted, or_more):
    space = AttributeSpace((Attribute("v", values), Attribute("lamp"), Attribute("n>", range(-2, 3))))
    at_least = np.array([False, False, or_more])
    goal = Goal(np.array(chosen, np.int32), np.array(wanted), at_least)
    assert parse_goal(space, goal.text(space)).key(space) == goal.key(space)


@pytest.mark.parametrize("value", ["'a\"b c'd", 'it\'s "so"', "\"that's"])
def test_a_value_that_no_goal_can_name_is_refused(value):
    with pytest.raises(
        ConfigurationError, match="cannot be written in a goal, because it contains both kinds of quotes"
    ):
        Attribute("v", ("a", value))


wishes = st.tuples(*(st.tuples(st.integers(0, size - 1), *[st.booleans()] * 2) for size in (3, 2, 3)))


@given(wishes, wishes)
def test_goals_share_a_key_if_and_only_if_the_same_sets_satisfy_them(left, right):
    every_set = np.stack(np.meshgrid(range(3), range(2), range(3)), axis=-1).reshape(-1, 3)
    goals = [Goal(*(np.array(column) for column in zip(*each, strict=True))) for each in (left, right)]
    same = (goals[0].satisfied_by(every_set) == goals[1].satisfied_by(every_set)).all()
    assert (goals[0].key(SPACE) == goals[1].key(SPACE)) == same


def test_a_bound_and_an_equality_have_different_keys():
    exactly, or_more = parse_goal(SPACE, "n=1"), parse_goal(SPACE, "n>=1")
    assert exactly.key(SPACE) != or_more.key(SPACE)


def test_a_batch_of_goals_is_satisfied_row_by_row():
    goals = Goal(np.array([[0, 1, 2], [1, 0, 0]]), np.array([[True, True, False], [True, False, False]]))
    assert goals.satisfied_by(np.array([[0, 1, 0], [2, 0, 0]])).tolist() == [True, False]
    assert goals[1].named(SPACE) == {"colour": "green"}
