import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.attributes.space import key_of_words
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError, UnknownNameError

COLOUR = Attribute("colour", ("red", "green", "blue"))
LAMP = Attribute("lamp")
FLOOR = Attribute("floor", range(-2, 4, 2))
SPACE = AttributeSpace((COLOUR, LAMP, FLOOR))

sizes = st.lists(st.integers(2, 40), min_size=1, max_size=40)


def space_of(sizes: list[int]) -> AttributeSpace:
    return AttributeSpace(tuple(Attribute(f"a{i}", range(size)) for i, size in enumerate(sizes)))


@st.composite
def sizes_with_sets(draw: st.DrawFn) -> tuple[list[int], np.ndarray]:
    """The sizes of a space, and up to five sets of it."""
    chosen = draw(sizes)
    rows = draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in chosen)), min_size=1, max_size=5))
    return chosen, np.array(rows, np.int32)


@pytest.mark.parametrize(
    ("attribute", "value", "index"),
    [
        (COLOUR, "blue", 2),
        (COLOUR, " green ", 1),
        (COLOUR, 2, 2),
        (COLOUR, "2", 2),
        (COLOUR, np.int64(1), 1),
        (LAMP, True, 1),
        (LAMP, np.False_, 0),
        (LAMP, "TRUE", 1),
        (LAMP, 0, 0),
        (LAMP, "1", 1),
        (FLOOR, -2, 0),
        (FLOOR, 2, 2),
        (FLOOR, "0", 1),
        (FLOOR, 2.0, 2),
        (FLOOR, np.float32(-2.0), 0),
        (FLOOR, -0.0, 1),
        (COLOUR, 2.0, 2),
        (LAMP, np.float64(1.0), 1),
        (Attribute("x", ("0.5", "1.0")), 1.0, 1),
    ],
)
def test_a_value_is_given_by_name_or_number(attribute, value, index):
    assert attribute.encode(value) == index


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        (COLOUR, "pink"),
        (COLOUR, 3),
        (COLOUR, -1),
        (COLOUR, "--1"),
        (COLOUR, "²"),
        (COLOUR, ""),
        (COLOUR, True),
        (LAMP, 2),
        (LAMP, "on"),
        (FLOOR, 1),
        (FLOOR, 4),
        (FLOOR, True),
        (FLOOR, "2.0"),
    ],
)
def test_a_value_that_does_not_exist_is_an_error_that_lists_those_that_do(attribute, value):
    shown = ", ".join(str(each) for each in attribute.values)
    with pytest.raises(UnknownNameError, match=f"Attribute '{attribute.name}' has no value.*There are: {shown}"):
        attribute.encode(value)


@pytest.mark.parametrize("value", [1.5, float("nan"), -float("inf"), np.float32(0.5)])
def test_a_number_that_is_not_whole_is_an_error(value):
    message = f"Attribute 'floor' has no value '{float(value)}'; its values are whole numbers: -2, 0, 2.$"
    with pytest.raises(UnknownNameError, match=message):
        FLOOR.encode(value)
    with pytest.raises(UnknownNameError, match=r"Attribute 'lamp' has no value '.*There are: false, true"):
        LAMP.encode(value)


def test_a_long_range_is_not_listed_in_full():
    with pytest.raises(UnknownNameError, match=r"There are: 0 … 99\.$"):
        Attribute("n", range(100)).encode(100)


def test_values_come_back_as_what_they_are():
    assert SPACE.decode(np.array([1, 1, 0])) == {"colour": "green", "lamp": True, "floor": -2}
    assert [each.kind for each in SPACE] == ["categorical", "binary", "integer"]


def test_a_complete_set_is_encoded_whatever_the_order_of_its_names():
    values = SPACE.encode({"floor": 2, "lamp": "false", "colour": "red"})
    assert values.tolist() == [0, 0, 2]
    assert values.dtype == np.int32


def test_an_incomplete_set_says_what_it_lacks():
    with pytest.raises(UnknownNameError, match="it lacks: lamp, floor"):
        SPACE.encode({"colour": "red"})


