"""Curiosity, on a ladder that random steps hardly ever climb: one action leads up, all others back to the ground."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.data.examples import Examples
from attribute_planner.environments.graph_world import graph_world
from attribute_planner.environments.registry import make
from attribute_planner.errors import AttributePlannerError
from attribute_planner.learning.fitting import FitConfig
from attribute_planner.learning.inverse import InverseConfig
from attribute_planner.learning.progress import nobody
from attribute_planner.phases.explore import ExploreConfig
from attribute_planner.phases.forward_model import ForwardModelConfig
from attribute_planner.phases.novelty import gather_examples, promise_of, seen_together
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
EXPLORE = ExploreConfig(steps=4_000, policy="random", num_envs=100)
INVERSE = InverseConfig(steps_per_episode=10)
FORESEE = ForwardModelConfig(learn=True, fit=FitConfig(updates=800, batch=64, learning_rate=0.01), hidden_size=32)


def times_at_the_top(novelty_fraction: float) -> int:
    config = replace(FORESEE, novelty_fraction=novelty_fraction)
    examples = gather_examples(LADDER, None, EXPLORE, INVERSE, config, key=jax.random.key(0), watch=nobody)
    assert examples.size == EXPLORE.steps
    return int((np.asarray(examples.values_after) == RUNGS - 1).sum())


@pytest.mark.slow
def test_what_is_rare_is_found_more_often_by_the_curious():
    assert times_at_the_top(0.5) > 10 * max(times_at_the_top(0.0), 1)


def test_steps_that_change_nothing_are_nothing_to_learn_from():
    still = graph_world(numbers(2), [((0,), 0, (0,))], episode_steps=12)
    with pytest.raises(AttributePlannerError, match="None of 40 steps changed an attribute"):
        explore = replace(EXPLORE, steps=40, num_envs=4)
        gather_examples(still, None, explore, INVERSE, FORESEE, key=jax.random.key(0), watch=nobody)


def test_promises_are_large_where_little_was_seen_and_much_is_sure():
    space = numbers(4)
    times = np.array([10, 3, 8, 0])
    rarity = jnp.asarray((np.diag(times) + 1.0) ** -0.5)
    expected = jnp.array([[[0], [1], [2], [3]]])
    sure = jnp.array([[1.0, 1.0, 0.9, 0.2]])
    promise = promise_of(space, rarity, jnp.array([[0]]), expected, sure)
    # To stay at 0 is worth nothing; 1 was seen three times, 2 eight times, 3 never.
    np.testing.assert_allclose(promise, [[0.0, 1 / 2, 0.9 / 3, 0.2]], rtol=1e-6)


def test_a_rare_pair_counts_only_if_it_is_new():
    space = AttributeSpace((Attribute("lit"), Attribute("open"), Attribute("warm")))
    seen = [[1, 0, 0]] * 3 + [[0, 1, 1]] * 8 + [[1, 1, 0]]
    examples = Examples(np.zeros(12), np.zeros(12), np.full((12, 3), -1), np.array(seen))
    together = seen_together(graph_world(space, [((0, 0, 0), 0, (1, 0, 0))]), examples, symmetric=False)
    lit, opened, warm = 1, 3, 5
    assert together[lit, opened] == together[opened, lit] == 1
    assert (together[lit, lit], together[opened, warm], together[lit, warm]) == (4, 8, 0)
    rarity = jnp.asarray((together + 1) ** -0.5)
    expected = jnp.array([[[1, 1, 0], [1, 0, 0]]])
    from_dark = promise_of(space, rarity, jnp.array([[0, 1, 0]]), expected, jnp.ones((1, 2)))
    np.testing.assert_allclose(from_dark, [[2**-0.5, 1 / 2]], rtol=1e-6)
    # Lit and open already: nothing new in the first; in the second, "closed" is new, together with "lit" and "cold".
    np.testing.assert_allclose(
        promise_of(space, rarity, jnp.array([[1, 1, 0]]), expected, jnp.ones((1, 2))), [[0.0, 1 / 2]], rtol=1e-6
    )


def test_symmetries_are_counted_in():
    env = make("blocks")
    after = np.zeros((1, len(env.attributes)), np.int8)
    after[0, env.attributes.index("red_on_top_of_green")] = 1
    examples = Examples(np.zeros(1), np.zeros(1), np.zeros_like(after), after)
    together = seen_together(env, examples, symmetric=True)
    on_top = [env.attributes.offsets[i] + 1 for i, name in enumerate(env.attributes.names) if "on_top" in name]
    assert np.array_equal(np.diagonal(together)[on_top], np.full(12, 2))
    assert together.sum() == 24 * len(env.attributes) ** 2
