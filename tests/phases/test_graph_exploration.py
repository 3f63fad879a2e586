from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from attribute_planner.phases.graph_exploration import DISCOUNT, SHARPNESS, draw_weights, edge_values, exploration_graph
from attribute_planner.transitions.numbering import UNKNOWN
from tests.probes import numbers, table_of

FORK = table_of(numbers(5), [((0,), (1,), 1.0), ((0,), (2,), 1.0), ((1,), (3,), 1.0), ((2,), (4,), 1.0)])
"""From 0 one way leads over 1 to 3, another over 2 to 4; edges are in this order."""


def test_an_edge_is_worth_its_bonus_and_what_lies_behind_it():
    worth = edge_values(FORK, np.array([0.1, 0.1, 0.2, 1.0]), np.array([1.0, 0.5, 1.0, 1.0]))
    np.testing.assert_allclose(worth, [0.1 + DISCOUNT * 0.2, 0.5 * (0.1 + DISCOUNT), 0.2, 1.0])


def test_a_circle_is_worth_no_more_than_its_discount_allows():
    circle = table_of(numbers(2), [((0,), (1,), 1.0), ((1,), (0,), 1.0)])
    worth = edge_values(circle, np.ones(2), np.ones(2))
    np.testing.assert_allclose(worth, 1 / (1 - DISCOUNT), rtol=0.05)


def test_what_was_rarely_seen_attracts_from_afar():
    seen = np.array([100.0, 100, 100, 1])
    untried = FORK.with_practice(np.zeros(4), np.zeros(4))
    attracts = draw_weights(replace(untried, visits=seen))
    near, far = 101**-0.5, 2**-0.5
    assert attracts[1] == attracts[2] == attracts[3] == 1
    np.testing.assert_allclose(attracts[0], ((near + DISCOUNT * near) / (near + DISCOUNT * far)) ** SHARPNESS)
    assert draw_weights(untried).tolist() == [1, 1, 1, 1]


def test_what_never_succeeds_loses_its_draw_weights():
    failed = FORK.with_practice(np.array([0.0, 50, 0, 0]), np.zeros(4))
    first, second = draw_weights(failed)[:2]
    assert first == 1
    assert second < 1e-6


def test_the_graph_is_padded_so_that_few_sizes_are_compiled():
    graph = exploration_graph(FORK)
    assert graph.words.shape == (1024, 1)
    assert graph.target.shape == (1024,)
    number = graph.locate(jnp.array([[0], [4], [7], [2**32 - 1]], jnp.uint32))
    assert number[:3].tolist() == [0, 4, UNKNOWN]
    # Whatever is found behind the last set, nothing leads on from there.
    assert graph.leads_on(number).tolist() == [True, False, False, False]
