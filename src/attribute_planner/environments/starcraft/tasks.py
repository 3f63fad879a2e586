"""Tasks: given numbers of depots, barracks, marines (engineering bays, turrets); ore and SCVs are free.

A goal has a number from 0 to an upper limit for each kind. The paper gives limits between 2 and 4, depending on the
kind; which kind has which limit is our choice. It is also our choice to exclude unreachable goals: nothing is ever
destroyed, so there are no marines without a barracks, and no turrets without an engineering bay. All other goals are
equally likely, except for the one that holds at the start.
"""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.environments.interface import Key
from attribute_planner.environments.tasks import Task

STAGES = 4
"""Number of stages of the curriculum, including the main task."""
NEEDS = {"marine": "barracks", "turret": "engineering_bay"}
"""The kind that each kind requires."""


def build_tasks(space: AttributeSpace, limits: Mapping[str, int], max_steps: int) -> dict[str, Task]:
    """The tasks: exact numbers, and lower bounds."""
    exact = Task("build", f"exact numbers: {_shown(limits)}", draw_goal(space, limits), max_steps)
    at_least = Task(
        "build-at-least",
        f"lower bounds: {_shown(limits)}",
        draw_goal(space, limits, at_least=True),
        max_steps,
    )
    return {task.name: task for task in (exact, at_least)}


def build_curriculum(space: AttributeSpace, limits: Mapping[str, int], main: Task) -> tuple[Task, ...]:
    """Tasks whose limits increase linearly; the last one is the main task."""
    easier = []
    for stage in range(1, STAGES):
        lower = {name: -(-limit * stage // STAGES) for name, limit in limits.items()}
        description = f"exact numbers: {_shown(lower)}"
        easier.append(Task(f"build-{stage}-of-{STAGES}", description, draw_goal(space, lower), main.max_steps))
    return (*easier, main)


def draw_goal(
    space: AttributeSpace, limits: Mapping[str, int], *, at_least: bool = False
) -> Callable[[Any, jax.Array, Key], Goal]:
    """Samples, uniformly, a goal that is reachable and does not hold at the start."""
    numbers = jnp.asarray(possible_numbers(limits))
    positions = np.array([space.index(name) for name in limits])
    wanted = np.isin(np.arange(len(space)), positions)

    def draw(state: Any, values: jax.Array, key: Key) -> Goal:
        del state
        chosen = numbers[jax.random.randint(key, (), 0, numbers.shape[0])]
        goal_values = jnp.zeros_like(values).at[positions].set(chosen)
        return Goal(goal_values, jnp.asarray(wanted), jnp.asarray(wanted) if at_least else None)

    return draw


def possible_numbers(limits: Mapping[str, int]) -> Int[np.ndarray, "G kinds"]:
    """All reachable numbers up to the limits, in the order of `limits`."""
    everything = product(*(range(limit + 1) for limit in limits.values()))
    return np.array(
        [each for each in everything if any(each) and _can_be(dict(zip(limits, each, strict=True)))], np.int32
    )


def _can_be(numbers: Mapping[str, int]) -> bool:
    return all(numbers[needed] > 0 for kind, needed in NEEDS.items() if numbers.get(kind, 0) > 0)


def _shown(limits: Mapping[str, int]) -> str:
    return ", ".join(f"{name} 0-{limit}" for name, limit in limits.items())
