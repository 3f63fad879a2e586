"""Worlds: a batch of copies of one environment, stepped together from the host.

Execution and host-side collecting run on this interface, whatever lies beneath: traced functions, or a simulator.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.environments.spaces import Action, Observation

if TYPE_CHECKING:
    from attribute_planner.environments.interface import PureEnvironment
    from attribute_planner.environments.tasks import Task

Key = jax.Array


@dataclass(frozen=True)
class TimeStep:
    """What a batch of worlds shows between two steps.

    observation: `[B, ...]`.
    attributes: `int32[B, A]` true attribute values; `None` where f is not given.
    terminated: `[B]` the episode is over for good.
    truncated: `[B]` the episode was cut off by its time limit.
    states: what `env.look` shows the observation of again; the observation itself where there is nothing smaller.
    """

    observation: Observation
    attributes: np.ndarray | jax.Array | None
    terminated: Any
    truncated: Any
    states: Any = None

    @property
    def snapshot(self) -> Any:
        """What to keep of the moment, to look at later."""
        return self.observation if self.states is None else self.states

    @property
    def over(self) -> Any:
        """`[B]` whether the copy must be reset before it is stepped again."""
        return self.terminated | self.truncated


class VectorEnv(abc.ABC):
    """Copies of one environment. Nobody resets them but the caller: a step of a copy that is over has no meaning."""

    num_envs: int
    episode_steps: int | None = None
    """Steps after which an episode is truncated, `None` for no limit. A caller with another time limit may set it."""

    @abc.abstractmethod
    def reset(self, key: Key, task: Task | None = None) -> TimeStep:
        """Begin a fresh episode in every copy, where `task` says, if it says so."""

    @abc.abstractmethod
    def reset_where(self, which: np.ndarray, key: Key) -> TimeStep:
        """Begin a fresh episode in the copies `which` `[B]`; the others stay as they are."""

    @abc.abstractmethod
    def step(self, action: Action, key: Key) -> TimeStep:
        """Act in every copy."""

    def step_where(self, which: np.ndarray, action: Action, key: Key) -> TimeStep:
        """Act in the copies `which` `[B]`. What becomes of the others has no meaning; best of all, nothing."""
        del which
        return self.step(action, key)

    def restore_state(self, states: Any) -> TimeStep | None:
        """Begin an episode at the states that an earlier moment showed; `None` where worlds cannot be put back."""
        del states
        return None

    @abc.abstractmethod
    def sample_goals(self, task: Task, key: Key) -> Goal:
        """A goal of the task `[B, A]` for each copy as it stands."""

    @abc.abstractmethod
    def render(self, index: int) -> np.ndarray:
        """`uint8[H, W, 3]` a picture of one copy."""

    def close(self) -> None:
        """Let go of whatever the copies hold."""


class PureVectorEnv(VectorEnv):
    """Copies of a pure environment: a batch of states and a few compiled functions.

    Pure rules know no time limit: an episode is as long as whoever runs it lets it be.
    """

    def __init__(self, env: PureEnvironment, num_envs: int) -> None:
        self.env, self.num_envs = env, num_envs
        self._states: Any = None

    def reset(self, key: Key, task: Task | None = None) -> TimeStep:
        start = task.start if task is not None else None
        self._states = _compiled_reset(self.env, start)(jax.random.split(key, self.num_envs))
        return self._timestep()

    def reset_where(self, which: np.ndarray, key: Key) -> TimeStep:
        fresh = _compiled_reset(self.env, None)(jax.random.split(key, self.num_envs))
        self._states = _compiled_choice()(jnp.asarray(which), fresh, self._states)
        return self._timestep()

    def step(self, action: Action, key: Key) -> TimeStep:
        self._states = _compiled_step(self.env)(self._states, action, jax.random.split(key, self.num_envs))
        return self._timestep()

    def sample_goals(self, task: Task, key: Key) -> Goal:
        return _compiled_goals(self.env, task.goal)(self._states, jax.random.split(key, self.num_envs))

    def render(self, index: int) -> np.ndarray:
        return self.env.render(jax.tree.map(lambda leaf: np.asarray(leaf[index]), self._states))

    def _timestep(self) -> TimeStep:
        observation, values, terminated = _compiled_look(self.env)(self._states)
        return TimeStep(observation, values, np.asarray(terminated), np.zeros(self.num_envs, bool), self._states)


def where_batch(which: jax.Array, then: Any, otherwise: Any) -> Any:
    """Per copy, the leaves of one tree or of the other: `which` is `[B]`, leaves are `[B, ...]`."""

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
def _compiled_look(env: PureEnvironment) -> Any:
    return jax.jit(jax.vmap(lambda state: (env.observe(state), env.describe(state), env.terminated(state))))


@lru_cache
def _compiled_goals(env: PureEnvironment, draw: Any) -> Any:
    return jax.jit(jax.vmap(lambda state, key: draw(state, env.describe(state), key)))


@lru_cache
def _compiled_choice() -> Any:
    return jax.jit(where_batch)
