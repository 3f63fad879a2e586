"""What the baselines that learn from goals in hindsight share: the replay settings, the actor and the training loop."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Int

from attribute_planner.baselines.hindsight_replay import (
    GoalKinds,
    HindsightReplay,
    add,
    empty_replay,
    episode_ends,
    rows_of,
)
from attribute_planner.baselines.training_loop import TaskTrainingConfig, train_on_tasks
from attribute_planner.data.random_actions import any_action
from attribute_planner.data.trajectories import TracedActor, Trajectories
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action
from attribute_planner.environments.vector_env import TimeStep, where_batch
from attribute_planner.learning.policy_gradient import TrainState
from attribute_planner.learning.progress import Watch
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.ranges import COUNT, FRACTION, POSITIVE, STEP_SIZE, check_settings

Key = jax.Array
Learn = Callable[[TrainState, HindsightReplay, jax.Array, jax.Array, Key], tuple[TrainState, dict[str, jax.Array]]]
"""Train state, buffer, its `episode_ends`, fraction of training that remains, key → train state after one update,
metrics. Can be traced."""


@dataclass(frozen=True)
class ReplayConfig:
    """How experience is collected and replayed."""

    capacity: int = 1_000_000
    """Number of steps in the replay buffer."""
    batch_size: int = 1_024
    """Number of steps in a batch."""
    replay_ratio: float = 8.0
    """How often each step is replayed, on average."""
    nearness: float = 1.0
    """How often the set after a step is a goal in hindsight, compared with the set one step before. With 1, all sets
    that were reached later in the episode are goals equally often."""
    whole: float = 0.5
    """Share of the goals in hindsight that specify all attributes; the others specify those that goals of the tasks
    do."""
    epsilon: float = 0.1
    """Fraction of random actions during training."""

    def __post_init__(self) -> None:
        check_settings(
            self,
            capacity=COUNT,
            batch_size=COUNT,
            replay_ratio=POSITIVE,
            nearness=STEP_SIZE,
            whole=FRACTION,
            epsilon=FRACTION,
        )

    @property
    def goal_kinds(self) -> GoalKinds:
        """Which attribute sets are goals in hindsight."""
        return GoalKinds(self.nearness, self.whole)

    def updates_per_rollout(self, steps: int) -> int:
        """The number of updates after a rollout of `steps` steps."""
        return max(round(steps * self.replay_ratio / self.batch_size), 1)


class ExploringPolicy(TracedActor[None]):
    """Acts by a goal policy in environments with tasks, and at random in a fraction of the steps.

    It records the goals as `info`. The outcome of a step is whether it reached the goal.
    """

    policy: GoalPolicy
    env: Environment = eqx.field(static=True)
    epsilon: float = eqx.field(static=True)

    def begin(self, num_envs: int, *, key: Key) -> None:
        return None

    def act(self, memory: None, observation: Any, attributes: Any, *, key: Key) -> tuple[None, Action, jax.Array]:
        sample_key, random_key, which_key = jax.random.split(key, 3)
        chosen = self.policy(observation.observation, attributes, observation.goal).sample(key=sample_key)
        num_envs = len(observation.goal)
        is_random = jax.random.uniform(which_key, (num_envs,)) < self.epsilon
        action = where_batch(is_random, any_action(self.env, num_envs, key=random_key), chosen)
        return None, action, observation.goal

    def observe(self, memory: None, timestep: TimeStep) -> tuple[None, Any]:
        observation: Any = timestep.observation
        return None, observation.reached


class HindsightState(eqx.Module):
    """What is learned, and the buffer that it is learned from; `None` before the first rollout."""

    learned: TrainState
    replay: HindsightReplay | None = None


def train_with_hindsight(
    env: Environment,
    training_distribution: str,
    training: TaskTrainingConfig,
    replay: ReplayConfig,
    train_state: TrainState,
    learn: Learn,
    *,
    name: str,
    key: Key,
    watch: Watch,
) -> TrainState:
    """The train state after `training.steps` steps on tasks, each of them replayed `replay.replay_ratio` times."""

    def update(
        state: HindsightState, steps: Trajectories, remaining: jax.Array, key: Key
    ) -> tuple[HindsightState, dict[str, Any]]:
        rows = rows_of(steps, env.attributes)
        buffer = empty_replay(rows, replay.capacity) if state.replay is None else state.replay
        buffer = add(rows, buffer)
        count = replay.updates_per_rollout(steps.size)
        learned, metrics = several_updates(state.learned, buffer, learn, count, remaining, key)
        return HindsightState(learned, buffer), metrics

    return train_on_tasks(
        env,
        training_distribution,
        training,
        HindsightState(train_state),
        lambda state: ExploringPolicy(state.learned.policy, env, replay.epsilon),
        update,
        name=name,
        key=key,
        watch=watch,
        keep="snapshot",
    ).learned


def several_updates(
    train_state: TrainState, replay: HindsightReplay, learn: Learn, count: int, remaining: jax.Array, key: Key
) -> tuple[TrainState, dict[str, jax.Array]]:
    """The train state after `count` updates, and metrics."""
    keys = jax.random.split(key, count)
    if jax.default_backend() != "cpu":
        return _scanned_updates(train_state, replay, learn, remaining, keys)
    # On a CPU, convolutions are several times as slow inside a compiled loop.
    ends, metrics = _compiled_ends(replay), {}
    for update_key in keys:
        train_state, metrics = _one_update(train_state, replay, learn, ends, remaining, update_key)
    return train_state, metrics


_compiled_ends = eqx.filter_jit(episode_ends)


@eqx.filter_jit
def _one_update(
    train_state: TrainState,
    replay: HindsightReplay,
    learn: Learn,
    ends: Int[jax.Array, "R B"],
    remaining: jax.Array,
    key: Key,
) -> tuple[TrainState, dict[str, jax.Array]]:
    return learn(train_state, replay, ends, remaining, key)


@eqx.filter_jit
def _scanned_updates(
    train_state: TrainState, replay: HindsightReplay, learn: Learn, remaining: jax.Array, keys: Key
) -> tuple[TrainState, dict[str, jax.Array]]:
    ends = episode_ends(replay)
    dynamic, static = eqx.partition(train_state, eqx.is_array)

    def step(dynamic: TrainState, update_key: Key) -> tuple[TrainState, dict[str, jax.Array]]:
        after, metrics = learn(eqx.combine(dynamic, static), replay, ends, remaining, update_key)
        return eqx.filter(after, eqx.is_array), metrics

    dynamic, metrics = jax.lax.scan(step, dynamic, keys)
    return eqx.combine(dynamic, static), jax.tree.map(jnp.mean, metrics)
