from collections.abc import Iterable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.data.replay import Replay, remember
from attribute_planner.data.replay_batch import GoalShares, ReplayBatch
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.graph_world import graph_world
from attribute_planner.errors import ConfigurationError
from attribute_planner.learning.dqn import DQNConfig, follow, new_train_state, target_values, update
from attribute_planner.learning.reachers import UPDATES_PER_CALL, OffPolicy
from attribute_planner.models.policy import GoalPolicy
from tests.probes import numbers, with_drawn_weights

CORRIDOR = graph_world(
    numbers(6), [((i,), action, (min(max(i + (1, -1)[action], 0), 5),)) for i in range(6) for action in (0, 1)]
)
"""Six places in a row: action 0 leads on, action 1 back; at the ends, one of them changes nothing."""


class Fixed(GoalPolicy):
    """A policy whose action values are given: a row of logits for each observed number."""

    table: jax.Array

    def __init__(self, table: Iterable) -> None:
        drawn = with_drawn_weights(lambda key: GoalPolicy(CORRIDOR.spec, 2, key=key, temperature=0.1))
        self.encoder, self.action_head, self.baseline_head = drawn.encoder, drawn.action_head, drawn.baseline_head
        self.action_space, self.temperature = drawn.action_space, drawn.temperature
        self.table = jnp.asarray(np.array(table, np.float32))

    def action_values(self, observation, values, goal):
        return self.table[jnp.asarray(observation)[..., 0].astype(jnp.int32)]


def batch_of(observed: list[float], *, reached: list[bool], discount: list[float]) -> ReplayBatch:
    """Steps that lead to the observed numbers."""
    count = len(observed)
    nothing, sets = np.zeros((count, 1), np.float32), np.zeros((count, 1), np.int32)
    return ReplayBatch(
        observation=nothing,
        values=sets,
        goal=sets,
        action=np.zeros(count, np.int32),
        next_observation=np.array(observed, np.float32)[:, None],
        next_values=sets,
        next_goal=sets,
        arrived=np.array(reached, np.float32),
        discount=np.array(discount, np.float32),
        weight=np.ones(count, np.float32),
    )


def logit(probability: float) -> float:
    return float(np.log(probability / (1 - probability)))


def test_target_values_by_hand():
    # Of number 0 the network prefers the first action, of number 1 the second; the target network has the value.
    network = Fixed([[2.0, 1.0], [0.0, 1.0]])
    target = Fixed([[logit(0.3), logit(0.9)], [logit(0.9), logit(0.2)]])
    batch = batch_of([0, 1, 1, 0], reached=[False, False, True, False], discount=[0.5, 0.25, 0.5, 0.0])
    # The third step has reached its goal after one more; the last one ended without it.
    np.testing.assert_allclose(target_values(network, target, batch), [0.15, 0.05, 0.5, 0.0], atol=1e-6)


def test_the_target_network_follows_slowly():
    target, network = Fixed([[0.0, 8.0]]), Fixed([[4.0, 0.0]])
    np.testing.assert_allclose(follow(target, network, 0.25).table, [[1.0, 6.0]])


def test_steps_without_weight_are_not_learned_from():
    policy = with_drawn_weights(lambda key: GoalPolicy(CORRIDOR.spec, 4, key=key, temperature=0.1))
    weightless = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], corridor_batch(8))._replace(
        weight=jnp.zeros((1, 8))
    )
    config = DQNConfig()
    after, metrics = update(new_train_state(policy, config), weightless, config, rate=jnp.float32(1e-3))
    assert float(metrics["q_loss"]) == 0
    for old, new in zip(jax.tree.leaves(policy), jax.tree.leaves(after.policy), strict=True):
        np.testing.assert_array_equal(old, new)


def random_walk(length: int, num_envs: int) -> Trajectories:
    """Random steps in the corridor, of episodes that are truncated after ten steps."""
    random = np.random.default_rng(0)
    place, rows = random.integers(0, 6, num_envs), []
    for number in range(length):
        action = random.integers(0, 2, num_envs)
        after = np.clip(place + np.where(action == 0, 1, -1), 0, 5)
        truncated = np.full(num_envs, number % 10 == 9)
        rows.append((place, action, after, truncated))
        place = np.where(truncated, random.integers(0, 6, num_envs), after)
    place, action, after, truncated = (np.stack(column) for column in zip(*rows, strict=True))
    numbering = [CORRIDOR.places.index(place) for place in sorted(CORRIDOR.places)]
    return Trajectories(
        observation=np.eye(6, dtype=np.float32)[np.array(numbering)[place]],
        attributes=place.astype(np.uint32)[..., None],
        action=action.astype(np.int32),
        info=None,
        next_attributes=after.astype(np.uint32)[..., None],
        terminated=np.zeros_like(truncated),
        truncated=truncated,
        outcome=None,
    )


