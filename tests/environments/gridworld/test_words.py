import jax.numpy as jnp
import pytest

from attribute_planner.environments.gridworld.maps import MapRules
from attribute_planner.environments.gridworld.words import Vocabulary, bag_of_words, ground_words, inventory_words
from attribute_planner.environments.spaces import ABSENT


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary(("tree",), MapRules((3, 10)), items=("axe", "wood"))


def test_there_is_a_word_for_each_feature_at_each_cell_and_for_each_item(vocabulary: Vocabulary):
    assert vocabulary.side == 19
    assert vocabulary.size == 3 * 361 + 2


def test_the_agents_own_cell_is_the_centre_of_the_window(vocabulary: Vocabulary):
    agent = jnp.array([4, 7], jnp.int8)
    positions = jnp.array([[4, 7], [4, 8], [5, 7], [0, 0], [9, 9]], jnp.int8)
    centre = 9 * 19 + 9
    expected = [centre, centre + 1, centre + 19, centre - 4 * 19 - 7, centre + 5 * 19 + 2]
    assert vocabulary.locations(positions, agent).tolist() == expected


def test_the_farthest_cells_are_the_corners_of_the_window(vocabulary: Vocabulary):
    near, far = jnp.array([0, 0], jnp.int8), jnp.array([9, 9], jnp.int8)
    assert vocabulary.locations(far[None], near).tolist() == [360]
    assert vocabulary.locations(near[None], far).tolist() == [0]


def test_words_are_told_as_people_say_them(vocabulary: Vocabulary):
    centre = vocabulary.first("block") + 9 * 19 + 9
    told = [vocabulary.text(word) for word in (ABSENT, centre, centre - 38 + 1, 0, 3 * 361, 3 * 361 + 1)]
    assert told == [
        "nothing",
        "block here",
        "block 2 up 1 right",
        "tree 9 up 9 left",
        "axe in the inventory",
        "wood in the inventory",
    ]


def test_blocks_and_corners_are_seen_from_the_agent(vocabulary: Vocabulary, laid_out):
    grid, things = laid_out("#.. .a. ..#")
    words = ground_words(vocabulary, grid, things["a"], show_corners=True)
    told = [vocabulary.text(word) for word in words.tolist() if word != ABSENT]
    assert told == [
        "block 1 up 1 left",
        "block 1 down 1 right",
        "corner 1 up 1 left",
        "corner 1 up 1 right",
        "corner 1 down 1 left",
        "corner 1 down 1 right",
    ]
    assert words.shape == (24,)
    assert words.dtype == jnp.int16
    assert ground_words(vocabulary, grid, things["a"], show_corners=False).tolist() == words[:20].tolist()


def test_the_inventory_tells_only_what_the_agent_has(vocabulary: Vocabulary):
    assert inventory_words(vocabulary, jnp.array([False, True])).tolist() == [ABSENT, 3 * 361 + 1]


def test_words_of_one_thing_share_its_number(vocabulary: Vocabulary):
    spec = bag_of_words(vocabulary, [2, 1, 2])
    assert (spec.count, spec.vocabulary, spec.items) == (5, vocabulary.size, (0, 0, 1, 2, 2))
