"""What the blocks are to be arranged into: the same tasks in both variants, which draw random states differently."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp

from attribute_planner.attributes import Goal, goal_from_names
from attribute_planner.environments.blocks.attributes import ATTRIBUTES
from attribute_planner.environments.tasks import Task, complete_goal

Key = jax.Array
State = Any
DrawState = Callable[[State, Key], State]
DrawGoal = Callable[[State, jax.Array, Key], Goal]
"""A goal for a start state and its attribute values; a batch of states where the environment runs on the host."""

MULTI_STEP_LIMIT = 20
"""Drops that an attempt may take, whatever the model; most random goals are 3 to 8 drops away. Our choice."""
ONE_STEP_LIMIT = 5
"""For goals that one drop can reach. Our choice."""

WANTED_SHARE = 0.7
"""How many of the attributes an underspecified goal mentions."""

STACK_FROM_TOP = ("red", "green", "blue", "yellow")
"""The tower of the task 4-stack. The paper gives the order; that red is at the top is our reading."""

CURRICULUM_DROPS = (1, 2, 3, 4)


def block_tasks(fresh: DrawState, changed: DrawState, describe: Callable[[State], jax.Array]) -> dict[str, Task]:
    """All tasks, the main one first.

    fresh: draws a random state (as many as the state given is).
    changed: the state after a random drop that changes the attributes.
    describe: the true f.
    """
    anew, one_drop = _goal_of_fresh_state(fresh, describe), goal_after(1, changed, describe)
    share = f"{WANTED_SHARE:.0%} of the attributes"
    tasks = [
        Task("multi-step", "the attributes of a fresh random state", anew, MULTI_STEP_LIMIT),
        Task("1-step", "the attributes after one drop that changes them", one_drop, ONE_STEP_LIMIT),
        Task("4-stack", f"one tower, from the top: {', '.join(STACK_FROM_TOP)}", _stack, MULTI_STEP_LIMIT),
        Task("1-step-underspecified", f"1-step with {share}", underspecified(one_drop), ONE_STEP_LIMIT),
        Task("multi-step-underspecified", f"multi-step with {share}", underspecified(anew), MULTI_STEP_LIMIT),
    ]
    return {task.name: task for task in tasks}


def block_curriculum(main: Task, changed: DrawState, describe: Callable[[State], jax.Array]) -> tuple[Task, ...]:
    """Goals that are more and more drops away, then the main task."""
    nearer = [
        Task(
            f"{drops}-drops",
            f"the attributes after {drops} drops",
            goal_after(drops, changed, describe),
            main.max_steps,
        )
        for drops in CURRICULUM_DROPS
    ]
    return (*nearer, main)


def goal_after(drops: int, changed: DrawState, describe: Callable[[State], jax.Array]) -> DrawGoal:
    """The attributes after some random drops, each of which changes them."""

    def draw(state: State, values: jax.Array, key: Key) -> Goal:
        del values
        for drop_key in jax.random.split(key, drops):
            state = changed(state, drop_key)
        return complete_goal(describe(state))

    return draw


def underspecified(complete: DrawGoal) -> DrawGoal:
    """The same goals, of which a random 70 % of the attributes are mentioned."""
    mentioned = round(WANTED_SHARE * len(ATTRIBUTES))

    def draw(state: State, values: jax.Array, key: Key) -> Goal:
        goal_key, choice_key = jax.random.split(key)
        goal = complete(state, values, goal_key)
        rank = jnp.argsort(jnp.argsort(jax.random.uniform(choice_key, goal.values.shape)))
        return replace(goal, wanted=rank < mentioned)

    return draw


def _goal_of_fresh_state(fresh: DrawState, describe: Callable[[State], jax.Array]) -> DrawGoal:
    def draw(state: State, values: jax.Array, key: Key) -> Goal:
        del values
        return complete_goal(describe(fresh(state, key)))

    return draw


def _stack(state: State, values: jax.Array, key: Key) -> Goal:
    """Each block of the tower on top of the next; where the tower stands is free."""
    del state, key
    pairs = pairwise(STACK_FROM_TOP)
    tower = goal_from_names(ATTRIBUTES, {f"{upper}_on_top_of_{lower}": True for upper, lower in pairs})
    return Goal(jnp.broadcast_to(tower.values, values.shape), jnp.broadcast_to(tower.wanted, values.shape))
