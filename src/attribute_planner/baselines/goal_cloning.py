"""Goal-conditioned behaviour cloning with hindsight (GCSL, Ghosh et al. 2021). Not in the paper.

The action of a step is the label for every attribute set that was reached by it or later in its episode. The policy is
cloned from its own experience on the tasks, which improves with it; there are no rewards and no values. At test time it
acts on the final goal. The inverse baseline learns in the same way from random steps, once.
"""

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp

from attribute_planner.baselines.hindsight import ReplayConfig, train_with_hindsight
from attribute_planner.baselines.hindsight_replay import HindsightReplay, draw_steps, hindsight_goals
from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.baselines.training_loop import TaskTrainingConfig
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.policy_gradient import (
    TrainState,
    annealed,
    descend,
    new_train_state,
    weighted_mean,
)
from attribute_planner.learning.progress import Watch, no_callback
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.ranges import POSITIVE, STEP_SIZE, check_settings

Key = jax.Array


@dataclass(frozen=True)
class CloningConfig:
    """How the policy is cloned."""

    learning_rate: float = 1e-3
    """Step size of Adam."""
    anneal: bool = True
    """Whether the step size falls linearly to zero over training."""
    max_grad_norm: float = 1.0
    """Gradients with a larger global norm are scaled down to it."""

    def __post_init__(self) -> None:
        check_settings(self, learning_rate=STEP_SIZE, max_grad_norm=POSITIVE)


@dataclass(frozen=True)
class GoalCloningConfig:
    """How the baseline of goal-conditioned cloning is trained."""

    training: TaskTrainingConfig = field(default_factory=TaskTrainingConfig)
    """Budget and network; rewards are not used."""
    replay: ReplayConfig = field(default_factory=lambda: ReplayConfig(nearness=0.95))
    """How experience is collected and replayed. Goals are near: the action is a better label for what follows soon."""
    learning: CloningConfig = field(default_factory=CloningConfig)
    """How the policy is cloned."""

    def __post_init__(self) -> None:
        check_settings(self)


def train(
    env: Environment,
    training_distribution: str,
    config: GoalCloningConfig,
    *,
    key: Key,
    watch: Watch = no_callback,
) -> ReactivePolicy:
    """A policy cloned from its own experience on tasks."""
    network_key, train_key = jax.random.split(key)

    def learn(
        train_state: TrainState, replay: HindsightReplay, ends: jax.Array, remaining: jax.Array, key: Key
    ) -> tuple[TrainState, dict[str, jax.Array]]:
        return one_update(train_state, replay, ends, env, config, remaining, key=key)

    policy = GoalPolicy(env.spec, config.training.hidden_size, key=network_key)
    train_state = train_with_hindsight(
        env,
        training_distribution,
        config.training,
        config.replay,
        new_train_state(policy, config.learning),
        learn,
        name="goal-cloning",
        key=train_key,
        watch=watch,
    )
    return ReactivePolicy(train_state.policy, config.training.deterministic)


def one_update(
    train_state: TrainState,
    replay: HindsightReplay,
    ends: jax.Array,
    env: Environment,
    config: GoalCloningConfig,
    remaining: jax.Array,
    *,
    key: Key,
) -> tuple[TrainState, dict[str, jax.Array]]:
    """The train state after one batch of steps with goals in hindsight, and metrics."""
    step_key, goal_key = jax.random.split(key)
    chosen, rows = draw_steps(replay, ends, config.replay.batch_size, key=step_key), replay.rows
    goal, found = hindsight_goals(replay, chosen, env.attributes, config.replay.goal_kinds, key=goal_key)
    snapshot, words, action = replay.at(chosen.number, chosen.env, (rows.snapshot, rows.attributes, rows.action))
    observation, values = env.observe_batch(snapshot), jnp.asarray(env.attributes.unpack(words))
    weight = found.astype(jnp.float32)

    def loss(policy: GoalPolicy) -> tuple[jax.Array, dict[str, jax.Array]]:
        output = policy(observation, values, goal)
        metrics = {"entropy": weighted_mean(output.entropy(), weight)}
        return -weighted_mean(output.log_prob(action), weight), metrics

    return descend(train_state, loss, config.learning, annealed(config.learning, remaining))
