import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.phases import device_graph as module
from attribute_planner.phases.device_graph import (
    SLOTS_PER_SET,
    DeviceGraph,
    alias_tables,
    device_graph,
    graph_with_weights,
    hash_slots,
)
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.numbering import UNKNOWN
from attribute_planner.transitions.table import TransitionTable, table_of_counts
from tests.probes import numbers

WIDE = AttributeSpace(tuple(Attribute(f"a{i}", range(2**16)) for i in range(5)))
LOCATE = eqx.filter_jit(DeviceGraph.locate)
DRAW = eqx.filter_jit(DeviceGraph.random_neighbour)


def table_of_sets(space: AttributeSpace, values: np.ndarray) -> TransitionTable:
    """A table that holds distinct sets `[N, A]`, each with an edge to the next, the last to the first."""
    words = np.asarray(space.pack(values.astype(np.int32)))
    counts = TransitionCounts(space.num_words)
    counts.record(words, np.roll(words, 1, axis=0))
    return table_of_counts(space, counts)


def random_sets(random: np.random.Generator, space: AttributeSpace, sets: int) -> np.ndarray:
    """Distinct sets `[n, A]`; few different values, so that many sets agree in all words but one."""
    values = np.unique(random.integers(0, 4, (sets, len(space))), axis=0)
    random.shuffle(values)
    return values


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), padded=st.booleans())
def test_sets_of_several_words_are_located_as_numpy_locates_them(seed: int, padded: bool):
    values = random_sets(np.random.default_rng(seed), WIDE, 600)
    table = table_of_sets(WIDE, values[:200])
    assert table.words.shape == (200, 3)
    asked = np.asarray(WIDE.pack(values.astype(np.int32)))[:400]
    found = LOCATE(graph_with_weights(table, table.visits, padded=padded), jnp.asarray(asked))
    np.testing.assert_array_equal(found, table.numbers_of(asked))
    assert (found != UNKNOWN).tolist() == [True] * 200 + [False] * 200


def test_a_graph_of_one_set_knows_that_set_only():
    graph = graph_without_edges(np.array([[3]], np.uint32))
    found = graph.locate(jnp.arange(5, dtype=jnp.uint32)[:, None])
    assert found.tolist() == [UNKNOWN, UNKNOWN, UNKNOWN, 0, UNKNOWN]
    assert not graph.leads_on(found).any()


def test_an_empty_graph_knows_no_set():
    found = graph_without_edges(np.zeros((0, 1), np.uint32)).locate(jnp.arange(5, dtype=jnp.uint32)[:, None])
    assert found.tolist() == [UNKNOWN] * 5


def graph_without_edges(words: np.ndarray) -> DeviceGraph:
    ends, counts = np.zeros(0, np.int32), np.zeros(0)
    table = TransitionTable(numbers(5), words, ends, ends, counts, counts, counts)
    return graph_with_weights(table, table.visits, padded=True)


@pytest.mark.parametrize("padded", [False, True])
def test_sets_of_all_zeros_and_all_ones_are_known_only_if_the_table_holds_them(padded: bool):
    space = AttributeSpace(tuple(Attribute(f"a{i}", range(2**16)) for i in range(2)))
    values = np.array([[0, 0], [2**16 - 1, 2**16 - 1], [1, 0], [0, 1]])
    asked = jnp.asarray(np.asarray(space.pack(values.astype(np.int32))))
    for held in ([0, 2], [1, 2], [2, 3]):
        table = table_of_sets(space, values[held])
        found = graph_with_weights(table, table.visits, padded=padded).locate(asked)
        assert np.flatnonzero(found != UNKNOWN).tolist() == held


def test_a_table_as_large_as_starcrafts_is_located_exactly():
    random = np.random.default_rng(0)
    words = random.choice(2**26, 80_000, replace=False).astype(np.uint32)[:, None] << 6
    held = words[:40_000]
    slots, seeds = hash_slots(held, SLOTS_PER_SET * 2**16)
    source = np.sort(random.integers(0, 40_000, 140_000))
    graph = graph_of_edges(held, source, random.exponential(size=140_000), slots, seeds)
    found = np.asarray(LOCATE(graph, jnp.asarray(words)))
    np.testing.assert_array_equal(found, np.concatenate([np.arange(40_000), np.full(40_000, UNKNOWN)]))


