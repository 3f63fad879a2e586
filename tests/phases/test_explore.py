from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from attribute_planner.data.replay import Replay
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.graph_world import graph_world
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.progress import no_callback
from attribute_planner.phases import explore as exploring
from attribute_planner.phases.bonuses import BONUSES, count_transitions, inverse_root_count, inverse_root_share
from attribute_planner.phases.explore import (
    Explored,
    explore,
)
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import table_of_counts
from tests.probes import RING, TINY, Hosted, Oracle, numbers, table_of

KEY = jax.random.key(0)


def edges_of(explored: Explored) -> dict[tuple[int, int], int]:
    """How often each transition between one-attribute sets was seen."""
    table = table_of_counts(numbers(9), explored.counts)
    pairs = zip(table.values[table.source, 0].tolist(), table.values[table.target, 0].tolist(), strict=True)
    return dict(zip(pairs, table.visits.astype(int).tolist(), strict=True))


RING_EDGES = {(i, (i + step) % 5) for i in range(5) for step in (1, -1)}


@pytest.mark.parametrize("policy", ["random", "count-based", "graph"])
def test_all_edges_of_a_small_environment_are_found_and_no_others(policy):
    explored = explore(RING, None, replace(TINY.explore, policy=policy), key=KEY, watch=no_callback)
    visits = edges_of(explored)
    assert set(visits) == RING_EDGES
    # Every step of the ring is a transition.
    assert sum(visits.values()) == explored.steps == TINY.explore.steps


def test_a_host_environment_is_explored_like_any_other():
    config = replace(TINY.explore, policy="random", steps=320, num_envs=8)
    explored = explore(Hosted(RING), None, config, key=KEY, watch=no_callback)
    assert set(edges_of(explored)) == RING_EDGES
    assert sum(edges_of(explored).values()) == 320


def test_what_was_counted_before_an_epoch_is_not_changed_by_it():
    config = replace(TINY.explore, policy="random", steps=640, num_envs=8)
    begun = explore(Hosted(RING), None, config, key=KEY, until=0.5, watch=no_callback)
    before = edges_of(begun)
    explore(Hosted(RING), None, config, key=KEY, begun=begun, watch=no_callback)
    assert edges_of(begun) == before


LURE = graph_world(
    numbers(9),
    [((0,), 0, (1,)), ((1,), 0, (0,))]
    + [((i,), 1, (i + 1,)) for i in range(1, 8)]
    + [((i,), 0, (i - 1,)) for i in range(2, 9)]
    + [((0,), action, (1,)) for action in (1, 2, 3)]
    + [((i,), action, (0,)) for i in range(1, 9) for action in (2, 3)],
    start=(0,),
    episode_steps=20,
)
"""A corridor to 8: of four actions one leads on, one back, and two back to the start."""


def farthest(policy: str, **settings: Any) -> int:
    config = replace(TINY.explore, steps=9_600, policy=policy, **settings)
    return max(max(edge) for edge in edges_of(explore(LURE, None, config, key=KEY, watch=no_callback)))


def test_counting_leads_farther_than_chance():
    assert farthest("random") < 8
    assert farthest("count-based") == 8


def test_the_graph_leads_farther_than_chance():
    assert farthest("graph", max_attempt_steps=4) == 8


def test_held_actions_lead_farther_than_independent_ones():
    # One action leads all the way, and it is kept up for ten steps on average.
    assert farthest("random", action_repeat=10.0) == 8


def test_attempts_on_the_graph_are_kept_for_each_transition():
    config = replace(TINY.explore, policy="graph", max_attempt_steps=4)
    explored = explore(RING, None, config, key=KEY, watch=no_callback)
    assert explored.tried is not None
    attempts, successes = explored.tried.attempts, explored.tried.successes
    assert len(attempts) == len(explored.counts.pairs)
    # Every step of the ring ends an attempt. In the first of four epochs no target was known, and later one attempt in
    # five was random.
    assert 0.5 * explored.steps < attempts.sum() < 0.8 * explored.steps
    assert successes.sum() <= attempts.sum()
    # The policy has learned which of the two actions leads on: chance takes half.
    assert successes.sum() > 0.6 * attempts.sum()


def test_exploring_reports_each_epoch():
    seen: list[Any] = []
    config = replace(TINY.explore, policy="random", steps=2_000)
    explore(RING, None, config, key=KEY, watch=lambda *report: seen.append(report))
    # 16 environments, 10 steps, 5 rollouts: 800 steps an epoch. No step counts beyond the budget.
    assert [metrics["steps"] for _, _, metrics, _ in seen] == [800, 1600, 2000]
    assert [so_far.epoch for *_, so_far in seen] == [1, 2, 3]
    assert {phase for phase, *_ in seen} == {"explore"}
    assert seen[-1][1] >= 1


def test_bonuses_by_hand():
    counts = np.array([1, 4, 100])
    np.testing.assert_allclose(inverse_root_count(counts, 105), [1.0, 0.5, 0.1])
    # (N/t + 0.001)^-0.5 times √0.001: with t = 1000, N = 3 is a share of 0.003, and (4 · 0.001)^-0.5 · √0.001 is ½.
    np.testing.assert_allclose(inverse_root_share(np.array([3, 8, 1000]), 1000), [1 / 2, 1 / 3, 1001**-0.5])
    assert set(BONUSES) == {"count", "share"}


def test_only_transitions_are_counted_and_rewarded():
    words = lambda *sets: np.array(sets, np.uint32)[:, None, None]  # noqa: E731
    # Five steps of one copy: 0 → 1 twice, 1 → 1, then a fresh episode, 0 → 0, 0 → 2.
    before, after = words(0, 1, 0, 0, 0), words(1, 1, 1, 0, 2)
    no = np.zeros((5, 1), bool)
    counts = TransitionCounts(1)
    reward = count_transitions(Trajectories(None, before, no, None, after, no, no, None), counts, inverse_root_count)
    np.testing.assert_allclose(reward[:, 0], [2**-0.5, 0, 2**-0.5, 0, 1])
    assert (counts.total, sorted(counts.visits.tolist())) == (3, [1, 2])


@pytest.mark.parametrize("env", [RING, Hosted(RING)], ids=["pure", "host"])
def test_the_steps_are_recorded_if_they_are_to_be_fitted_to(env: Environment):
    config = replace(TINY.explore, steps=500, steps_per_episode=1)
    explored = explore(env, None, config, key=KEY, record=True, watch=no_callback)
    assert explored.examples is not None
    assert explored.examples.size == explored.steps == explored.counts.total == 500
    assert explore(env, None, config, key=KEY, watch=no_callback).examples is None


@pytest.mark.parametrize("practised", [True, False])
def test_a_policy_that_has_practised_avoids_the_end_of_the_episode_as_far_as_episodes_end_in_failure(
    monkeypatch: pytest.MonkeyPatch, practised: bool
):
    shares, new_explorer = [], exploring.frontier_explorer

    def noted(*arguments: Any, fatal_share: float, **options: Any) -> Any:
        shares.append(fatal_share)
        return new_explorer(*arguments, fatal_share=fatal_share, **options)

    monkeypatch.setattr(exploring, "frontier_explorer", noted)
    monkeypatch.setattr(Replay, "fatal_share", property(lambda replay: 0.75))
    known = (Oracle(RING), table_of(numbers(5), [((0,), (1,), 1.0)])) if practised else None
    config = replace(TINY.explore, policy="frontier", steps=160)
    explore(RING, None, config, key=KEY, known=known, replay=Replay(1_000), watch=no_callback)
    assert shares == [0.75 if practised else 0.0]
