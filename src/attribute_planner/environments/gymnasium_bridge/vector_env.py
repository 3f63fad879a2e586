"""A batch of Gymnasium environments, stepped together from the host."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchArrays, BatchLayout, batch_arrays
from attribute_planner.environments.gymnasium_bridge.env_rows import EnvRows, Operation
from attribute_planner.environments.spaces import Action, Box
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep, VectorEnv

if TYPE_CHECKING:
    from attribute_planner.environments.gymnasium_bridge.environment import GymnasiumEnvironment

Key = jax.Array


class Rows(Protocol):
    """Runs the environments of a batch: in this process or in others."""

    arrays: BatchArrays

    def run(self, operation: Operation) -> None:
        """Reset or step the environments `arrays.which`."""

    def render(self, row: int) -> np.ndarray:
        """An image of one environment."""
        ...

    def close(self) -> None:
        """Release the environments."""


def batch_layout(env: GymnasiumEnvironment, num_envs: int) -> BatchLayout:
    """The sizes of the arrays of `num_envs` environments."""
    size = env.actions.dimensions if isinstance(env.actions, Box) else 0
    return BatchLayout(num_envs, (env.observation.shape, env.observation.dtype.name), len(env.attributes), size)


class GymnasiumVectorEnv(VectorEnv):
    """A batch of Gymnasium environments. After the end of an episode, a step changes nothing until the reset.

    The environments come from the pool of `env`, or from its worker processes while there are any. The results are the
    same: which environment a row is, and its seed, do not depend on who runs it.
    """

    def __init__(self, env: GymnasiumEnvironment, num_envs: int) -> None:
        self.env, self.num_envs, self.episode_steps = env, num_envs, env.episode_steps
        layout, workers = batch_layout(env, num_envs), env.workers.running
        self._rows: Rows = (
            EnvRows(env.bridge, batch_arrays(layout), range(num_envs)) if workers is None else workers.open(layout)
        )
        self._arrays = self._rows.arrays

    def reset(self, key: Key, task: Task | None = None) -> TimeStep:
        return self.reset_where(np.ones(self.num_envs, bool), key, task)

    def reset_where(self, which: np.ndarray, key: Key, task: Task | None = None) -> TimeStep:
        del task  # every task starts at the environment's own start states
        random, arrays = np.random.default_rng(np.asarray(jax.random.key_data(key))), self._arrays
        arrays.seed[:] = random.integers(2**31, size=self.num_envs)
        arrays.terminated[which], arrays.truncated[which], arrays.age[which] = False, False, 0
        arrays.which[:] = which
        self._rows.run("reset")
        return self._timestep()

    def step(self, action: Action, key: Key) -> TimeStep:
        return self.step_where(np.ones(self.num_envs, bool), action, key)

    def step_where(self, which: np.ndarray, action: Action, key: Key) -> TimeStep:
        del key  # the randomness of an environment follows from the seed of its last reset
        arrays = self._arrays
        arrays.action[:] = np.asarray(action)
        arrays.which[:] = which & ~(arrays.terminated | arrays.truncated)
        arrays.age[:] += arrays.which
        self._rows.run("step")
        arrays.truncated[:] |= arrays.age >= self.episode_steps
        return self._timestep()

    def sample_goals(self, task: Task, key: Key) -> Goal:
        return _compiled_goals(task.goal)(jnp.asarray(self._arrays.values.copy()), jax.random.split(key, self.num_envs))

    def render(self, index: int) -> np.ndarray:
        return self._rows.render(index)

    def close(self) -> None:
        self._rows.close()

    def _timestep(self) -> TimeStep:
        """The current time step, in new arrays."""
        arrays = self._arrays
        return TimeStep(
            arrays.observation.copy(),
            arrays.values.copy() if self.env.has_attribute_fn else None,
            arrays.terminated.copy(),
            arrays.truncated.copy(),
        )


@lru_cache
def _compiled_goals(goal: Callable[..., Goal]) -> Callable[[jax.Array, Key], Goal]:
    """Samples goals for a batch; the state is `None`."""
    return jax.jit(jax.vmap(lambda values, key: goal(None, values, key)))
