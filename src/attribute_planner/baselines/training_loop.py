"""The training loop of the baselines that learn on tasks: collect a rollout, update, repeat."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.baselines.host_task_env import HostTaskEnvs
from attribute_planner.baselines.task_env import PureTaskEnvs, nothing_to_do
from attribute_planner.baselines.training_distribution import Stage, open_stages, stages_of
from attribute_planner.data.episodes import Keep
from attribute_planner.data.rollout import advance, start
from attribute_planner.data.trajectories import Actor, Trajectories
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.learning.finite import require_finite
from attribute_planner.learning.policy_gradient import Batch
from attribute_planner.learning.progress import Watch
from attribute_planner.ranges import COUNT, FRACTION, NUM_ENVS, REWARD, WIDTH, check_settings

Key = jax.Array
State = TypeVar("State")
Update = Callable[[State, Trajectories, jax.Array, Key], tuple[State, dict[str, Any]]]
"""Train state, rollout, fraction of training that remains, key → train state, metrics."""


@dataclass(frozen=True)
class TaskTrainingConfig:
    """Budget, tasks and reward: the same for all baselines that learn on tasks."""

    steps: int = 10_000_000
    """Environment steps, summed over environments. The paper has 30 M in StarCraft, about 10 M for A3C on the blocks,
    and gives no number for the grid worlds."""
    num_envs: int = 256
    """Number of environments."""
    rollout_length: int = 40
    """Steps of each environment between two updates."""
    hidden_size: int = 100
    """Units of each hidden layer."""
    step_reward: float = -0.01
    """Reward of every step; reaching the goal gives 1. It is the planner's. The paper has −0.1 for grid worlds and
    StarCraft, where the return of more than ten steps is negative, and gives none for the blocks."""
    mentioned: float = 1.0
    """Fraction of the attributes that a partial training goal specifies; in the paper 0.7 for underspecified tasks."""
    partial: float = 1.0
    """Fraction of the training goals that are partial; the others specify all attributes."""
    single_attempts: bool = True
    """Whether an episode with a goal one transition away terminates as soon as any attribute changes, as an attempt of
    the planner does. Otherwise it continues until the time limit, and learning is much slower."""
    rounds: int = 8
    """Attempts at each drawn task, where drawing one takes a physics simulation; elsewhere there is one attempt."""
    ramp: float = 0.5
    """Fraction of training after which all stages of a curriculum are open; they open at equal intervals."""
    deterministic: bool = False
    """Whether the trained policy takes its most likely action; during training it samples."""

    def __post_init__(self) -> None:
        check_settings(
            self,
            steps=COUNT,
            num_envs=NUM_ENVS,
            rollout_length=COUNT,
            hidden_size=WIDTH,
            step_reward=REWARD,
            mentioned=FRACTION,
            partial=FRACTION,
            rounds=COUNT,
            ramp=FRACTION,
        )


def train_on_tasks(
    env: Environment,
    training_distribution: str,
    config: TaskTrainingConfig,
    train_state: State,
    actor_of: Callable[[State], Actor],
    update: Update[State],
    *,
    name: str,
    key: Key,
    watch: Watch,
    keep: Keep = "observation",
) -> State:
    """The train state after `config.steps` steps on tasks of the training distribution.

    keep: what rollouts record of each observation.
    """
    start_key, rollouts_key = jax.random.split(key)
    stages = stages_of(
        env,
        training_distribution,
        mentioned=config.mentioned,
        partial=config.partial,
        single_attempts=config.single_attempts,
    )
    envs = task_envs(env, stages, config.num_envs, tries=config.rounds)
    try:
        episodes = start(actor_of(train_state), envs, key=start_key)
        if np.all(episodes.observation.reached):  # pyright: ignore[reportAttributeAccessIssue]
            raise nothing_to_do(stages)
        spent, number, ends = 0, 0, Ends.none()
        while spent < config.steps:
            collect_key, update_key = jax.random.split(jax.random.fold_in(rollouts_key, number))
            done = spent / config.steps
            envs.open_stages = open_stages(len(stages), done, config.ramp)
            episodes, steps = advance(
                actor_of(train_state),
                envs,
                episodes,
                config.rollout_length,
                space=env.attributes,
                key=collect_key,
                keep=keep,
            )
            train_state, metrics = update(train_state, steps, jnp.float32(1 - done), update_key)
            spent, number, ends = spent + steps.size, number + 1, add_ends(ends, steps)
            if number % ROLLOUTS_PER_REPORT == 0 or spent >= config.steps:
                require_finite(f"{name}, {spent:,} steps", metrics, train_state)
                shown = {"steps": spent, "stages": envs.open_stages, **metrics}
                if ends.over >= config.num_envs:  # of fewer, most have ended early, because they succeeded
                    shown, ends = {**shown, "success": ends.success}, Ends.none()
                watch(name, min(spent / config.steps, 1.0), {each: float(shown[each]) for each in shown}, None)
    finally:
        envs.close()
    return train_state


ROLLOUTS_PER_REPORT = 20
"""Updates between two reports."""


class Ends(NamedTuple):
    """The number of episodes that ended, and how many of them reached their goal."""

    over: jax.Array
    reached: jax.Array

    @classmethod
    def none(cls) -> "Ends":
        return cls(jnp.int32(0), jnp.int32(0))

    @property
    def success(self) -> float:
        """The fraction that reached its goal; 0 if none has ended."""
        return float(self.reached / jnp.maximum(self.over, 1))


@jax.jit
def add_ends(ends: Ends, steps: Trajectories) -> Ends:
    """With the episodes that ended in these steps."""
    return Ends(ends.over + steps.over.sum(), ends.reached + (steps.over & steps.outcome).sum())


def batch_of(steps: Trajectories, space: AttributeSpace, step_reward: float) -> Batch:
    """A rollout as a batch; the actor's info has `log_prob` and `value`, and its outcome is whether it succeeded."""
    steps = jax.tree.map(jnp.asarray, steps)
    shape = steps.terminated.shape
    return Batch(
        observation=steps.observation.observation,
        values=jnp.asarray(space.unpack(steps.attributes)),
        goal=steps.observation.goal,
        action=steps.action,
        log_prob=steps.info.log_prob,
        value=steps.info.value,
        reward=step_reward + steps.outcome.astype(jnp.float32),
        ended=steps.terminated,
        cut=steps.truncated,
        weight=jnp.ones(shape),
        imitate=jnp.zeros(shape, bool),
    )


def task_envs(env: Environment, stages: tuple[Stage, ...], num_envs: int, *, tries: int) -> PureTaskEnvs | HostTaskEnvs:
    """Environments with tasks of these stages, of which the first is open."""
    if isinstance(env, PureEnvironment):
        return PureTaskEnvs(env, stages, num_envs)
    return HostTaskEnvs(env, stages, num_envs, tries)
