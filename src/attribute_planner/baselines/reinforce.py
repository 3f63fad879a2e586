"""REINFORCE on tasks: the paper's baseline on the grid worlds and StarCraft (Section 4, Appendices C and D).

The learner is the planner's own, `learning/reinforce.py` or `learning/ppo.py`; only what it is trained on differs.
"""

from dataclasses import dataclass, field
from typing import Any

import jax

from attribute_planner.baselines.episodes import Steps
from attribute_planner.baselines.reactive_policy import NetworkPolicy
from attribute_planner.baselines.training_loop import TaskTrainingConfig, batch_of, train_on_tasks
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.policy_gradient import TrainState, new_train_state
from attribute_planner.learning.ppo import PPOConfig
from attribute_planner.learning.progress import Watch, nobody
from attribute_planner.learning.reachers import LEARNERS
from attribute_planner.learning.reinforce import ReinforceConfig
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array


@dataclass(frozen=True)
class ReinforceBaselineConfig:
    """How the REINFORCE baseline is trained."""

    training: TaskTrainingConfig = field(default_factory=TaskTrainingConfig)
    """Budget, network and rewards."""
    learning: ReinforceConfig = field(default_factory=lambda: ReinforceConfig(anneal=True))
    """The learner: REINFORCE with a learned baseline."""


@dataclass(frozen=True)
class PPOBaselineConfig:
    """How the PPO baseline is trained."""

    training: TaskTrainingConfig = field(default_factory=TaskTrainingConfig)
    """Budget, network and rewards."""
    learning: PPOConfig = field(default_factory=PPOConfig)
    """The learner: PPO with the planner's settings."""


def train(
    env: Environment,
    training_distribution: str,
    config: ReinforceBaselineConfig | PPOBaselineConfig,
    *,
    key: Key,
    detector: AttributeDetector | None = None,
    watch: Watch = nobody,
) -> NetworkPolicy:
    """A policy that has tried tasks of the training_distribution, and learned from its returns."""
    network_key, train_key = jax.random.split(key)
    name = "ppo" if isinstance(config, PPOBaselineConfig) else "reinforce"

    def update(
        train_state: TrainState, steps: Steps, remaining: jax.Array, key: Key
    ) -> tuple[TrainState, dict[str, Any]]:
        batch = batch_of(steps, config.training.step_reward)
        return LEARNERS[name](train_state, batch, config.learning, remaining=remaining, key=key)

    train_state = new_train_state(GoalPolicy(env.spec, config.training.hidden_size, key=network_key), config.learning)
    train_state = train_on_tasks(
        env,
        training_distribution,
        config.training,
        train_state,
        lambda train_state: NetworkPolicy(train_state.policy),
        update,
        name=name,
        detector=detector,
        key=train_key,
        watch=watch,
    )
    return NetworkPolicy(train_state.policy, config.training.deterministic)
