from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import jax
import numpy as np
import pytest

from attribute_planner.environments.graph_world import Place, graph_world
from attribute_planner.environments.interface import Environment
from attribute_planner.errors import AttributePlannerError
from attribute_planner.learning.progress import no_callback
from attribute_planner.phases.explore import explore
from attribute_planner.phases.practise import practise
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import TransitionTable, table_of_counts
from tests.probes import TINY, Hosted, Levers, Thirds, numbers

KEY = jax.random.key(0)


@cache
def explored(env: Environment) -> TransitionTable:
    """The table after random exploration."""
    found = explore(env, None, replace(TINY.explore, policy="random"), key=KEY, watch=no_callback)
    return table_of_counts(env.attributes, found.counts)


def practised(env: Environment, **changes: Any) -> tuple[dict[tuple[int, ...], float], list[float]]:
    """c_π of each pair of one-attribute sets, and the success of each epoch."""
    successes = []
    watch = lambda phase, done, metrics, so_far: successes.append(metrics["success"])  # noqa: E731
    table = practise(env, None, explored(env), replace(TINY.practise, **changes), key=KEY, watch=watch).table.listing()
    pairs = zip(table.values[table.source, 0].tolist(), table.values[table.target, 0].tolist(), strict=True)
    return dict(zip(pairs, table.probability.tolist(), strict=True)), successes


COIN = graph_world(
    numbers(4),
    [
        ((0,), 0, (1,), 0.5),
        ((0,), 0, (2,), 0.5),
        ((0,), 1, (3,)),
        ((1,), 0, (0,)),
        ((2,), 1, (0,)),
        ((3,), 0, (0,)),
    ],
    episode_steps=20,
)
"""From 0, one action leads to 3, and the other one to 1 or 2, as chance will have it; then there is one way back."""


def test_one_decision_is_learned_and_chance_is_known_for_what_it_is():
    probability, successes = practised(COIN)
    assert set(probability) == {(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)}
    for certain in [(0, 3), (1, 0), (2, 0), (3, 0)]:
        assert probability[certain] > 0.9
    for toss in [(0, 1), (0, 2)]:
        assert probability[toss] == pytest.approx(0.5, abs=0.12)
    assert successes[-1] > successes[0]


def test_units_learn_to_act_together():
    # With a single step to try, a random crew succeeds one time in four.
    probability, successes = practised(Levers(), max_attempt_steps=1)
    assert set(probability) == {(0, 1), (1, 0)}
    assert successes[-1] > 0.9


def test_points_in_a_box_are_learned():
    # A random point arrives one time in three.
    probability, successes = practised(Thirds(), max_attempt_steps=1)
    assert len(probability) == 6
    assert successes[-1] > 0.85


def test_statistics_fade_from_epoch_to_epoch():
    seen: list[Any] = []
    watch = lambda phase, done, metrics, so_far: seen.append((metrics, so_far))  # noqa: E731
    config = replace(TINY.practise, steps=3 * 320, rollouts_per_epoch=2, decay=0.5)
    last = practise(COIN, None, explored(COIN), config, key=KEY, watch=watch)
    first, second, third = (metrics["attempts"] for metrics, _ in seen)
    assert first > 0
    table = last.table.listing()
    assert table.attempts.sum() == pytest.approx(third + 0.5 * second + 0.25 * first)
    # Edge by edge: what a later epoch adds to half of the earlier sum are whole numbers, and successes are attempts.
    for before, after in pairwise(so_far.table for _, so_far in seen):
        attempts, successes = after.attempts - 0.5 * before.attempts, after.successes - 0.5 * before.successes
        np.testing.assert_array_equal(attempts, attempts.round())
        np.testing.assert_array_equal(successes, successes.round())
        assert (successes <= attempts).all()
    np.testing.assert_allclose(table.probability, table.successes / table.attempts)


def test_an_environment_in_which_nothing_changes_cannot_be_practised():
    nothing = table_of_counts(numbers(4), TransitionCounts(1))
    with pytest.raises(AttributePlannerError, match="no attribute change at all"):
        practise(COIN, None, nothing, TINY.practise, key=KEY, watch=no_callback)


def test_a_practice_overshoots_its_steps_by_less_than_a_rollout():
    seen: list[Any] = []
    watch = lambda phase, done, metrics, so_far: seen.append(metrics["steps"])  # noqa: E731
    config = replace(TINY.practise, steps=500, rollouts_per_epoch=2)
    assert practise(COIN, None, explored(COIN), config, key=KEY, watch=watch).steps == 640
    assert seen == [320, 640]


SLOW = graph_world(
    numbers(2),
    [
        (Place((0,)), 0, Place((0,), 1), 0.99),
        (Place((0,)), 0, Place((1,)), 0.01),
        (Place((0,), 1), 0, Place((0,))),
        (Place((1,)), 0, Place((0,))),
    ],
    start=Place((0,)),
    episode_steps=200,
)
"""Each step from 0 to 1 succeeds with probability 0.01, every other step: within 80 steps 40 trials."""


@pytest.mark.parametrize("env", [SLOW, Hosted(SLOW, episode_steps=200)], ids=["pure", "host"])
def test_attempts_that_a_limit_cuts_off_do_not_bias_the_probability(env: Environment):
    # 1 - 0.99^40 = 0.331; dropping attempts that the episode or the epoch cuts off would count 0.4 and more.
    config = replace(TINY.practise, steps=128 * 500, num_envs=128, rollout_length=20, rollouts_per_epoch=25)
    config = replace(config, max_attempt_steps=80, hindsight=0.0, method="reinforce")
    counts = TransitionCounts(1)
    counts.record(np.array([[0], [1]], np.uint32), np.array([[1], [0]], np.uint32))
    table = practise(env, None, table_of_counts(numbers(2), counts), config, key=KEY, watch=no_callback).table.listing()
    assert table.attempts[0] > 400
    assert table.probability[0] == pytest.approx(0.331, abs=0.06)
