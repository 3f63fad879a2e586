"""REINFORCE on tasks: the paper's baseline on the grid worlds and StarCraft (Section 4, Appendices C and D).

The learner is the planner's own, `learning/reinforce.py`, with the same settings; only what it is trained on differs.
"""

from dataclasses import dataclass, field
from typing import Any

import jax

from attribute_planner.baselines.episodes import Steps
from attribute_planner.baselines.reactive_policy import PolicyPlayer
from attribute_planner.baselines.training_loop import SchoolConfig, attend, batch_of
from attribute_planner.environments.interface import Environment
from attribute_planner.learning import reinforce
from attribute_planner.learning.progress import Watch, nobody
from attribute_planner.learning.reinforce import ReinforceConfig, TrainState, new_train_state
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array


@dataclass(frozen=True)
class ReinforceBaselineConfig:
    """How the REINFORCE baseline is trained."""

    school: SchoolConfig = field(default_factory=SchoolConfig)
    """Budget, network and rewards."""
    learning: ReinforceConfig = field(default_factory=ReinforceConfig)
    """How the policy learns: as the planner's does, batches reused and λ-returns included. One pass, one minibatch and
    a trace of 1 are the paper's plain REINFORCE with a baseline."""


def train(
    env: Environment,
    regime: str,
    config: ReinforceBaselineConfig,
    *,
    key: Key,
    detector: AttributeDetector | None = None,
    watch: Watch = nobody,
) -> PolicyPlayer:
    """A policy that has tried tasks of the regime, and learned from its returns."""
    network_key, school_key = jax.random.split(key)

    def update(
        train_state: TrainState, steps: Steps, remaining: jax.Array, key: Key
    ) -> tuple[TrainState, dict[str, Any]]:
        batch = batch_of(steps, config.school.step_reward)
        return reinforce.update(train_state, batch, config.learning, remaining=remaining, key=key)

    train_state = new_train_state(GoalPolicy(env.spec, config.school.hidden_size, key=network_key), config.learning)
    train_state = attend(
        env,
        regime,
        config.school,
        train_state,
        lambda train_state: PolicyPlayer(train_state.policy),
        update,
        name="reinforce",
        detector=detector,
        key=school_key,
        watch=watch,
    )
    return PolicyPlayer(train_state.policy, config.school.deterministic)
