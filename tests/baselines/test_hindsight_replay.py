"""Goals in hindsight were reached later in the same episode, and returns are those of numbers calculated by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.baselines import hindsight_replay
from attribute_planner.baselines.hindsight import ExploringPolicy
from attribute_planner.baselines.hindsight_replay import (
    Chosen,
    GoalKinds,
    HindsightReplay,
    Rows,
    empty_replay,
    rows_of,
    steps_ahead,
)
from attribute_planner.baselines.training_distribution import Stage
from attribute_planner.baselines.training_loop import task_envs
from attribute_planner.data.rollout import advance, start
from attribute_planner.environments.graph_world import Place, graph_world
from attribute_planner.environments.interface import Environment
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.policy import GoalPolicy
from tests.baselines.probes import go_to
from tests.probes import RING, Hosted, numbers, with_drawn_weights

# Compiled as in training: to compile their operations one by one takes several times as long.
add = eqx.filter_jit(hindsight_replay.add)
draw_steps = eqx.filter_jit(hindsight_replay.draw_steps)
episode_ends = eqx.filter_jit(hindsight_replay.episode_ends)
hindsight_goals = eqx.filter_jit(hindsight_replay.hindsight_goals)
replayed = eqx.filter_jit(hindsight_replay.replayed)

LINE = graph_world(numbers(100), [((i,), 0, (i + 1,)) for i in range(99)])
"""Each step leads one place on: the attribute counts the steps."""


def walk(space: AttributeSpace, first: int, length: int, num_envs: int = 1, over: tuple[int, ...] = ()) -> Rows:
    """Steps `first`, `first` + 1, … along the line, all with the goal 90; episodes end with the steps `over`."""
    number = jnp.broadcast_to(first + jnp.arange(length, dtype=jnp.int32)[:, None], (length, num_envs))
    ends = jnp.isin(number, jnp.array(over, jnp.int32))
    return Rows(
        snapshot=number,
        attributes=space.pack(number[..., None]),
        next_attributes=space.pack(number[..., None] + 1),
        action=jnp.zeros_like(number),
        pursued=jnp.full((length, num_envs, 1), 90, jnp.int8),
        terminated=jnp.zeros_like(ends),
        over=ends,
    )


def filled(*parts: Rows, capacity: int) -> HindsightReplay:
    replay = empty_replay(parts[0], capacity)
    for part in parts:
        replay = add(part, replay)
    return replay


def chosen(number: list[int], last: list[int]) -> Chosen:
    return Chosen(jnp.array(number), jnp.zeros(len(number), jnp.int32), jnp.array(last))


def test_the_oldest_rows_are_overwritten():
    space = LINE.attributes
    replay = filled(walk(space, 0, 4), walk(space, 4, 4, over=(5,)), walk(space, 8, 4), capacity=6)
    assert int(replay.end) == 12
    assert np.ravel(replay.rows.snapshot).tolist() == [6, 7, 8, 9, 10, 11]
    drawn = draw_steps(replay, episode_ends(replay), 200, key=jax.random.key(0))
    assert set(np.asarray(drawn.number).tolist()) == {6, 7, 8, 9, 10, 11}
    found = replay.at(drawn.number, drawn.env, replay.rows.snapshot)
    np.testing.assert_array_equal(found, drawn.number)


def test_steps_are_drawn_from_the_filled_rows_and_end_with_their_episode():
    replay = filled(walk(LINE.attributes, 0, 8, num_envs=3, over=(2, 5)), capacity=60)
    drawn = draw_steps(replay, episode_ends(replay), 300, key=jax.random.key(0))
    ends = {0: 2, 1: 2, 2: 2, 3: 5, 4: 5, 5: 5, 6: 7, 7: 7}
    assert {(int(n), int(last)) for n, last in zip(drawn.number, drawn.last, strict=True)} == set(ends.items())
    assert set(np.asarray(drawn.env).tolist()) == {0, 1, 2}


def test_goals_in_hindsight_are_reached_later_in_the_same_episode():
    replay = filled(walk(LINE.attributes, 0, 8, over=(2, 5)), capacity=8)
    steps = draw_steps(replay, episode_ends(replay), 400, key=jax.random.key(0))
    goal, found = hindsight_goals(replay, steps, LINE.attributes, GoalKinds(), key=jax.random.key(1))
    assert np.asarray(found).all()
    pairs = {(int(n), int(g)) for n, g in zip(steps.number, goal[:, 0], strict=True)}
    # Step n leads to n + 1; the last steps of the episodes are 2, 5 and 7.
    assert pairs == {(n, g) for n in range(8) for g in range(n + 1, {0: 3, 1: 6, 2: 8}[n // 3] + 1)}


def test_a_goal_that_holds_already_is_none():
    still = walk(LINE.attributes, 0, 4)
    replay = filled(still._replace(next_attributes=still.attributes), capacity=4)
    _, found = hindsight_goals(replay, chosen([3], [3]), LINE.attributes, GoalKinds(), key=jax.random.key(0))
    assert not np.asarray(found).any()


def test_goals_in_hindsight_specify_what_those_of_the_tasks_do():
    space = AttributeSpace(tuple(Attribute(name, range(8)) for name in "abc"))
    number = jnp.broadcast_to(jnp.arange(6, dtype=jnp.int32)[:, None, None], (6, 1, 3))
    pursued = jnp.array([[7, 7, 7], [NO_VALUE, 7, NO_VALUE]] * 3, jnp.int8)[:, None]
    rows = walk(LINE.attributes, 0, 6)._replace(
        attributes=space.pack(number), next_attributes=space.pack(number + 1), pursued=pursued
    )
    replay = filled(rows, capacity=6)
    steps = chosen([2] * 100, [2] * 100)
    goal, found = hindsight_goals(replay, steps, space, GoalKinds(), key=jax.random.key(0))
    kinds, counts = np.unique(np.asarray(goal), axis=0, return_counts=True)
    assert np.asarray(found).all()
    assert kinds.tolist() == [[NO_VALUE, 3, NO_VALUE], [3, 3, 3]]
    assert counts.min() > 30
    goal, _ = hindsight_goals(replay, steps, space, GoalKinds(whole=1.0), key=jax.random.key(0))
    assert np.all(np.asarray(goal) == 3)


@pytest.mark.parametrize(("nearness", "shares"), [(1.0, [1 / 3] * 3), (0.5, [4 / 7, 2 / 7, 1 / 7])])
def test_nearer_goals_may_be_more_frequent(nearness: float, shares: list[float]):
    ahead = np.asarray(steps_ahead(jnp.full(4000, 2), nearness, key=jax.random.key(0)))
    np.testing.assert_allclose(np.bincount(ahead) / 4000, shares, atol=0.03)


def test_returns_bootstrap_after_n_steps_and_end_at_the_goal():
    replay = filled(walk(LINE.attributes, 0, 8, over=(4,)), capacity=8)
    steps = chosen([0, 0, 0, 3, 4], [4] * 5)
    goal = jnp.array([[1], [3], [50], [50], [50]])
    batch = replayed(replay, steps, goal, LINE, discount=0.5, n_step=3)
    assert np.asarray(batch.arrived).tolist() == [True, True, False, False, False]
    # The goal at the first and the third step; bootstrapped from steps 3 and 4; nothing follows the last step.
    assert np.asarray(batch.discount).tolist() == [1.0, 0.25, 0.125, 0.5, 1.0]
    assert np.asarray(batch.next_values)[2:4, 0].tolist() == [3, 4]
    assert np.asarray(batch.weight).tolist() == [1, 1, 1, 1, 0]
    np.testing.assert_array_equal(batch.observation, LINE.observe_batch(jnp.array([0, 0, 0, 3, 4])))


def test_nothing_is_worth_anything_after_an_episode_that_terminates_without_its_goal():
    rows = walk(LINE.attributes, 0, 4, over=(2,))
    replay = filled(rows._replace(terminated=rows.over), capacity=4)
    batch = replayed(replay, chosen([1, 1], [2, 2]), jnp.array([[50], [3]]), LINE, discount=0.5, n_step=3)
    assert np.asarray(batch.discount).tolist() == [0.0, 0.5]
    assert np.asarray(batch.arrived).tolist() == [False, True]
    assert np.asarray(batch.weight).tolist() == [1, 1]


@pytest.mark.parametrize("env", [RING, Hosted(RING, episode_steps=100)], ids=["pure", "host"])
def test_rollouts_on_tasks_become_rows(env: Environment):
    policy = with_drawn_weights(lambda key: GoalPolicy(RING.spec, 4, key=key))
    actor, envs = ExploringPolicy(policy, RING, epsilon=1.0), task_envs(env, (Stage(go_to(3)),), 6, tries=1)
    episodes = start(actor, envs, key=jax.random.key(0))
    _, steps = advance(actor, envs, episodes, 5, space=RING.attributes, key=jax.random.key(1), keep="snapshot")
    envs.close()
    rows = rows_of(steps, RING.attributes)
    assert np.all(np.asarray(rows.pursued) == 3)
    values = np.asarray(RING.attributes.unpack(rows.attributes))
    seen = env.observe_batch(jax.tree.map(lambda leaf: leaf.reshape(30, *leaf.shape[2:]), rows.snapshot))
    states = jnp.array([RING.places.index(Place((int(value),))) for value in values.ravel()])
    np.testing.assert_array_equal(seen, RING.observe_batch(states))
    assert {int(each) for each in np.ravel(rows.action)} == {0, 1}
