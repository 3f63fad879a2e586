"""Tasks: from where the agent starts and what it is asked for. They are data; nothing is ever trained on them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace, Goal, Value, goal_from_names

Key = jax.Array


@dataclass(frozen=True)
class Task:
    """A family of tasks to draw from.

    name: what the command line calls it.
    description: one line for people.
    goal: draws a goal for a state and its attribute values `[A]`; pure, so that many are drawn at once. On the host,
        where a state is nothing that can be traced, it is handed `None` instead.
    max_steps: how many environment steps an attempt at the task may take, the same for every model.
    start: draws the state to start from; `None` for the environment's own `reset`.
    """

    name: str
    description: str
    goal: Callable[[Any, jax.Array, Key], Goal]
    max_steps: int
    start: Callable[[Key], Any] | None = None


def fixed_goal_task(
    space: AttributeSpace, name: str, goal: Mapping[str, Value], *, description: str = "", max_steps: int
) -> Task:
    """The task that always asks for the same goal."""
    wanted = goal_from_names(space, goal)

    def draw(state: Any, values: jax.Array, key: Key) -> Goal:
        del state, values, key
        return jax.tree.map(jnp.asarray, wanted)

    return Task(name, description or wanted.text(space), draw, max_steps)


def complete_goal(values: jax.Array) -> Goal:
    """The goal that asks for exactly these values `[..., A]`."""
    return Goal(values, jnp.ones(values.shape, bool))


def is_solved_at_start(goal: Goal, values: jax.Array | np.ndarray) -> np.ndarray:
    """`[...]` whether there is nothing to do: such tasks are dropped."""
    return np.asarray(goal.satisfied_by(values))
