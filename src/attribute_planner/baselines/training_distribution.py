"""Regimes: which tasks a baseline is trained on (Section 4 of the paper, "Baselines").

In (i) `1-step` the goals are nearby, in (ii) `multi-step` they are those of the main test task, and (iii) `curriculum`
leads from the one to the other: harder stages are opened one after the other, and tasks are drawn from all open ones.
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

    task: where they start, what they ask for, how long they may take.
    single_attempt: whether a trial is over as soon as the attributes change at all: for goals one transition away.
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
    """The stages of a training distribution, easy ones first; a fraction `partial` of the goals is partial.

    An environment without 1-step tasks, such as StarCraft, has the first stage of its curriculum in their place. Where
    there are such tasks, those and the first stage are tried in single attempts, if so wanted.
    """
    if training_distribution not in TRAINING_DISTRIBUTIONS:
        raise unknown_name("training_distribution", training_distribution, TRAINING_DISTRIBUTIONS)
    tasks = {
        "1-step": (env.tasks.get("1-step", env.curriculum[0]),),
        "multi-step": (env.task(None),),
        "curriculum": env.curriculum,
    }[training_distribution]
    begins_nearby = training_distribution != "multi-step" and "1-step" in env.tasks
    return tuple(
        Stage(
            task if mentioned >= 1 else partly_told(task, mentioned, partial),
            single_attempts and begins_nearby and number == 0,
        )
        for number, task in enumerate(tasks)
    )


def open_stages(count: int, done: float, ramp: float) -> int:
    """How many of `count` stages are open when a share `done` of training is over; all are, after a share `ramp`."""
    return count if done >= ramp else 1 + int((count - 1) * done / ramp)


# Cached, so that what is compiled for a task serves whenever it is asked for.
@lru_cache
def partly_told(task: Task, mentioned: float, partial: float = 1.0) -> Task:
    """The same task, but a share `partial` of its goals mentions only a random share of the attributes."""

    def draw(state: Any, values: jax.Array, key: Key) -> Goal:
        goal_key, choice_key = jax.random.split(key)
        goal = task.goal(state, values, goal_key)
        return replace(
            goal, wanted=goal.wanted & random_mentions(goal.values.shape, mentioned, partial, key=choice_key)
        )

    return replace(task, name=f"{task.name}-partly", goal=draw)


def random_mentions(shape: tuple[int, ...], mentioned: float, partial: float = 1.0, *, key: Key) -> jax.Array:
    """`bool[..., A]` a random choice of attributes, always as many; with a chance of 1 − `partial`, all of them."""
    rank_key, whole_key = jax.random.split(key)
    rank = jnp.argsort(jnp.argsort(jax.random.uniform(rank_key, shape), axis=-1), axis=-1)
    whole = jax.random.uniform(whole_key, (*shape[:-1], 1)) >= partial
    return whole | (rank < round(mentioned * shape[-1]))


def aim_of(goal: Goal) -> jax.Array:
    """`int32[..., A]` a goal as networks are shown it: no value where an attribute does not matter."""
    return jnp.where(jnp.asarray(goal.wanted), jnp.asarray(goal.values, jnp.int32), NO_VALUE)