def corridor_replay() -> Replay:
    """2,000 random steps, each of which pursued a random set: goals in hindsight alone hardly show what leads away."""
    replay = Replay(10_000)
    pursued = np.random.default_rng(1).integers(0, 6, (100, 20, 1), np.int32)
    remember(replay, CORRIDOR.attributes, random_walk(100, 20), pursued)
    return replay


def corridor_batch(count: int) -> ReplayBatch:
    return corridor_replay().sample(count, GoalShares(1.0), discount=0.9, n_step=3, random=np.random.default_rng(0))


def test_dqn_solves_a_corridor_from_random_steps():
    """From every place to every other: the values are 0.9 to the power of the steps that are still to come."""
    config = DQNConfig(learning_rate=0.01, batch_size=128, replay_ratio=62.0, n_step=1, target_rate=0.1)
    reacher = OffPolicy("dqn", config)
    policy = reacher.new_policy(CORRIDOR.spec, 32, key=jax.random.key(0))
    replay = corridor_replay()
    train_state = reacher.train_state(policy, CORRIDOR.spec, key=jax.random.key(1))
    train_state, metrics = reacher.learn(
        train_state, replay, discount=0.9, remaining=1.0, random=np.random.default_rng(0)
    )
    assert replay.pending * config.replay_ratio < UPDATES_PER_CALL * config.batch_size, "all steps were learned from"
    assert 0 < float(metrics["q_mean"]) < 1

    here, there = (each.ravel() for each in np.meshgrid(np.arange(6), np.arange(6), indexing="ij"))
    near = (here != there) & (abs(here - there) <= 4)
    here, there = here[near], there[near]
    numbering = np.array([CORRIDOR.places.index(place) for place in sorted(CORRIDOR.places)])
    sets = [jnp.asarray(each[:, None].astype(np.int32)) for each in (here, there)]
    output = train_state.policy(jnp.asarray(np.eye(6, dtype=np.float32)[numbering[here]]), *sets)
    assert output.mode().tolist() == (there < here).astype(int).tolist()
    np.testing.assert_allclose(output.baseline, 0.9 ** (abs(here - there) - 1), atol=0.1)


def test_a_learner_waits_until_enough_steps_are_pending():
    config = DQNConfig(batch_size=128, replay_ratio=1.0)
    reacher = OffPolicy("dqn", config)
    state = reacher.train_state(
        with_drawn_weights(lambda key: GoalPolicy(CORRIDOR.spec, 4, key=key, temperature=0.1)),
        CORRIDOR.spec,
        key=jax.random.key(0),
    )
    replay = corridor_replay()
    # 2,000 steps are fewer than 16 batches of 128.
    same, metrics = reacher.learn(state, replay, discount=0.9, remaining=1.0, random=np.random.default_rng(0))
    assert same is state
    assert (metrics, replay.pending) == ({}, 2000.0)


def test_goals_in_hindsight_become_rarer():
    config = DQNConfig(hindsight=0.6, last_hindsight=0.2)
    shares = [config.goals_at(remaining).hindsight for remaining in (1.0, 0.5, 0.0)]
    assert shares == pytest.approx([0.6, 0.4, 0.2])


def test_returns_become_shorter():
    config = DQNConfig(n_step=9, last_n_step=1)
    assert [config.n_step_at(remaining) for remaining in (1.0, 0.5, 0.0)] == [9, 5, 1]


@pytest.mark.parametrize(
    "wrong", [{"n_step": 0}, {"replay_ratio": 0.0}, {"hindsight": 1.5}, {"target_rate": 0.0}, {"learning_rate": 0.0}]
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(ConfigurationError):
        DQNConfig(**wrong)


def test_the_step_size_falls_with_what_remains_of_practice():
    config = DQNConfig(learning_rate=1e-2, last_learning_rate=1e-3)
    assert [config.learning_rate_at(each) for each in (1.0, 0.5, 0.0)] == pytest.approx([1e-2, 5.5e-3, 1e-3])


@pytest.mark.parametrize("rate", [1e-2, 1e-4])
def test_the_first_change_of_a_weight_is_the_step_size(rate: float):
    """Adam's first change has the size of the step, whatever the gradient."""
    policy = with_drawn_weights(lambda key: GoalPolicy(CORRIDOR.spec, 4, key=key, temperature=0.1))
    batches = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], corridor_batch(8))
    after, _ = update(new_train_state(policy, DQNConfig()), batches, DQNConfig(), rate=jnp.float32(rate))
    pairs = zip(jax.tree.leaves(policy), jax.tree.leaves(after.policy), strict=True)
    assert max(float(np.abs(new - old).max()) for old, new in pairs) == pytest.approx(rate, rel=0.05)
