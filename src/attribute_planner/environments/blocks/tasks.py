"""Tasks of block stacking. Both variants have the same tasks and differ in how random states are sampled."""

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
"""Samples a goal for a start state and its attribute values; for a batch of them in the host environment."""

MULTI_STEP_LIMIT = 20
"""Maximum number of drops of an attempt; most random goals are 3 to 8 drops away. Our choice."""
ONE_STEP_LIMIT = 5
"""The same for goals that one drop can reach. Our choice."""

WANTED_SHARE = 0.7
"""Fraction of the attributes that an underspecified goal constrains."""

STACK_FROM_TOP = ("red", "green", "blue", "yellow")
"""The tower of the task 4-stack. The paper gives the order; red at the top is our interpretation."""

CURRICULUM_DROPS = (1, 2, 3, 4)


def block_tasks(fresh: DrawState, changed: DrawState, describe: Callable[[State], jax.Array]) -> dict[str, Task]:
    """All tasks, the main task first.

    fresh: samples a random state, or as many as the batch of states given.
    changed: the state after a random drop that changes the attributes.
    describe: the true f.
    """
    random_state, one_drop = _goal_of_fresh_state(fresh, describe), goal_after(1, changed, describe)
    share = f"{WANTED_SHARE:.0%} of the attributes"
    tasks = [
        Task("multi-step", "the attributes of a random state", random_state, MULTI_STEP_LIMIT),
        Task("1-step", "the attributes after one drop that changes them", one_drop, ONE_STEP_LIMIT),
        Task("4-stack", f"one tower, from the top: {', '.join(STACK_FROM_TOP)}", _stack, MULTI_STEP_LIMIT),
        Task("1-step-underspecified", f"1-step with {share}", underspecified(one_drop), ONE_STEP_LIMIT),
        Task("multi-step-underspecified", f"multi-step with {share}", underspecified(random_state), MULTI_STEP_LIMIT),
    ]
    return {task.name: task for task in tasks}


def block_curriculum(main: Task, changed: DrawState, describe: Callable[[State], jax.Array]) -> tuple[Task, ...]:
    """Goals at an increasing number of drops, then the main task."""
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
    """The attributes after random drops, each of which changes them."""

    def draw(state: State, values: jax.Array, key: Key) -> Goal:
        del values
        for drop_key in jax.random.split(key, drops):
            state = changed(state, drop_key)
        return complete_goal(describe(state))

    return draw


def underspecified(complete: DrawGoal) -> DrawGoal:
    """The same goals, restricted to a random 70 % of the attributes."""
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
    """Each block of the tower on top of the next; the position of the tower is free."""
    del state, key
    pairs = pairwise(STACK_FROM_TOP)
    tower = goal_from_names(ATTRIBUTES, {f"{upper}_on_top_of_{lower}": True for upper, lower in pairs})
    return Goal(jnp.broadcast_to(tower.values, values.shape), jnp.broadcast_to(tower.wanted, values.shape))
