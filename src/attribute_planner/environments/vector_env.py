"""`VectorEnv`: a batch of environments that are stepped together from the host."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import UInt8

from attribute_planner.attributes import Goal
from attribute_planner.environments.spaces import Action, Observation

if TYPE_CHECKING:
    from attribute_planner.environments.interface import PureEnvironment
    from attribute_planner.environments.tasks import Task

Key = jax.Array


@dataclass(frozen=True)
class TimeStep:
    """The output of a batch of environments after a reset or a step.

    observation: `[B, ...]`.
    attributes: `int32[B, A]` true attribute values; `None` if f is not given.
    terminated: `bool[B]` whether the episode has reached a terminal state.
    truncated: `bool[B]` whether the episode has reached its time limit.
    states: `[B]` the states, if they are smaller than the observations and `env.observe_batch` accepts them.
    """

    observation: Observation
    attributes: np.ndarray | jax.Array | None
    terminated: Any
    truncated: Any
    states: Any = None

    @property
    def snapshot(self) -> Any:
        """The states or, without states, the observation: what `env.observe_batch` turns into observations."""
        return self.observation if self.states is None else self.states

    @property
    def over(self) -> Any:
        """`bool[B]` whether the environment must be reset before the next step."""
        return self.terminated | self.truncated


class VectorEnv(abc.ABC):
    """A batch of environments. The caller resets them; a step after the end of an episode is undefined."""

    num_envs: int
    episode_steps: int | None = None
    """Steps after which an episode is truncated, `None` for no limit. A caller with another time limit may set it."""

    @abc.abstractmethod
    def reset(self, key: Key, task: Task | None = None) -> TimeStep:
        """Begin an episode in every environment, at a start state of `task` if given."""

    @abc.abstractmethod
    def reset_where(self, which: np.ndarray, key: Key, task: Task | None = None) -> TimeStep:
        """Begin an episode in the environments `which` `bool[B]`, as `reset` does; the others keep their state."""

    @abc.abstractmethod
    def step(self, action: Action, key: Key) -> TimeStep:
        """Step every environment with actions `[B, ...]`."""

    def step_where(self, which: np.ndarray, action: Action, key: Key) -> TimeStep:
        """Step the environments `which` `bool[B]`. The others may or may not change."""
        del which
        return self.step(action, key)

    def restore_state(self, states: Any) -> TimeStep | None:
        """Begin an episode at the states of an earlier `TimeStep`; `None` if states cannot be restored."""
        del states
        return None

    @abc.abstractmethod
    def sample_goals(self, task: Task, key: Key) -> Goal:
        """A goal `[B, A]` of the task for the current state of each environment."""

    @abc.abstractmethod
    def render(self, index: int) -> UInt8[np.ndarray, "H W 3"]:
        """An image of one environment."""

    def close(self) -> None:
        """Release the resources of the environments."""


class PureVectorEnv(VectorEnv):
    """A batch of states of a pure environment, and compiled functions. It never truncates an episode."""

    def __init__(self, env: PureEnvironment, num_envs: int) -> None:
        self.env, self.num_envs = env, num_envs
        self._states: Any = None

    def reset(self, key: Key, task: Task | None = None) -> TimeStep:
        start = task.start if task is not None else None
        self._states = _compiled_reset(self.env, start)(jax.random.split(key, self.num_envs))
        return self._timestep()

    def reset_where(self, which: np.ndarray, key: Key, task: Task | None = None) -> TimeStep:
        start = task.start if task is not None else None
        fresh = _compiled_reset(self.env, start)(jax.random.split(key, self.num_envs))
        self._states = _compiled_where()(jnp.asarray(which), fresh, self._states)
        return self._timestep()

    def step(self, action: Action, key: Key) -> TimeStep:
        self._states = _compiled_step(self.env)(self._states, action, jax.random.split(key, self.num_envs))
        return self._timestep()

    def sample_goals(self, task: Task, key: Key) -> Goal:
        return _compiled_goals(self.env, task.goal)(self._states, jax.random.split(key, self.num_envs))

    def render(self, index: int) -> np.ndarray:
        return self.env.render(jax.tree.map(lambda leaf: np.asarray(leaf)[index], self._states))

    def _timestep(self) -> TimeStep:
        observation, values, terminated = _compiled_observe(self.env)(self._states)
        return TimeStep(observation, values, np.asarray(terminated), np.zeros(self.num_envs, bool), self._states)


def where_batch(which: jax.Array, then: Any, otherwise: Any) -> Any:
    """Select between two trees with leaves `[B, ...]`; `which` is `bool[B]`."""

    def choose(new: jax.Array, old: jax.Array) -> jax.Array:
        return jnp.where(which.reshape(which.shape + (1,) * (new.ndim - which.ndim)), new, old)

    return jax.tree.map(choose, then, otherwise)


@lru_cache
def _compiled_reset(env: PureEnvironment, start: Any) -> Any:
    return jax.jit(jax.vmap(start or env.reset))


@lru_cache
def _compiled_step(env: PureEnvironment) -> Any:
    return jax.jit(jax.vmap(env.step))


@lru_cache
def _compiled_observe(env: PureEnvironment) -> Any:
    return jax.jit(jax.vmap(lambda state: (env.observe(state), env.describe(state), env.terminated(state))))


@lru_cache
def _compiled_goals(env: PureEnvironment, goal: Any) -> Any:
    return jax.jit(jax.vmap(lambda state, key: goal(state, env.describe(state), key)))


@lru_cache
def _compiled_where() -> Any:
    return jax.jit(where_batch)
