import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.phases.device_graph import device_graph
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import UNKNOWN, TransitionTable, table_of_counts
from tests.probes import numbers

WIDE = AttributeSpace(tuple(Attribute(f"a{i}", range(2**16)) for i in range(5)))


def random_table(space: AttributeSpace, sets: int) -> tuple[TransitionTable, np.ndarray]:
    """A table of random sets, and as many others that it does not hold."""
    random = np.random.default_rng(0)
    # Few different values, so that many sets agree in their last words.
    values = np.unique(random.integers(0, 4, (4 * sets, len(space))).astype(np.int32), axis=0)
    random.shuffle(values)
    known, others = values[:sets], values[sets:]
    counts = TransitionCounts(space.num_words)
    counts.record(np.asarray(space.pack(known)), np.asarray(space.pack(np.roll(known, 1, axis=0))))
    return table_of_counts(space, counts), others


def test_sets_of_several_words_are_located_exactly():
    table, others = random_table(WIDE, 200)
    assert table.words.shape == (200, 3)
    asked = np.concatenate([table.values, others])
    found = eqx.filter_jit(device_graph(table).locate)(jnp.asarray(WIDE.pack(asked)))
    assert found.tolist() == [*range(200), *[UNKNOWN] * len(others)]
    assert len(others) > 50


@pytest.fixture
def fork() -> TransitionTable:
    """Set 0 was left seven times for set 1, once for 2 and twice for 4, which leads back; the others lead nowhere."""
    counts = TransitionCounts(1)
    source, target = np.array([0] * 10 + [4]), np.array([1] * 7 + [2] + [4] * 2 + [0])
    counts.record(source[:, None].astype(np.uint32), target[:, None].astype(np.uint32))
    return table_of_counts(numbers(5), counts)


def test_neighbours_are_drawn_as_often_as_they_were_visited(fork: TransitionTable):
    graph = device_graph(fork)
    start = fork.number_of(np.array([0]))
    edges = np.asarray(
        eqx.filter_jit(graph.random_neighbour)(jnp.full(20_000, start, jnp.int32), key=jax.random.key(0))
    )
    reached = fork.values[fork.target[edges], 0]
    np.testing.assert_allclose(np.bincount(reached, minlength=5) / 20_000, [0, 0.7, 0.1, 0, 0.2], atol=0.015)


def test_rare_neighbours_can_be_favoured(fork: TransitionTable):
    # To the power of 0: whatever was seen is as good as anything else.
    graph = device_graph(fork, visit_exponent=0.0)
    first, last = fork.edges_of(0).start, fork.edges_of(0).stop
    np.testing.assert_allclose(graph.cumulative[first:last], [1 / 3, 2 / 3, 1], rtol=1e-6)
    rooted = device_graph(fork, visit_exponent=0.5)
    weights = np.sqrt([7, 1, 2])
    np.testing.assert_allclose(rooted.cumulative[first:last], np.cumsum(weights) / weights.sum(), rtol=1e-6)


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