def test_an_unknown_attribute_lists_those_that_exist_and_guesses():
    with pytest.raises(
        UnknownNameError, match=r"no attribute 'color'. Did you mean 'colour'\? There are: colour, lamp"
    ):
        SPACE.encode({"color": "red"})


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("", ("a", "b"), "must not be empty"),
        ("two words", ("a", "b"), "nor contain spaces, commas or '='; 'two_words' is possible"),
        ("a=b", ("a", "b"), "nor contain"),
        ("a,b", ("a", "b"), "nor contain"),
        ("x", ("a",), "has 1 value; it needs between 2"),
        ("x", range(70_000), "has 70000 values"),
        ("x", ("a", "b", "a"), "names a value twice: a, b, a"),
        ("x", "ab", "must be a tuple of names, or a range"),
        ("x", (1, 2), "must be a tuple of names, or a range"),
        ("x", 3, "must be a tuple of names, or a range"),
    ],
)
def test_attributes_that_make_no_sense_are_refused(name, values, message):
    with pytest.raises(ConfigurationError, match=message):
        Attribute(name, values)


def test_a_space_needs_attributes_with_different_names():
    with pytest.raises(ConfigurationError, match="at least one attribute"):
        AttributeSpace(())
    with pytest.raises(ConfigurationError, match="share a name"):
        AttributeSpace((LAMP, LAMP))
    with pytest.raises(ConfigurationError, match="'lamp' and 'lamp>' cannot be told apart in a goal like lamp>=1"):
        AttributeSpace((LAMP, Attribute("lamp>")))


def test_values_out_of_range_name_the_attribute_and_where_they_came_from():
    with pytest.raises(EnvironmentFaultError, match=r"describe returned index 2 for attribute 'lamp'.*\(0 to 1\)"):
        SPACE.validate(np.array([[0, 1, 2], [0, 2, 0]]), "describe")
    with pytest.raises(EnvironmentFaultError, match=r"shape \(2,\); the last axis must be 3"):
        SPACE.validate(np.array([0, 1]), "describe")
    assert SPACE.validate(np.array([2, 1, 2], np.int8), "describe").dtype == np.int32


def test_packing_by_hand():
    # Two bits of colour, then one of the lamp, then two of the floor.
    assert SPACE.pack(np.array([2, 1, 1])).tolist() == [2 + 1 * 4 + 1 * 8]
    assert SPACE.key(np.array([2, 1, 1])) == 14
    # Eleven attributes of three bits do not fit into 32: the eleventh begins a second word.
    space = space_of([5] * 11)
    assert space.num_words == 2
    assert space.pack(np.array([1] + [0] * 9 + [4])).tolist() == [1, 4]
    assert space.key(np.array([1] + [0] * 9 + [4])) == 1 + 4 * 2**32


@given(sizes_with_sets())
def test_packing_is_exact(drawn):
    space, values = space_of(drawn[0]), drawn[1]
    words = space.pack(values)
    assert words.dtype == np.uint32
    np.testing.assert_array_equal(space.unpack(words), values)


@pytest.mark.parametrize("space", [SPACE, space_of([5] * 40), space_of([2**16, 2**16, 3])])
def test_jax_packs_as_numpy_does(space):
    values = np.random.default_rng(0).integers(0, space.sizes, (50, len(space))).astype(np.int32)
    words, back = jax.jit(lambda values: (space.pack(values), space.unpack(space.pack(values))))(values)
    np.testing.assert_array_equal(words, space.pack(values))
    np.testing.assert_array_equal(back, values)


@given(sizes_with_sets())
def test_a_key_stands_for_one_set_only(drawn):
    space, values = space_of(drawn[0]), drawn[1]
    keys = [space.key(row) for row in values]
    assert len(set(keys)) == len({tuple(row) for row in values.tolist()})
    for key, row in zip(keys, values, strict=True):
        assert key == key_of_words(np.asarray(space.pack(row)))


def test_forty_attributes_of_size_five_need_more_than_64_bits_and_still_differ():
    space = space_of([5] * 40)
    sets = np.zeros((161, 40), np.int32)
    for row in range(160):
        sets[row + 1, row // 4] = row % 4 + 1
    keys = {space.key(row) for row in sets}
    assert len(keys) == 161
    assert max(keys) >= 2**64
    assert len(np.unique(space.pack(sets), axis=0)) == 161


def test_one_hot_form_by_hand():
    expected = [[0, 0, 1, 1, 0, 0, 1, 0], [0, 0, 0, 0, 1, 0, 0, 0]]
    np.testing.assert_array_equal(SPACE.one_hot(jnp.array([[2, 0, 1], [-1, 1, -1]])), expected)
    assert SPACE.offsets.tolist() == [0, 3, 5]


def test_a_space_is_shown_by_names_and_values():
    space = AttributeSpace(
        (
            Attribute("lit"),
            Attribute("kettle", ("empty", "hot")),
            Attribute("n", range(7)),
            Attribute("c", tuple("abcdefghi")),
        )
    )
    assert repr(space) == "AttributeSpace(lit, kettle=empty|hot, n=0 … 6, c=a … i)"
