"""Training distributions: the tasks that a baseline is trained on (Section 4 of the paper, "Baselines").

(i) `1-step` has nearby goals, (ii) `multi-step` those of the main test task, and (iii) `curriculum` leads from one to
the other: harder stages are opened one after the other, and tasks are drawn from all open stages.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp

from attribute_planner.attributes import Goal
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.tasks import Task
from attribute_planner.errors import unknown_name
from attribute_planner.models.encoders import NO_VALUE

Key = jax.Array

TRAINING_DISTRIBUTIONS = ("1-step", "multi-step", "curriculum")


@dataclass(frozen=True)
class Stage:
    """Tasks of one difficulty.

    task: start states, goals and time limit.
    single_attempt: whether an episode terminates as soon as any attribute changes; for goals one transition away.
    """

    task: Task
    single_attempt: bool = False


def stages_of(
    env: Environment,
    training_distribution: str,
    *,
    mentioned: float = 1.0,
    partial: float = 1.0,
    single_attempts: bool = True,
) -> tuple[Stage, ...]:
    """The stages of a training distribution, easy ones first.

    mentioned, partial: a fraction `partial` of the goals specifies only a fraction `mentioned` of the attributes.
    single_attempts: whether the first stage is attempted in single attempts, if the environment has 1-step tasks. One
        without them, such as StarCraft, has the first stage of its curriculum in their place.
    """
    if training_distribution not in TRAINING_DISTRIBUTIONS:
        raise unknown_name("training distribution", training_distribution, TRAINING_DISTRIBUTIONS)
    tasks = {
        "1-step": (env.tasks.get("1-step", env.curriculum[0]),),
        "multi-step": (env.task(None),),
        "curriculum": env.curriculum,
    }[training_distribution]
    begins_nearby = training_distribution != "multi-step" and "1-step" in env.tasks
    return tuple(
        Stage(
            task if mentioned >= 1 else with_partial_goals(task, mentioned, partial),
            single_attempts and begins_nearby and number == 0,
        )
        for number, task in enumerate(tasks)
    )


def open_stages(count: int, done: float, ramp: float) -> int:
    """The number of open stages, of `count`, after a fraction `done` of training; all are open after `ramp`."""
    return count if done >= ramp else 1 + int((count - 1) * done / ramp)


# Cached: functions are compiled per task, and equal arguments must give the same task.
@lru_cache
def with_partial_goals(task: Task, mentioned: float, partial: float = 1.0) -> Task:
    """The task with a fraction `partial` of its goals restricted to a random fraction `mentioned` of the attributes."""

    def draw(state: Any, values: jax.Array, key: Key) -> Goal:
        goal_key, choice_key = jax.random.split(key)
        goal = task.goal(state, values, goal_key)
        return replace(
            goal, wanted=goal.wanted & random_mentions(goal.values.shape, mentioned, partial, key=choice_key)
        )

    return replace(task, name=f"{task.name}-partial", goal=draw)


def random_mentions(shape: tuple[int, ...], mentioned: float, partial: float = 1.0, *, key: Key) -> jax.Array:
    """`bool[..., A]` a random subset of fixed size; with probability 1 − `partial`, all attributes."""
    rank_key, whole_key = jax.random.split(key)
    rank = jnp.argsort(jnp.argsort(jax.random.uniform(rank_key, shape), axis=-1), axis=-1)
    whole = jax.random.uniform(whole_key, (*shape[:-1], 1)) >= partial
    return whole | (rank < round(mentioned * shape[-1]))


def goal_values(goal: Goal) -> jax.Array:
    """`int32[..., A]` a goal as the input of a network: `NO_VALUE` where an attribute is not specified."""
    return jnp.where(jnp.asarray(goal.wanted), jnp.asarray(goal.values, jnp.int32), NO_VALUE)
