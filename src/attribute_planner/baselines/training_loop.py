"""Schooling: what the baselines that learn from trials have in common, and their loop of trying and learning."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from attribute_planner.baselines.device_episodes import DeviceTrials
from attribute_planner.baselines.episodes import Steps, Trials
from attribute_planner.baselines.host_episodes import HostTrials
from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.baselines.training_distribution import Stage, open_stages, stages_of
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.learning.policy_gradient import Batch
from attribute_planner.learning.progress import Watch
from attribute_planner.models.detector import AttributeDetector

Key = jax.Array
TrainState = TypeVar("TrainState")
Update = Callable[[TrainState, Steps, jax.Array, Key], tuple[TrainState, dict[str, Any]]]
"""Learner, what was tried, share of training that remains, key → learner, metrics."""


@dataclass(frozen=True)
class TaskTrainingConfig:
    """How long a baseline is trained, on what, and for which reward: the same for all that learn from trials."""

    steps: int = 10_000_000
    """Environment steps in all copies together. The paper gives StarCraft 30 M, A3C on the blocks about 10 M, and no
    number for the grid worlds."""
    num_envs: int = 256
    """How many copies of the environment run at once."""
    rollout_length: int = 40
    """Steps of each copy between two updates."""
    hidden_size: int = 100
    """Units in each hidden layer."""
    step_reward: float = -0.01
    """Reward of every step; reaching the goal earns 1. The planner's own: the paper has −0.1 for grid worlds and
    StarCraft, under which nothing pays that takes more than ten steps, and says nothing of the blocks."""
    mentioned: float = 1.0
    """Share of the attributes that a partial training goal mentions; in the paper 0.7, for underspecified tasks."""
    partial: float = 1.0
    """Share of the training goals that are partial; the others mention everything."""
    single_attempts: bool = True
    """Whether a trial at a goal one transition away is over as soon as the attributes change, as an attempt of the
    planner is; else whoever misses goes on until time is up, and hardly learns what to go for."""
    rounds: int = 8
    """How often each task is tried before another is drawn, where that costs as much physics as many steps; elsewhere
    each is tried once."""
    ramp: float = 0.5
    """Share of training after which all stages of a curriculum are open; until then more are opened evenly."""
    deterministic: bool = False
    """Whether the policy that comes out always takes its likeliest action; while it learns, it never does."""


def train_on_tasks(
    env: Environment,
    training_distribution: str,
    config: TaskTrainingConfig,
    train_state: TrainState,
    policy_of: Callable[[TrainState], ReactivePolicy],
    update: Update[TrainState],
    *,
    name: str,
    detector: AttributeDetector | None,
    key: Key,
    watch: Watch,
) -> TrainState:
    """The learner after `config.steps` steps of trying tasks of the training_distribution, and learning from them."""
    begin_key, rollouts_key = jax.random.split(key)
    stages = stages_of(
        env,
        training_distribution,
        mentioned=config.mentioned,
        partial=config.partial,
        single_attempts=config.single_attempts,
    )
    trials = trials_for(env, detector, stages, config, key=begin_key)
    spent, number, ends = 0, 0, Ends.none()
    while spent < config.steps:
        collect_key, update_key = jax.random.split(jax.random.fold_in(rollouts_key, number))
        done = spent / config.steps
        opened = open_stages(len(stages), done, config.ramp)
        steps = trials.collect(policy_of(train_state), config.rollout_length, opened, key=collect_key)
        train_state, metrics = update(train_state, steps, jnp.float32(1 - done), update_key)
        spent, number, ends = spent + int(steps.weight.sum()), number + 1, add_ends(ends, steps)
        if number % WINDOWS_PER_REPORT == 0 or spent >= config.steps:
            shown = {"steps": spent, "stages": opened, **metrics}
            if ends.over >= config.num_envs:  # fewer would mostly be those that were over soon: because they succeeded
                shown, ends = {**shown, "success": ends.success}, Ends.none()
            watch(name, min(spent / config.steps, 1.0), {key: float(value) for key, value in shown.items()}, None)
    trials.close()
    return train_state


WINDOWS_PER_REPORT = 20
"""How many updates are made between two reports."""


def trials_for(
    env: Environment,
    detector: AttributeDetector | None,
    stages: tuple[Stage, ...],
    config: TaskTrainingConfig,
    *,
    key: Key,
) -> Trials:
    """The trials that fit an environment; with no detector, the true f is asked."""
    if isinstance(env, PureEnvironment):
        return DeviceTrials(env, detector, stages, config.num_envs, key=key)
    return HostTrials(env, detector, stages, config.num_envs, config.rounds)


class Ends(NamedTuple):
    """How many trials were over, in one way or another, and how many of these had reached their goal."""

    over: jax.Array
    reached: jax.Array

    @classmethod
    def none(cls) -> "Ends":
        return cls(jnp.float32(0), jnp.float32(0))

    @property
    def success(self) -> float:
        """The share that reached its goal; 0 while none is over."""
        return float(self.reached / jnp.maximum(self.over, 1))


@jax.jit
def add_ends(ends: Ends, steps: Steps) -> Ends:
    """With the trials that were over in these steps."""
    over = jnp.where(steps.ended | steps.cut, steps.weight, 0.0)
    return Ends(ends.over + over.sum(), ends.reached + jnp.where(steps.reached, over, 0.0).sum())


def batch_of(steps: Steps, step_reward: float) -> Batch:
    """What was tried, as steps to learn from; the record of each must have `log_prob` and `baseline`."""
    return Batch(
        observation=steps.observation,
        values=steps.values,
        goal=steps.aim,
        action=steps.action,
        log_prob=steps.record.log_prob,
        value=steps.record.baseline,
        reward=step_reward + steps.reached.astype(jnp.float32),
        ended=steps.ended,
        cut=steps.cut,
        weight=steps.weight,
        imitate=jnp.zeros(steps.weight.shape, bool),
    )
