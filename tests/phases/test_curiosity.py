"""Curiosity, on a ladder that random steps hardly ever climb: one action leads up, all others back to the ground."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from attribute_planner.environments.graph_world import graph_world
from attribute_planner.learning.fitting import FitConfig
from attribute_planner.learning.inverse import InverseConfig
from attribute_planner.learning.progress import nobody
from attribute_planner.parts.counting import TransitionCounts
from attribute_planner.parts.table import table_of_counts
from attribute_planner.phases.curiosity import gather_examples, promise_of
from attribute_planner.phases.explore import ExploreConfig
from attribute_planner.phases.foresee import ForeseeConfig
from tests.probes import numbers

RUNGS, ACTIONS = 6, 6
LADDER = graph_world(
    numbers(RUNGS),
    [
        ((rung,), action, ((rung + 1) % RUNGS if action == rung % ACTIONS else 0,))
        for rung in range(RUNGS)
        for action in range(ACTIONS)
    ],
    episode_steps=12,
)
EXPLORE = ExploreConfig(steps=4_000, policy="random", copies=100)
INVERSE = InverseConfig(steps_per_episode=10)
FORESEE = ForeseeConfig(learn=True, fit=FitConfig(updates=800, batch=64, learning_rate=0.01), width=32)


def times_at_the_top(curious: float) -> int:
    config = replace(FORESEE, curious=curious)
    examples = gather_examples(LADDER, None, EXPLORE, INVERSE, config, key=jax.random.key(0), watch=nobody)
    assert examples.size == EXPLORE.steps
    return int((np.asarray(examples.values_after) == RUNGS - 1).sum())


@pytest.mark.slow
def test_what_is_rare_is_found_more_often_by_the_curious():
    assert times_at_the_top(0.5) > 10 * max(times_at_the_top(0.0), 1)


def test_promises_are_large_where_little_was_seen_and_much_is_sure():
    space = numbers(4)
    words = np.asarray(space.pack(np.arange(4)[:, None]))
    counts = TransitionCounts(space.num_words)
    counts.add(words[[0, 1]], words[[1, 2]], np.array([3, 8]))
    seen = table_of_counts(space, counts)
    visits = np.bincount(seen.target, weights=seen.visits, minlength=seen.num_nodes)
    expected = np.array([[[0], [1], [2], [3]]])
    sure = np.array([[1.0, 1.0, 0.9, 0.2]])
    promise = promise_of(seen, visits, np.array([[0]]), expected, sure)
    # To stay at 0 is worth nothing; 1 was seen three times, 2 eight times, 3 never.
    np.testing.assert_allclose(promise, [[0.0, 1 / 2, 0.9 / 3, 0.2]])
