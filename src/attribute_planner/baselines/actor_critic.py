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
    Apprentice,
    DescentConfig,
    bootstrapped_returns,
    descend,
    new_apprentice,
)
from attribute_planner.baselines.episodes import Steps
from attribute_planner.baselines.reactive_policy import PolicyPlayer
from attribute_planner.baselines.training_loop import SchoolConfig, attend, batch_of
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.progress import Watch, nobody
from attribute_planner.learning.reinforce import Batch, weighted_mean
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array


@dataclass(frozen=True)
class ActorCriticConfig:
    """How the actor-critic baseline is trained."""

    school: SchoolConfig = field(default_factory=lambda: SchoolConfig(rollout_length=5))
    """Budget, network and rewards. There is one update per window, so windows are short."""
    descent: DescentConfig = field(default_factory=DescentConfig)
    """How the policy learns."""


def loss(
    policy: GoalPolicy, batch: Batch, earned: jax.Array, config: DescentConfig, warmth: jax.Array
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """The policy gradient with the critic as its baseline, the critic's error and the entropy; steps are `[T, B]`."""
    output = policy(batch.observation, batch.values, batch.goal)
    advantage = earned - batch.baseline
    shown = {
        "entropy": weighted_mean(output.entropy(), batch.weight),
        "critic_error": weighted_mean((output.baseline - earned) ** 2, batch.weight),
        "return": weighted_mean(earned, batch.weight),
    }
    gain = weighted_mean(output.log_prob(batch.action) * advantage, batch.weight)
    return config.value_coef * shown["critic_error"] - config.entropy_coef * warmth * shown["entropy"] - gain, shown


@eqx.filter_jit
def update(
    apprentice: Apprentice[GoalPolicy], batch: Batch, config: DescentConfig, remaining: jax.Array
) -> tuple[Apprentice[GoalPolicy], dict[str, jax.Array]]:
    """The apprentice after one window of steps, and its metrics."""
    earned = bootstrapped_returns(batch, config)
    return descend(apprentice, lambda policy, warmth: loss(policy, batch, earned, config, warmth), config, remaining)


def train(
    env: Environment,
    regime: str,
    config: ActorCriticConfig,
    *,
    key: Key,
    detector: AttributeDetector | None = None,
    watch: Watch = nobody,
) -> PolicyPlayer:
    """A policy that has tried tasks of the regime, and learned from them with the help of its critic."""
    network_key, school_key = jax.random.split(key)

    def learn(
        apprentice: Apprentice[GoalPolicy], steps: Steps, remaining: jax.Array, key: Key
    ) -> tuple[Apprentice[GoalPolicy], dict[str, Any]]:
        del key  # a batch is used once, as a whole
        return update(apprentice, batch_of(steps, config.school.step_reward), config.descent, remaining)

    apprentice = new_apprentice(GoalPolicy(env.spec, config.school.hidden_size, key=network_key), config.descent)
    apprentice = attend(
        env,
        regime,
        config.school,
        apprentice,
        lambda apprentice: PolicyPlayer(apprentice.network),
        learn,
        name="actor-critic",
        detector=detector,
        key=school_key,
        watch=watch,
    )
    return PolicyPlayer(apprentice.network, config.school.deterministic)
