"""Actors and settings for the tests of baselines, and environments with tasks of their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.baselines.reactive_policy import ActionInfo
from attribute_planner.baselines.training_loop import TaskTrainingConfig
from attribute_planner.data.trajectories import Actor, TracedActor
from attribute_planner.environments.graph_world import GraphWorld, Place, graph_world
from attribute_planner.environments.spaces import Action, GoalObservation
from attribute_planner.environments.tasks import Task, complete_goal
from attribute_planner.environments.vector_env import TimeStep
from tests.probes import numbers

TRAINING = TaskTrainingConfig(steps=24_000, num_envs=32, rollout_length=5, hidden_size=16, step_reward=-0.1)
"""Enough for environments of a few places."""


class AlwaysForward(TracedActor[jax.Array]):
    """Takes action 0. Its memory, and value estimate, is the number of steps of the episode."""

    def begin(self, num_envs: int, *, key: jax.Array) -> jax.Array:
        return jnp.zeros(num_envs, jnp.int32)

    def act(
        self, memory: jax.Array, observation: Any, attributes: Any, *, key: jax.Array
    ) -> tuple[jax.Array, Action, ActionInfo]:
        nothing = jnp.zeros(len(memory))
        return memory + 1, jnp.zeros(len(memory), jnp.int32), ActionInfo(nothing, memory.astype(jnp.float32))

    def observe(self, memory: jax.Array, timestep: TimeStep) -> tuple[jax.Array, Any]:
        observation: Any = timestep.observation
        return jnp.where(timestep.over, 0, memory), getattr(observation, "reached", None)


def go_to(place: int, max_steps: int = 20, name: str = "go") -> Task:
    """The task to reach one place of an environment with a single attribute."""

    def draw(state: jax.Array, values: jax.Array, key: jax.Array) -> Goal:
        return complete_goal(jnp.full_like(values, place))

    return Task(f"{name}-{place}", "", draw, max_steps)


@dataclass(frozen=True)
class WithTasks(GraphWorld):
    """A `GraphWorld` with its own tasks, in order of difficulty; the last one is the main task."""

    given: tuple[Task, ...] = ()

    @property
    def tasks(self) -> Mapping[str, Task]:
        return {task.name: task for task in reversed(self.given)}

    @property
    def curriculum(self) -> tuple[Task, ...]:
        return self.given


LEAVES = 4
STAR = graph_world(
    numbers(1 + LEAVES),
    [((0,), leaf, (1 + leaf,)) for leaf in range(LEAVES)] + [((1 + leaf,), 0, (0,)) for leaf in range(LEAVES)],
    episode_steps=20,
)
"""In the centre, each action leads to a leaf; in a leaf, only action 0 leads anywhere: back to the centre."""


def actions_on_the_star(policy: Actor) -> tuple[np.ndarray, np.ndarray]:
    """`[20]` the action of a policy, and the right one, at every place of the star with every other place as goal."""
    place, goal = np.divmod(np.arange(25), 5)
    place, goal = place[place != goal], goal[place != goal]
    states = jnp.array([STAR.places.index(Place((int(each),))) for each in place])
    values, goals = (jnp.asarray(each[:, None], jnp.int32) for each in (place, goal))
    observation: Any = GoalObservation(STAR.observe_batch(states), goals, jnp.zeros(20, bool))
    _, action, _ = policy.act(policy.begin(20, key=jax.random.key(0)), observation, values, key=jax.random.key(1))
    return np.asarray(action), np.where(place == 0, goal - 1, 0)
