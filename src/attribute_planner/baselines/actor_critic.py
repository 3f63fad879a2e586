"""Advantage actor-critic: the paper's baseline on the blocks (Section 4.1).

The paper has A3C, whose workers update shared weights whenever they are done. This is its synchronous form, A2C: all
copies act for a few steps, then there is one update from all of them. Returns run to the end of those steps, where the
critic takes over.
"""

from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax

from attribute_planner.baselines.descent import (
    DescentConfig,
    TrainState,
    bootstrapped_returns,
    descend,
    new_train_state,
)
from attribute_planner.baselines.episodes import Steps
from attribute_planner.baselines.reactive_policy import NetworkPolicy
from attribute_planner.baselines.training_loop import TaskTrainingConfig, batch_of, train_on_tasks
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.policy_gradient import Batch, weighted_mean
from attribute_planner.learning.progress import Watch, nobody
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array


@dataclass(frozen=True)
class ActorCriticConfig:
    """How the actor-critic baseline is trained."""

    training: TaskTrainingConfig = field(default_factory=lambda: TaskTrainingConfig(rollout_length=5))
    """Budget, network and rewards. There is one update per window, so windows are short."""
    descent: DescentConfig = field(default_factory=DescentConfig)
    """How the policy learns."""


def loss(
    policy: GoalPolicy, batch: Batch, returns: jax.Array, config: DescentConfig, anneal: jax.Array
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """The policy gradient with the critic as its baseline, the critic's error and the entropy; steps are `[T, B]`."""
    output = policy(batch.observation, batch.values, batch.goal)
    advantage = returns - batch.value
    shown = {
        "entropy": weighted_mean(output.entropy(), batch.weight),
        "critic_error": weighted_mean((output.baseline - returns) ** 2, batch.weight),
        "return": weighted_mean(returns, batch.weight),
    }
    gain = weighted_mean(output.log_prob(batch.action) * advantage, batch.weight)
    return config.value_coef * shown["critic_error"] - config.entropy_coef * anneal * shown["entropy"] - gain, shown


@eqx.filter_jit
def update(
    train_state: TrainState[GoalPolicy], batch: Batch, config: DescentConfig, remaining: jax.Array
) -> tuple[TrainState[GoalPolicy], dict[str, jax.Array]]:
    """The train_state after one window of steps, and its metrics."""
    returns = bootstrapped_returns(batch, config)
    return descend(train_state, lambda policy, anneal: loss(policy, batch, returns, config, anneal), config, remaining)


def train(
    env: Environment,
    training_distribution: str,
    config: ActorCriticConfig,
    *,
    key: Key,
    detector: AttributeDetector | None = None,
    watch: Watch = nobody,
) -> NetworkPolicy:
    """A policy that has tried tasks of the training_distribution, and learned from them with the help of its critic."""
    network_key, train_key = jax.random.split(key)

    def learn(
        train_state: TrainState[GoalPolicy], steps: Steps, remaining: jax.Array, key: Key
    ) -> tuple[TrainState[GoalPolicy], dict[str, Any]]:
        del key  # a batch is used once, as a whole
        return update(train_state, batch_of(steps, config.training.step_reward), config.descent, remaining)

    train_state = new_train_state(GoalPolicy(env.spec, config.training.hidden_size, key=network_key), config.descent)
    train_state = train_on_tasks(
        env,
        training_distribution,
        config.training,
        train_state,
        lambda train_state: NetworkPolicy(train_state.network),
        learn,
        name="actor-critic",
        detector=detector,
        key=train_key,
        watch=watch,
    )
    return NetworkPolicy(train_state.network, config.training.deterministic)
