"""Groups of similar transitions."""

import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.transitions import similar
from attribute_planner.transitions.similar import changes_of, differences_of, groups_of
from attribute_planner.transitions.table import TransitionTable
from tests.probes import table_of

SPACE = AttributeSpace((Attribute("n", range(5)), Attribute("m", range(3)), Attribute("lamp")))


@pytest.fixture
def table() -> TransitionTable:
    random = np.random.default_rng(0)
    ends = np.stack([random.integers(0, SPACE.sizes, (60, 3)), random.integers(0, SPACE.sizes, (60, 3))], axis=1)
    edges = {(tuple(one), tuple(other)): 0.5 for one, other in ends.tolist() if one != other}
    return table_of(SPACE, [(*ends, c) for ends, c in edges.items()])


def same(group: np.ndarray) -> np.ndarray:
    return group[:, None] == group[None]


@pytest.mark.parametrize("largest", [similar.LARGEST_NUMBER, 0])
def test_edges_that_change_all_values_by_the_same_amount_are_a_group(
    table: TransitionTable, monkeypatch: pytest.MonkeyPatch, largest: int
):
    change = table.values[table.target] - table.values[table.source]
    monkeypatch.setattr(similar, "LARGEST_NUMBER", largest)
    np.testing.assert_array_equal(same(differences_of(table)), (change[:, None] == change[None]).all(axis=-1))


@pytest.mark.parametrize("largest", [similar.LARGEST_NUMBER, 0])
def test_edges_that_change_the_same_values_to_the_same_are_a_group(
    table: TransitionTable, monkeypatch: pytest.MonkeyPatch, largest: int
):
    before, after = table.values[table.source], table.values[table.target]
    changed = before != after
    words = [
        str((row.tolist(), (one * row).tolist(), (other * row).tolist()))
        for row, one, other in zip(changed, before, after, strict=True)
    ]
    monkeypatch.setattr(similar, "LARGEST_NUMBER", largest)
    np.testing.assert_array_equal(same(changes_of(table)), same(np.array(words)))
    assert 1 < changes_of(table).max() + 1 < table.num_edges


def test_each_group_is_divided_by_the_next_ones(table: TransitionTable):
    visits = np.arange(table.num_edges) % 3.0
    seen, difference, change = groups_of(table, visits)
    np.testing.assert_array_equal(same(seen), same(visits > 0))
    assert (same(seen) | ~same(difference)).all()
    assert (same(difference) | ~same(change)).all()
    assert same(change).sum() < same(difference).sum() < same(seen).sum()
