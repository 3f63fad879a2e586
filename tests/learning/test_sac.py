import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.data.replay import Replay, remember
from attribute_planner.data.replay_batch import ReplayBatch
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.spaces import Box
from attribute_planner.learning.dqn import DQNConfig
from attribute_planner.learning.reachers import OffPolicy
from attribute_planner.learning.sac import (
    FIRST_TEMPERATURE,
    Critic,
    both,
    in_units,
    log_half_widths,
    new_train_state,
    target_values,
)
from attribute_planner.models.policy import GoalPolicy
from tests.probes import Thirds, with_drawn_weights

BOX = Box((0.0, -1.0), (4.0, 1.0))


def test_actions_in_units_of_their_box_by_hand():
    actions = jnp.array([[0.0, -1.0], [4.0, 1.0], [3.0, 0.0]])
    np.testing.assert_allclose(in_units(BOX, actions), [[-1, -1], [1, 1], [0.5, 0.0]])
    # Half-widths 2 and 1.
    assert float(log_half_widths(BOX)) == pytest.approx(np.log(2))


class Known(Critic):
    """A critic whose logit is the action, plus a number of its own."""

    offset: jax.Array

    def __init__(self, offset: float) -> None:
        drawn = with_drawn_weights(lambda key: Critic(Thirds().spec, 2, key=key))
        self.encoder, self.tower, self.head, self.box = drawn.encoder, drawn.tower, drawn.head, drawn.box
        self.offset = jnp.asarray(offset)

    def __call__(self, observation, values, goal, action):
        return action[..., 0] * 0 + self.offset


def sigmoid(logit: float) -> float:
    return 1 / (1 + np.exp(-logit))


def batch_of(reached: list[bool], discount: list[float]) -> ReplayBatch:
    count = len(reached)
    nothing, sets = jnp.zeros((count, 1)), jnp.zeros((count, 1), jnp.int32)
    return ReplayBatch(
        observation=nothing,
        values=sets,
        goal=sets,
        action=nothing,
        next_observation=nothing,
        next_values=sets,
        next_goal=sets,
        arrived=jnp.array(reached, jnp.float32),
        discount=jnp.array(discount),
        weight=jnp.ones(count),
    )


def test_target_values_by_hand():
    actor = with_drawn_weights(lambda key: GoalPolicy(Thirds().spec, 2, key=key))
    both = jax.tree.map(lambda *leaves: jnp.stack(leaves), Known(1.0), Known(-2.0))
    batch = batch_of([False, True, False], [0.5, 0.25, 0.0])
    found = eqx.filter_jit(target_values)(actor, both, batch, key=jax.random.key(0))
    # The smaller of two estimates, discounted; the goal itself is worth 1; an end without it nothing.
    np.testing.assert_allclose(found, [0.5 * sigmoid(-2.0), 0.25, 0.0], atol=1e-6)


def test_learning_begins_with_two_different_critics_and_their_copies():
    spec, config = Thirds().spec, DQNConfig()
    policy = with_drawn_weights(lambda key: GoalPolicy(spec, 4, key=key))
    critics = eqx.filter_jit(new_train_state)(policy, spec, 4, config, key=jax.random.key(0)).critic
    for now, later in zip(jax.tree.leaves(critics.critic), jax.tree.leaves(critics.target), strict=True):
        np.testing.assert_array_equal(now, later)
    first, second = critics.critic.head.weight
    assert (first != second).any()
    assert float(jnp.exp(critics.log_temperature)) == pytest.approx(FIRST_TEMPERATURE)


def random_points(length: int, num_envs: int) -> Trajectories:
    """Random actions in `Thirds`, whose action alone decides where it leads."""
    random = np.random.default_rng(0)
    action = random.uniform(-1, 1, (length, num_envs, 1)).astype(np.float32)
    after = (action[..., 0] > -1 / 3).astype(np.uint32) + (action[..., 0] > 1 / 3)
    before = np.concatenate([np.zeros((1, num_envs), np.uint32), after[:-1]])
    truncated = np.zeros((length, num_envs), bool)
    return Trajectories(
        observation=np.zeros((length, num_envs, 1), np.float32),
        attributes=before.astype(np.uint32)[..., None],
        action=action,
        info=None,
        next_attributes=after.astype(np.uint32)[..., None],
        terminated=truncated,
        truncated=truncated,
        outcome=None,
    )


def test_sac_learns_which_points_reach_each_set():
    env = Thirds()
    config = DQNConfig(learning_rate=0.01, batch_size=128, replay_ratio=31.0, n_step=1, target_rate=0.05)
    reacher = OffPolicy("sac", config)
    policy = reacher.new_policy(env.spec, 32, key=jax.random.key(0))
    replay = Replay(10_000)
    remember(replay, env.attributes, random_points(100, 20))
    train_state = reacher.train_state(policy, env.spec, key=jax.random.key(1))
    train_state, metrics = reacher.learn(
        train_state, replay, discount=0.9, remaining=1.0, random=np.random.default_rng(0)
    )
    here, there = (each.ravel() for each in np.meshgrid(np.arange(3), np.arange(3), indexing="ij"))
    here, there = here[here != there], there[here != there]
    sets = [jnp.asarray(each[:, None].astype(np.int32)) for each in (here, there)]
    output = train_state.policy(jnp.zeros((len(here), 1)), *sets)
    chosen = np.asarray(output.mode())[:, 0]
    reached = (chosen > -1 / 3).astype(int) + (chosen > 1 / 3)
    assert reached.tolist() == there.tolist()
    logits = both(train_state.critic.critic, jnp.zeros((len(here), 1)), sets[0], sets[1], output.mode())
    q = jax.nn.sigmoid(logits.min(axis=0))
    assert np.asarray(output.baseline) == pytest.approx(np.asarray(q), abs=0.15)
    assert 0 < float(metrics["temperature"]) < FIRST_TEMPERATURE, "actions became more certain"