def graph_of_edges(
    words: np.ndarray, source: np.ndarray, weight: np.ndarray, slots: np.ndarray, seeds: np.ndarray
) -> DeviceGraph:
    tables = alias_tables(source, weight, len(words))
    row_starts = np.searchsorted(source, np.arange(len(words) + 1))
    return DeviceGraph(
        *(jnp.asarray(each) for each in (words, slots, seeds)),
        row_starts=jnp.asarray(row_starts, jnp.int32),
        target=jnp.zeros(len(source), jnp.int32),
        threshold=jnp.asarray(tables.threshold, jnp.float32),
        alias=jnp.asarray(tables.alias, jnp.int32),
        space=numbers(5),
    )


def test_hash_functions_that_leave_a_set_without_a_place_are_replaced(monkeypatch: pytest.MonkeyPatch):
    tried: list[int] = []
    place = module._place

    def fails_at_first(homes: np.ndarray, size: int) -> np.ndarray | None:
        tried.append(size)
        # Three sets that share both homes find no place.
        return place(np.zeros_like(homes) if len(tried) == 1 else homes, size)

    monkeypatch.setattr(module, "_place", fails_at_first)
    slots, _ = hash_slots(np.arange(3, dtype=np.uint32)[:, None], 16)
    assert tried == [16, 16]
    assert set(slots) == {0, 1, 2, UNKNOWN}


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    sets=st.integers(1, 12),
    edges=st.integers(1, 60),
    skew=st.sampled_from([0.0, 1.0, 8.0]),
)
def test_alias_tables_give_each_edge_its_share(seed: int, sets: int, edges: int, skew: float):
    random = np.random.default_rng(seed)
    source, weight = np.sort(random.integers(0, sets, edges)), random.exponential(size=edges) ** skew
    tables = alias_tables(source, weight, sets)
    np.testing.assert_array_equal(source[tables.alias], source)
    assert ((tables.threshold >= 0) & (tables.threshold <= 1)).all()
    leaving = np.bincount(source)[source]
    drawn = (tables.threshold + np.bincount(tables.alias, 1 - tables.threshold, edges)) / leaving
    np.testing.assert_allclose(drawn, weight / np.bincount(source, weight)[source], atol=1e-12)


def test_edges_of_weight_zero_are_never_drawn():
    tables = alias_tables(np.zeros(4, int), np.array([0.0, 2.0, 0.0, 6.0]), 1)
    assert tables.threshold[[0, 2]].tolist() == [0, 0]
    assert set(tables.alias[[0, 2]]) <= {1, 3}


@pytest.fixture
def fork() -> TransitionTable:
    """Set 0 was left seven times for set 1, once for 2 and twice for 4, which leads back; the others lead nowhere."""
    counts = TransitionCounts(1)
    source, target = np.array([0] * 10 + [4]), np.array([1] * 7 + [2] + [4] * 2 + [0])
    counts.record(source[:, None].astype(np.uint32), target[:, None].astype(np.uint32))
    return table_of_counts(numbers(5), counts)


@pytest.mark.parametrize(("exponent", "weights"), [(1.0, [7, 1, 2]), (0.0, [1, 1, 1]), (0.5, [7**0.5, 1, 2**0.5])])
def test_neighbours_are_drawn_by_their_visits_to_a_power(fork: TransitionTable, exponent: float, weights: list[float]):
    start, draws = fork.number_of(np.array([0])), 20_000
    edges = DRAW(device_graph(fork, exponent), jnp.full(draws, start, jnp.int32), key=jax.random.key(0))
    drawn = np.bincount(np.asarray(edges) - fork.edges_of(start).start, minlength=3)
    assert chisquare(drawn, draws * np.array(weights) / sum(weights)).pvalue > 0.01


def test_where_no_way_leads_on_there_is_no_neighbour(fork: TransitionTable):
    graph = device_graph(fork)
    one, four = (fork.number_of(np.array([n])) for n in (1, 4))
    numbers_asked = jnp.array([one, four, UNKNOWN], jnp.int32)
    back = fork.edge(four, fork.number_of(np.array([0])))
    for key in jax.random.split(jax.random.key(1), 5):
        assert graph.random_neighbour(numbers_asked, key=key).tolist() == [UNKNOWN, back, UNKNOWN]
    assert graph.leads_on(numbers_asked).tolist() == [False, True, False]


def test_an_edge_tells_the_words_of_its_target(fork: TransitionTable):
    graph = device_graph(fork)
    found = graph.target_words(jnp.arange(fork.num_edges))
    np.testing.assert_array_equal(found, fork.words[fork.target])
