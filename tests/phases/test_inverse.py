from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.spaces import Discrete, VectorSpec
from attribute_planner.parts.policy import GoalPolicy
from attribute_planner.parts.table import table_of_counts
from attribute_planner.phases.collecting import Arrival, Experience
from attribute_planner.phases.explore import Acted, explore
from attribute_planner.phases.inverse import inverse_loss
from attribute_planner.phases.practise import practise
from attribute_planner.phases.progress import nobody
from tests.probes import RING, TINY, Still, numbers, with_drawn_weights


def test_the_loss_is_the_surprise_at_actions_that_changed_something():
    env = Still(VectorSpec(1), numbers(2), Discrete(("left", "right")))
    policy = jax.tree.map(jnp.zeros_like, with_drawn_weights(lambda key: GoalPolicy(env, 2, key=key)))
    policy = jax.tree.map(lambda leaf: jnp.log(jnp.array([1.0, 3.0])) if leaf.shape == (2,) else leaf, policy)
    # The hidden layers' biases are as wide; they do not reach the heads, whose weights are zero.
    words = lambda *sets: jnp.array(sets, jnp.uint32)[:, None]  # noqa: E731
    no = jnp.zeros(3, bool)
    steps = Experience(
        jnp.zeros((3, 1)), words(0, 0, 1), Arrival(words(1, 0, 0), no, no), Acted(jnp.array([0, 0, 1])), None
    )
    loss, metrics = inverse_loss(policy, env.space, steps)
    np.testing.assert_allclose(loss, -(np.log(1 / 4) + np.log(3 / 4)) / 2, rtol=1e-5)
    assert metrics["changed"] == pytest.approx(2 / 3)


def test_a_world_of_single_steps_is_learned_from_random_actions():
    explored = explore(RING, None, replace(TINY.explore, policy="random"), key=jax.random.key(0), watch=nobody)
    table = table_of_counts(RING.attributes, explored.counts)
    config = replace(TINY.practise, method="inverse", max_attempt_steps=1, steps=9_600, decay=0.1)
    _, practised = practise(RING, None, table, config, key=jax.random.key(0), watch=nobody)
    assert practised.probability.min() > 0.85
