"""A batch of Gymnasium environments, stepped together from the host."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.environments.contract import blaming, check_image
from attribute_planner.environments.spaces import Action
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.errors import EnvironmentFaultError

if TYPE_CHECKING:
    from attribute_planner.environments.gymnasium_bridge.environment import GymnasiumEnvironment

Key = jax.Array


class GymnasiumVectorEnv(VectorEnv):
    """A batch of Gymnasium environments. After the end of an episode, a step changes nothing until the reset.

    The environments come from the pool of `env`. `close` returns them, or closes them if one of them has failed.
    """

    def __init__(self, env: GymnasiumEnvironment, num_envs: int) -> None:
        self.env, self.num_envs, self.episode_steps = env, num_envs, env.episode_steps
        self._envs: list[gymnasium.Env] = env.pool.acquire(num_envs)
        self._is_healthy = True
        self._ages = np.zeros(num_envs, int)
        self._terminated, self._truncated = np.zeros(num_envs, bool), np.zeros(num_envs, bool)
        self._observation = np.zeros((num_envs, *env.observation.shape), env.observation.dtype)
        self._values = np.zeros((num_envs, len(env.attributes)), np.int32)

    def reset(self, key: Key, task: Task | None = None) -> TimeStep:
        return self.reset_where(np.ones(self.num_envs, bool), key, task)

    def reset_where(self, which: np.ndarray, key: Key, task: Task | None = None) -> TimeStep:
        del task  # every task starts at the environment's own start states
        random = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        seeds = random.integers(2**31, size=self.num_envs).tolist()
        self._terminated[which], self._truncated[which], self._ages[which] = False, False, 0
        for index in np.flatnonzero(which).tolist():
            self._store(index, *self._call("env.reset", index, self._begin, index, seeds[index]))
        return self._timestep()

    def step(self, action: Action, key: Key) -> TimeStep:
        del key  # the randomness of an environment follows from the seed of its last reset
        chosen, is_running = np.asarray(action), ~(self._terminated | self._truncated)
        self._ages += is_running
        for index in np.flatnonzero(is_running).tolist():
            self._store(index, *self._call("env.step", index, self._act, index, chosen[index]))
        self._truncated |= self._ages >= self.episode_steps
        return self._timestep()

    def sample_goals(self, task: Task, key: Key) -> Goal:
        return _compiled_goals(task.goal)(jnp.asarray(self._values), jax.random.split(key, self.num_envs))

    def render(self, index: int) -> np.ndarray:
        env = self._envs[index]
        if env.render_mode != "rgb_array":
            raise NotImplementedError(
                f"{self.env.name} cannot be rendered, because its render_mode is {env.render_mode!r}: "
                'make it with render_mode="rgb_array".'
            )
        return self._call("env.render", index, _image_of, env)

    def close(self) -> None:
        if self._is_healthy:
            self.env.pool.release(self._envs)
        else:
            self.env.pool.discard(self._envs)
        self._envs = []

    def _begin(self, index: int, seed: int) -> tuple[Any, dict[str, Any]]:
        observation, info = self._envs[index].reset(seed=seed)
        return observation, info

    def _act(self, index: int, action: Any) -> tuple[Any, dict[str, Any]]:
        observation, _, terminated, truncated, info = self._envs[index].step(self.env.action_map.translate(action))
        self._terminated[index], self._truncated[index] = bool(terminated), bool(truncated)
        return observation, info

    def _store(self, index: int, observation: Any, info: dict[str, Any]) -> None:
        """Store the observation and the attributes of one environment."""
        self._observation[index] = self._call("observation", index, self.env.encoder.encode, observation)
        if self.env.read_values is not None:
            self._values[index] = self._call(
                "describe", index, self.env.read_values, observation, info, self._envs[index]
            )

    def _timestep(self) -> TimeStep:
        """The current time step, in new arrays."""
        if not np.isfinite(self._observation).all():
            index = int(np.argwhere(~np.isfinite(self._observation))[0, 0])
            self._call("observation", index, _blame_numbers, self._observation[index])
        return TimeStep(
            self._observation.copy(),
            self._values.copy() if self.env.has_attribute_fn else None,
            self._terminated.copy(),
            self._truncated.copy(),
        )

    def _call(self, what: str, index: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call the user's code; its errors become a one-line fault that names environment, step and operation."""
        try:
            return function(*arguments)
        except Exception:
            self._is_healthy = False
            with blaming(self.env, f"environment {index}, step {self._ages[index]}: {what}"):
                raise


@lru_cache
def _compiled_goals(goal: Callable[..., Goal]) -> Callable[[jax.Array, Key], Goal]:
    """Samples goals for a batch; the state is `None`."""
    return jax.jit(jax.vmap(lambda values, key: goal(None, values, key)))


def _image_of(env: gymnasium.Env) -> np.ndarray:
    image = np.asarray(env.render())
    check_image(image)
    return image


def _blame_numbers(observation: np.ndarray) -> None:
    kind = "NaN" if np.isnan(observation).any() else "an infinite number"
    raise EnvironmentFaultError(f"it contains {kind}.")
