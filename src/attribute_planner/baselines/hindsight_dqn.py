"""DQN with hindsight experience replay: a goal-conditioned value function, trained on tasks. Not in the paper.

The learner is `learning.dqn`: Q(s, a, goal) is the discounted probability of reaching the goal. With a constant reward
per step and 1 at the goal, as the other baselines have, the return is an increasing linear function of it, so that
`step_reward` changes no order of actions and is not used. At test time the policy acts on the final goal.
"""

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from attribute_planner.baselines.hindsight import ReplayConfig, train_with_hindsight
from attribute_planner.baselines.hindsight_replay import HindsightReplay, draw_steps, hindsight_goals, replayed
from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.baselines.training_loop import TaskTrainingConfig
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Discrete
from attribute_planner.errors import ConfigurationError
from attribute_planner.learning import dqn
from attribute_planner.learning.policy_gradient import TrainState
from attribute_planner.learning.progress import Watch, no_callback
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.ranges import BELOW_ONE, COUNT, FRACTION, POSITIVE, STEP_SIZE, check_settings

Key = jax.Array


@dataclass(frozen=True)
class ValueConfig:
    """How the values are learned."""

    learning_rate: float = 1e-3
    """Step size of Adam."""
    discount: float = 0.99
    """Discount factor."""
    n_step: int = 3
    """Steps after which a return is bootstrapped."""
    hindsight: float = 0.8
    """Share of steps that are replayed with a goal in hindsight; the others have the goal of their task."""
    target_rate: float = 0.01
    """Update rate of the target network (Polyak averaging)."""
    max_grad_norm: float = 1.0
    """Gradients with a larger global norm are scaled down to it."""

    def __post_init__(self) -> None:
        check_settings(
            self,
            learning_rate=STEP_SIZE,
            discount=BELOW_ONE,
            n_step=COUNT,
            hindsight=FRACTION,
            target_rate=STEP_SIZE,
            max_grad_norm=POSITIVE,
        )


@dataclass(frozen=True)
class HindsightDQNConfig:
    """How the baseline DQN with hindsight is trained."""

    training: TaskTrainingConfig = field(default_factory=TaskTrainingConfig)
    """Budget and network."""
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    """How experience is collected and replayed."""
    learning: ValueConfig = field(default_factory=ValueConfig)
    """How the values are learned."""
    temperature: float = 0.02
    """Actions are sampled by a softmax of log value / temperature: in training, and afterwards unless deterministic."""

    def __post_init__(self) -> None:
        check_settings(self, temperature=POSITIVE)


def train(
    env: Environment,
    training_distribution: str,
    config: HindsightDQNConfig,
    *,
    key: Key,
    watch: Watch = no_callback,
) -> ReactivePolicy:
    """A policy trained on tasks by DQN with hindsight."""
    if env.num_units is not None or not isinstance(env.actions, Discrete):
        raise ConfigurationError(f"DQN needs one agent with discrete actions; {env.name} has others.")
    network_key, train_key = jax.random.split(key)

    def learn(
        train_state: TrainState, replay: HindsightReplay, ends: jax.Array, remaining: jax.Array, key: Key
    ) -> tuple[TrainState, dict[str, jax.Array]]:
        del remaining
        return one_update(train_state, replay, ends, env, config, key=key)

    policy = GoalPolicy(env.spec, config.training.hidden_size, key=network_key, temperature=config.temperature)
    train_state = train_with_hindsight(
        env,
        training_distribution,
        config.training,
        config.replay,
        dqn.new_train_state(policy, config.learning),
        learn,
        name="hindsight-dqn",
        key=train_key,
        watch=watch,
    )
    return ReactivePolicy(train_state.policy, config.training.deterministic)


def one_update(
    train_state: TrainState,
    replay: HindsightReplay,
    ends: jax.Array,
    env: Environment,
    config: HindsightDQNConfig,
    *,
    key: Key,
) -> tuple[TrainState, dict[str, Any]]:
    """The train state after one batch, a share of which has goals in hindsight, and metrics."""
    step_key, goal_key, kind_key = jax.random.split(key, 3)
    count, learning = config.replay.batch_size, config.learning
    chosen = draw_steps(replay, ends, count, key=step_key)
    goal, found = hindsight_goals(replay, chosen, env.attributes, config.replay.goal_kinds, key=goal_key)
    relabelled = found & (jax.random.uniform(kind_key, (count,)) < learning.hindsight)
    pursued = replay.at(chosen.number, chosen.env, replay.rows.pursued).astype(goal.dtype)
    goal = jnp.where(relabelled[:, None], goal, pursued)
    batch = replayed(replay, chosen, goal, env, discount=learning.discount, n_step=learning.n_step)
    return dqn.one_update(train_state, batch, learning, rate=jnp.float32(learning.learning_rate))
