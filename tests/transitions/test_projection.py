"""Tables of random walks in small worlds, in which it is known which attributes matter."""

from collections.abc import Callable

import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace, goal_from_names
from attribute_planner.errors import ConfigurationError, UnknownNameError
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.projection import irrelevant_attributes, matters, project
from attribute_planner.transitions.table import TransitionTable, table_of_counts

SPACE = AttributeSpace((Attribute("room", ("left", "right")), Attribute("key"), Attribute("noise")))
ROOM, KEY, NOISE = range(3)
Rule = Callable[[np.ndarray, np.random.Generator], None]


def walk(rule: Rule, *, steps: int = 2000, seed: int = 0, space: AttributeSpace = SPACE) -> TransitionTable:
    """The table of a random walk; `rule` changes the values in place."""
    random = np.random.default_rng(seed)
    values = np.zeros((steps + 1, len(space)), np.int32)
    for step in range(steps):
        values[step + 1] = values[step]
        rule(values[step + 1], random)
    words = np.asarray(space.pack(values))
    changed = (words[1:] != words[:-1]).any(axis=1)
    counts = TransitionCounts(space.num_words)
    counts.record(words[:-1][changed], words[1:][changed])
    return table_of_counts(space, counts)


def practised(table: TransitionTable, chance: Callable[[np.ndarray], float], seed: int = 0) -> TransitionTable:
    """Fifty attempts at each edge, with a chance of success that depends on the source set."""
    random = np.random.default_rng(seed)
    chances = [chance(values) for values in table.values[table.source]]
    return table.with_practice(np.full(table.num_edges, 50.0), random.binomial(50, chances).astype(float))


def door_with_key(values: np.ndarray, random: np.random.Generator) -> None:
    """Noise flips at random; the key is taken or put down; the door lets through with the key only."""
    values[NOISE] = random.integers(2)
    if random.random() < 0.5:
        values[KEY] ^= 1
    elif values[KEY]:
        values[ROOM] ^= 1


def test_noise_is_left_out_and_a_needed_attribute_stays():
    goal = goal_from_names(SPACE, {"room": "right"})
    found = [irrelevant_attributes(walk(door_with_key, seed=seed), goal) for seed in range(20)]
    assert found.count(("noise",)) >= 19
    assert not any("key" in each or "room" in each for each in found)


def test_what_the_goal_mentions_stays():
    goal = goal_from_names(SPACE, {"room": "right", "noise": True})
    assert irrelevant_attributes(walk(door_with_key), goal) == ()


def test_a_key_that_was_seldom_used_stays():
    found = [irrelevant_attributes(walk(door_with_key, steps=60, seed=seed)) for seed in range(20)]
    assert sum("key" in each and "room" not in each for each in found) <= 1


def test_an_attribute_that_changes_success_stays():
    def free(values: np.ndarray, random: np.random.Generator) -> None:
        values[random.integers(3)] ^= 1

    table, goal = walk(free), goal_from_names(SPACE, {"room": "right"})
    assert set(irrelevant_attributes(practised(table, lambda values: 0.8), goal)) == {"key", "noise"}
    helps = practised(table, lambda values: 0.9 if values[KEY] else 0.4)
    assert irrelevant_attributes(helps, goal) == ("noise",)


def test_small_differences_of_success_are_tolerated():
    def free(values: np.ndarray, random: np.random.Generator) -> None:
        values[random.integers(3)] ^= 1

    table = practised(walk(free), lambda values: 0.85 if values[KEY] else 0.75)
    assert not matters(table, "key")


def test_what_only_serves_an_irrelevant_attribute_is_irrelevant():
    """A lamp lights only with power; neither is wanted, and the room does not depend on them."""
    space = AttributeSpace((Attribute("room"), Attribute("power"), Attribute("lamp")))

    def rule(values: np.ndarray, random: np.random.Generator) -> None:
        chosen = random.integers(3)
        if chosen < 2 or values[1]:
            values[chosen] ^= 1

    table = walk(rule, space=space)
    assert matters(table, "power")
    assert irrelevant_attributes(table, goal_from_names(space, {"room": True})) == ("power", "lamp")
    assert irrelevant_attributes(table, goal_from_names(space, {"lamp": True})) == ("room",)


def test_of_two_equal_attributes_one_stays():
    space = AttributeSpace((Attribute("room"), Attribute("key"), Attribute("copy")))

    def rule(values: np.ndarray, random: np.random.Generator) -> None:
        door_with_key(values, random)
        values[2] = values[1]

    assert irrelevant_attributes(walk(rule, space=space), goal_from_names(space, {"room": True})) == ("key",)


def test_a_projected_table_sums_what_merged_edges_have():
    table = practised(walk(door_with_key), lambda values: 0.5)
    smaller = project(table, ["key", "room"])
    assert smaller.space.names == ("room", "key") and smaller.num_nodes == 4
    between = (table.values[table.source, :2] != table.values[table.target, :2]).any(axis=1)
    for name in ("visits", "attempts", "successes"):
        assert getattr(smaller, name).sum() == getattr(table, name)[between].sum()
    source, target = smaller.number_of(np.array([0, 1], np.int32)), smaller.number_of(np.array([1, 1], np.int32))
    merged = (table.values[table.source, :2] == [0, 1]).all(axis=1) & (table.values[table.target, :2] == [1, 1]).all(
        axis=1
    )
    assert smaller.attempts[smaller.edge(source, target)] == table.attempts[merged].sum()
    assert (np.diff(smaller.source) >= 0).all()
    assert (smaller.numbers_of(smaller.words) == np.arange(4)).all()


def test_all_attributes_kept_is_the_same_table():
    table = practised(walk(door_with_key), lambda values: 0.5)
    same = project(table, SPACE.names)
    for name in ("words", "source", "target", "visits", "attempts", "successes"):
        np.testing.assert_array_equal(getattr(same, name), getattr(table, name))


def test_a_projection_keeps_something_that_exists():
    table = walk(door_with_key)
    with pytest.raises(ConfigurationError, match="at least one"):
        project(table, [])
    with pytest.raises(UnknownNameError):
        project(table, ["lamp"])
