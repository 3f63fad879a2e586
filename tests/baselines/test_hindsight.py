"""The baselines that learn from goals in hindsight, in a few thousand steps."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.baselines import BASELINES
from attribute_planner.baselines.goal_cloning import CloningConfig, GoalCloningConfig
from attribute_planner.baselines.hindsight import ExploringPolicy, ReplayConfig, several_updates
from attribute_planner.baselines.hindsight_dqn import HindsightDQNConfig, ValueConfig
from attribute_planner.environments.spaces import GoalObservation
from attribute_planner.errors import ConfigurationError
from attribute_planner.learning.policy_gradient import TrainState
from attribute_planner.models.policy import GoalPolicy
from tests.baselines.probes import STAR, TRAINING, actions_on_the_star
from tests.baselines.test_hindsight_replay import filled, walk
from tests.probes import RING, Levers, Thirds, with_drawn_weights

SHORT = replace(TRAINING, steps=6_400, rollout_length=20, deterministic=True)
FEW = ReplayConfig(capacity=4_000, batch_size=128, replay_ratio=8.0, nearness=0.5)
CONFIGS: dict[str, Any] = {
    "hindsight-dqn": HindsightDQNConfig(SHORT, FEW, ValueConfig(learning_rate=0.01, discount=0.9)),
    "goal-cloning": GoalCloningConfig(SHORT, FEW, CloningConfig(learning_rate=0.01)),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_most_of_the_star_is_learned_in_a_few_seconds(name: str):
    policy = BASELINES[name].train(STAR, "multi-step", CONFIGS[name], key=jax.random.key(0))
    done, right = actions_on_the_star(policy)
    assert np.mean(done == right) >= 0.9  # random actions: 0.25


def test_each_step_is_replayed_as_often_as_configured():
    config = ReplayConfig(batch_size=64, replay_ratio=4.0)
    assert config.updates_per_rollout(320) == 20
    assert config.updates_per_rollout(8) == 1


@pytest.mark.parametrize(("epsilon", "others"), [(0.0, 0.0), (0.5, 0.25)])
def test_a_fraction_of_the_actions_is_random(epsilon: float, others: float):
    policy = with_drawn_weights(lambda key: GoalPolicy(RING.spec, 4, key=key, temperature=1e-4))
    actor, count = ExploringPolicy(policy, RING, epsilon), 2_000
    goal, values = jnp.full((count, 1), 3), jnp.zeros((count, 1), jnp.int32)
    observation: Any = GoalObservation(RING.observe_batch(jnp.zeros(count, jnp.int32)), goal, jnp.zeros(count, bool))
    _, action, info = actor.act(None, observation, values, key=jax.random.key(0))
    np.testing.assert_array_equal(info, goal)
    # Of two actions, half of the random ones are the best one.
    assert np.mean(np.asarray(action) != np.bincount(action).argmax()) == pytest.approx(others, abs=0.04)


@pytest.mark.parametrize("env", [Levers(), Thirds()], ids=["several units", "continuous actions"])
def test_dqn_names_the_actions_that_it_needs(env: Any):
    with pytest.raises(ConfigurationError, match="one agent with discrete actions"):
        BASELINES["hindsight-dqn"].train(env, "multi-step", CONFIGS["hindsight-dqn"], key=jax.random.key(0))


def test_updates_are_the_same_in_a_compiled_loop(monkeypatch: pytest.MonkeyPatch):
    def learn(train_state: TrainState, replay: Any, ends: jax.Array, remaining: jax.Array, key: jax.Array):
        policy = jax.tree.map(lambda leaf: leaf + remaining * jax.random.uniform(key), train_state.policy)
        return TrainState(policy, ()), {"ends": ends.sum().astype(jnp.float32)}

    train_state = TrainState(with_drawn_weights(lambda key: GoalPolicy(RING.spec, 4, key=key)), ())
    replay = filled(walk(RING.attributes, 0, 4, over=(1,)), capacity=4)
    given = (train_state, replay, learn, 3, jnp.float32(0.5), jax.random.key(0))
    one_by_one, metrics = several_updates(*given)
    with monkeypatch.context() as patch:
        patch.setattr("jax.default_backend", lambda: "gpu")
        in_a_loop, same = several_updates(*given)
    jax.tree.map(lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-6), one_by_one, in_a_loop)
    assert metrics["ends"] == same["ends"] == 1 + 1 + 3 + 3
