"""REINFORCE and PPO on tasks. REINFORCE is the paper's baseline on the grid worlds and StarCraft (Section 4).

The learners are the planner's, `learning.reinforce` and `learning.ppo`; only the training distribution differs.
"""

from dataclasses import dataclass, field
from typing import Any

import jax

from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.baselines.training_loop import TaskTrainingConfig, batch_of, train_on_tasks
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.interface import Environment
from attribute_planner.learning import ppo, reinforce
from attribute_planner.learning.policy_gradient import TrainState, new_train_state
from attribute_planner.learning.ppo import PPOConfig
from attribute_planner.learning.progress import Watch, no_callback
from attribute_planner.learning.reinforce import ReinforceConfig
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.ranges import check_settings

Key = jax.Array


@dataclass(frozen=True)
class ReinforceBaselineConfig:
    """How the REINFORCE baseline is trained."""

    training: TaskTrainingConfig = field(default_factory=TaskTrainingConfig)
    """Budget, network and rewards."""
    learning: ReinforceConfig = field(default_factory=ReinforceConfig)
    """Settings of REINFORCE."""

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True)
class PPOBaselineConfig:
    """How the PPO baseline is trained."""

    training: TaskTrainingConfig = field(default_factory=TaskTrainingConfig)
    """Budget, network and rewards."""
    learning: PPOConfig = field(default_factory=PPOConfig)
    """Settings of PPO."""

    def __post_init__(self) -> None:
        check_settings(self)
        self.learning.check_batch(self.training.num_envs * self.training.rollout_length)


def train(
    env: Environment,
    training_distribution: str,
    config: ReinforceBaselineConfig | PPOBaselineConfig,
    *,
    key: Key,
    watch: Watch = no_callback,
) -> ReactivePolicy:
    """A policy trained on tasks by the learner that the settings name."""
    network_key, train_key = jax.random.split(key)
    learner = ppo if isinstance(config, PPOBaselineConfig) else reinforce

    def update(
        train_state: TrainState, steps: Trajectories, remaining: jax.Array, key: Key
    ) -> tuple[TrainState, dict[str, Any]]:
        batch = batch_of(steps, env.attributes, config.training.step_reward)
        return learner.update(train_state, batch, config.learning, remaining=remaining, key=key)  # pyright: ignore[reportArgumentType]

    policy = GoalPolicy(env.spec, config.training.hidden_size, key=network_key)
    train_state = train_on_tasks(
        env,
        training_distribution,
        config.training,
        new_train_state(policy, config.learning),
        lambda train_state: ReactivePolicy(train_state.policy),
        update,
        name="ppo" if learner is ppo else "reinforce",
        key=train_key,
        watch=watch,
    )
    return ReactivePolicy(train_state.policy, config.training.deterministic)
