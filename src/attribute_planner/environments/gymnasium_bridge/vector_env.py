"""Copies of a Gymnasium environment, stepped together from the host."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.environments.contract import blaming, check_picture
from attribute_planner.environments.spaces import Action
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.errors import EnvironmentFaultError

if TYPE_CHECKING:
    from attribute_planner.environments.gymnasium_bridge.environment import GymnasiumEnvironment

Key = jax.Array


class GymnasiumVectorEnv(VectorEnv):
    """Copies of a user's environment. A copy that is over rests, and shows how it ended, until it is reset.

    The copies are lent by the environment and go back to it, unless one of them has failed.
    """

    def __init__(self, env: GymnasiumEnvironment, num_envs: int) -> None:
        self.env, self.num_envs, self.episode_steps = env, num_envs, env.episode_steps
        self._envs: list[gymnasium.Env] = env.pool.acquire(num_envs)
        self._is_sound = True
        self._ages = np.zeros(num_envs, int)
        self._terminated, self._truncated = np.zeros(num_envs, bool), np.zeros(num_envs, bool)
        self._observation = np.zeros((num_envs, *env.observation.shape), env.observation.dtype)
        self._values = np.zeros((num_envs, len(env.attributes)), np.int32)

    def reset(self, key: Key, task: Task | None = None) -> TimeStep:
        del task  # the tasks of such an environment begin wherever it begins
        return self.reset_where(np.ones(self.num_envs, bool), key)

    def reset_where(self, which: np.ndarray, key: Key) -> TimeStep:
        chance = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        seeds = chance.integers(2**31, size=self.num_envs).tolist()
        self._terminated[which], self._truncated[which], self._ages[which] = False, False, 0
        for index in np.flatnonzero(which).tolist():
            self._see(index, *self._ask("env.reset", index, self._begin, index, seeds[index]))
        return self._timestep()

    def step(self, action: Action, key: Key) -> TimeStep:
        del key  # the chance of each copy follows from the seed of its last reset
        chosen, is_running = np.asarray(action), ~(self._terminated | self._truncated)
        self._ages += is_running
        for index in np.flatnonzero(is_running).tolist():
            self._see(index, *self._ask("env.step", index, self._act, index, chosen[index]))
        self._truncated |= self._ages >= self.episode_steps
        return self._timestep()

    def sample_goals(self, task: Task, key: Key) -> Goal:
        return _compiled_goals(task.goal)(jnp.asarray(self._values), jax.random.split(key, self.num_envs))

    def render(self, index: int) -> np.ndarray:
        env = self._envs[index]
        if env.render_mode != "rgb_array":
            raise NotImplementedError(
                f"{self.env.name} has no pictures, as its render_mode is {env.render_mode!r}: "
                'let it be made with render_mode="rgb_array".'
            )
        return self._ask("env.render", index, _picture_of, env)

    def close(self) -> None:
        if self._is_sound:
            self.env.pool.release(self._envs)
        else:
            self.env.pool.discard(self._envs)
        self._envs = []

    def _begin(self, index: int, seed: int) -> tuple[Any, dict[str, Any]]:
        observation, info = self._envs[index].reset(seed=seed)
        return observation, info

    def _act(self, index: int, action: Any) -> tuple[Any, dict[str, Any]]:
        observation, _, terminated, truncated, info = self._envs[index].step(self.env.offered.translate(action))
        self._terminated[index], self._truncated[index] = bool(terminated), bool(truncated)
        return observation, info

    def _see(self, index: int, observation: Any, info: dict[str, Any]) -> None:
        """Keep what a copy shows."""
        self._observation[index] = self._ask("observation", index, self.env.encoder.encode, observation)
        if self.env.read_values is not None:
            self._values[index] = self._ask(
                "describe", index, self.env.read_values, observation, info, self._envs[index]
            )

    def _timestep(self) -> TimeStep:
        """What all copies show, in arrays that are never written to again."""
        if not np.isfinite(self._observation).all():
            index = int(np.argwhere(~np.isfinite(self._observation))[0, 0])
            self._ask("observation", index, _blame_numbers, self._observation[index])
        return TimeStep(
            self._observation.copy(),
            self._values.copy() if self.env.has_attribute_fn else None,
            self._terminated.copy(),
            self._truncated.copy(),
        )

    def _ask(self, what: str, index: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the user's code answers; its errors become a fault of one line that says where, when and what."""
        try:
            return function(*arguments)
        except Exception:
            self._is_sound = False
            with blaming(self.env, f"environment {index}, step {self._ages[index]}: {what}"):
                raise


@lru_cache
def _compiled_goals(draw: Callable[..., Goal]) -> Callable[[jax.Array, Key], Goal]:
    """Goals for many copies at once; there is no state to show to whoever draws them."""
    return jax.jit(jax.vmap(lambda values, key: draw(None, values, key)))


def _picture_of(env: gymnasium.Env) -> np.ndarray:
    picture = np.asarray(env.render())
    check_picture(picture)
    return picture


def _blame_numbers(observation: np.ndarray) -> None:
    kind = "NaN" if np.isnan(observation).any() else "an infinite number"
    raise EnvironmentFaultError(f"it contains {kind}.")
