"""Tasks: distributions over start states and goals, for evaluation and for baselines."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.attributes import AttributeSpace, Goal, Value, goal_from_names
from attribute_planner.environments.spaces import Array
from attribute_planner.errors import AttributePlannerError, ConfigurationError

Key = jax.Array


@dataclass(frozen=True)
class Task:
    """A distribution over start states and goals.

    name: name on the command line.
    description: one line of text.
    goal: samples a goal, given a state and its attribute values `[A]`; can be traced. The state is `None` if the
        states of the environment cannot be traced.
    max_steps: maximum number of environment steps of an attempt.
    start: samples a start state; `None` for the environment's `reset`.
    """

    name: str
    description: str
    goal: Callable[[Any, jax.Array, Key], Goal]
    max_steps: int
    start: Callable[[Key], Any] | None = None


def fixed_goal_task(
    space: AttributeSpace, name: str, goal: Mapping[str, Value] | str, *, description: str = "", max_steps: int
) -> Task:
    """A task with a fixed goal."""
    try:
        wanted = goal_from_names(space, goal)
    except AttributePlannerError as error:
        raise ConfigurationError(f"Task {name!r}: {error}") from error

    def draw(state: Any, values: jax.Array, key: Key) -> Goal:
        del state, values, key
        return jax.tree.map(jnp.asarray, wanted)

    return Task(name, description or wanted.text(space), draw, max_steps)


def complete_goal(values: Int[jax.Array, "*batch A"]) -> Goal:
    """The goal with exactly these values of all attributes."""
    return Goal(values, jnp.ones(values.shape, bool))


def is_solved_at_start(goal: Goal, values: Int[Array, "*batch A"]) -> Bool[np.ndarray, "..."]:
    """Whether the goal holds at the start; such tasks are not counted."""
    return np.asarray(goal.satisfied_by(values))
