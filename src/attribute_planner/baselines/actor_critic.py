"""Advantage actor-critic: the paper's baseline on the blocks (Section 4.1).

The paper has A3C, whose workers update shared weights asynchronously. This is its synchronous form, A2C: all
environments act for a few steps, then there is one update. Returns bootstrap from the value estimate of the last step.
"""

from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax

from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.baselines.training_loop import TaskTrainingConfig, batch_of, train_on_tasks
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.policy_gradient import (
    RANGES,
    Batch,
    TrainState,
    annealed,
    descend,
    new_train_state,
    returns_of,
    weighted_mean,
)
from attribute_planner.learning.progress import Watch, no_callback
from attribute_planner.models.policy import GoalPolicy, PolicyOutput
from attribute_planner.ranges import check_settings

Key = jax.Array


@dataclass(frozen=True)
class DescentConfig:
    """How actor-critic and option-critic learn: one gradient step per rollout.

    The entropy bonus was chosen from 0.01, 0.03 and 0.1, with step sizes of 0.5, 1 and 2 · 10⁻³, by the success on
    1-step tasks of the blocks (observed as a vector) of one run each of 1 or 1.5 million steps. Actor-critic reached
    60 % with 0.01 and either of the larger step sizes, 87 % with 0.03 and 1 · 10⁻³, 94 % with the present values.
    """

    learning_rate: float = 2e-3
    """Step size of Adam; A3C had RMSProp."""
    anneal: bool = True
    """Whether step size and entropy bonus fall linearly to zero over training."""
    discount: float = 0.99
    """Discount factor of later rewards."""
    entropy_coef: float = 0.1
    """Weight of the entropy bonus. PPO has 0.01, with normalised advantages."""
    value_coef: float = 0.5
    """Weight of the squared error of the value estimate."""
    max_grad_norm: float = 0.5
    """Gradients with a larger global norm are scaled down to it."""

    def __post_init__(self) -> None:
        check_settings(self, **RANGES)


@dataclass(frozen=True)
class ActorCriticConfig:
    """How the actor-critic baseline is trained."""

    training: TaskTrainingConfig = field(default_factory=lambda: TaskTrainingConfig(rollout_length=5))
    """Budget, network and rewards. There is one update per rollout, so rollouts are short."""
    descent: DescentConfig = field(default_factory=DescentConfig)
    """How the policy learns."""

    def __post_init__(self) -> None:
        check_settings(self)


def loss(
    output: PolicyOutput, batch: Batch, returns: jax.Array, config: DescentConfig, scale: jax.Array
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """Policy gradient with value error and entropy bonus on steps `[T, B]`, and metrics; `scale` is the bonus's."""
    metrics = {
        "entropy": weighted_mean(output.entropy(), batch.weight),
        "value_error": weighted_mean((output.baseline - returns) ** 2, batch.weight),
        "return": weighted_mean(returns, batch.weight),
    }
    gain = weighted_mean(output.log_prob(batch.action) * (returns - batch.value), batch.weight)
    total = config.value_coef * metrics["value_error"] - config.entropy_coef * scale * metrics["entropy"]
    return total - gain, metrics


@eqx.filter_jit
def update(
    train_state: TrainState[GoalPolicy], batch: Batch, config: DescentConfig, remaining: jax.Array
) -> tuple[TrainState[GoalPolicy], dict[str, jax.Array]]:
    """The train state after one rollout, and metrics."""
    returns, scale = returns_of(batch, config.discount), annealed(config, remaining)

    def of_policy(policy: GoalPolicy) -> tuple[jax.Array, dict[str, jax.Array]]:
        return loss(policy(batch.observation, batch.values, batch.goal), batch, returns, config, scale)

    return descend(train_state, of_policy, config, scale)


def train(
    env: Environment,
    training_distribution: str,
    config: ActorCriticConfig,
    *,
    key: Key,
    watch: Watch = no_callback,
) -> ReactivePolicy:
    """A policy trained on tasks by A2C."""
    network_key, train_key = jax.random.split(key)

    def learn(
        train_state: TrainState[GoalPolicy], steps: Trajectories, remaining: jax.Array, key: Key
    ) -> tuple[TrainState[GoalPolicy], dict[str, Any]]:
        del key
        batch = batch_of(steps, env.attributes, config.training.step_reward)
        return update(train_state, batch, config.descent, remaining)

    policy = GoalPolicy(env.spec, config.training.hidden_size, key=network_key)
    train_state = train_on_tasks(
        env,
        training_distribution,
        config.training,
        new_train_state(policy, config.descent),
        lambda train_state: ReactivePolicy(train_state.policy),
        learn,
        name="actor-critic",
        key=train_key,
        watch=watch,
    )
    return ReactivePolicy(train_state.policy, config.training.deterministic)
