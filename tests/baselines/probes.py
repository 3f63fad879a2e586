"""Players and settings for the tests of baselines, and worlds with tasks of their own."""

from collections.abc import Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.baselines.reactive_policy import ActionInfo, ReactivePolicy
from attribute_planner.baselines.training_loop import TaskTrainingConfig
from attribute_planner.environments.graph_world import GraphWorld, Place, graph_world
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.environments.tasks import Task, complete_goal
from tests.probes import numbers

TRAINING = TaskTrainingConfig(steps=24_000, num_envs=32, rollout_length=5, hidden_size=16, step_reward=-0.1)
"""Enough for worlds of a few places."""


class AlwaysForward(ReactivePolicy[jax.Array]):
    """Takes action 0, and remembers how often it has done so in this episode."""

    def begin(self, num_envs: int) -> jax.Array:
        return jnp.zeros(num_envs, jnp.int32)

    def decide(
        self, memory: jax.Array, observation: Observation, values: jax.Array, goal: jax.Array, *, key: jax.Array
    ) -> tuple[jax.Array, Action, ActionInfo]:
        nothing = jnp.zeros(len(values))
        return memory + 1, jnp.zeros(len(values), jnp.int32), ActionInfo(nothing, memory.astype(jnp.float32))


def go_to(place: int, max_steps: int = 20, name: str = "go") -> Task:
    """The task to get to one place of a world with a single attribute."""

    def draw(state: jax.Array, values: jax.Array, key: jax.Array) -> Goal:
        return complete_goal(jnp.full_like(values, place))

    return Task(f"{name}-{place}", "", draw, max_steps)


@dataclass(frozen=True)
class WithTasks(GraphWorld):
    """A graph world with tasks of its own, in order of difficulty; the last one is the main task."""

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
"""From the middle, each action leads to a leaf; from a leaf, only action 0 leads anywhere: back."""


def actions_on_the_star(policy: ReactivePolicy) -> tuple[np.ndarray, np.ndarray]:
    """`[20]` what a policy does, and should do, at every place of the star with every other place for a goal."""
    place, goal = np.divmod(np.arange(25), 5)
    place, goal = place[place != goal], goal[place != goal]
    states = jnp.array([STAR.places.index(Place((int(each),))) for each in place])
    values, aim = (jnp.asarray(each[:, None], jnp.int32) for each in (place, goal))
    _, action = policy.act(policy.begin(20), STAR.observe_batch(states), values, aim, key=jax.random.key(0))
    return np.asarray(action), np.where(place == 0, goal - 1, 0)
