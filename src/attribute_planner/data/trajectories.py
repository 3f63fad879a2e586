"""`Actor` and `TracedActor`, which choose actions, and `Trajectories`, the recorded steps."""

import abc
from typing import Any, Generic, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from attribute_planner.data.devices import whole
from attribute_planner.environments.spaces import Action, Array, Observation
from attribute_planner.environments.vector_env import TimeStep

Key = jax.Array
Memory = TypeVar("Memory")


class Actor(abc.ABC, Generic[Memory]):
    """Chooses actions for a batch of B environments. Its memory is passed in and returned.

    It is called with NumPy arrays, one step at a time, and may be any Python.
    """

    @abc.abstractmethod
    def begin(self, num_envs: int, *, key: Key) -> Memory:
        """The memory before the first step."""

    @abc.abstractmethod
    def act(self, memory: Memory, observation: Observation, attributes: Any, *, key: Key) -> tuple[Memory, Action, Any]:
        """An action for each environment, and `info`, which is recorded with it.

        attributes: `int32[B, A]` the current values, detected if there is a detector; `None` if they are not known.
        """

    def observe(self, memory: Memory, timestep: TimeStep) -> tuple[Memory, Any]:
        """Update the memory with the result of a step, before any reset. Returns an `outcome`, which is recorded."""
        del timestep
        return memory, None

    def wants_reset(self, memory: Memory, timestep: TimeStep) -> Bool[Array, " B"] | None:
        """Which episodes to end here, called after `observe`; `None` for none."""
        del memory, timestep
        return None

    def active(self, memory: Memory) -> Bool[np.ndarray, " B"] | None:
        """Which environments to step; `None` for all, as for every actor that is traced.

        An environment that is not active is neither stepped nor reset, and the rollout ends when none is active.
        """
        del memory
        return None


class TracedActor(eqx.Module, Actor[Memory]):
    """An actor whose methods are pure functions that JAX traces; it is a pytree of its networks and settings."""


class Trajectories(NamedTuple):
    """Recorded steps, time first: `[T, B, ...]`, or `[N, ...]` once flattened.

    observation: before the step: the observation, or the snapshot that `env.observe_batch` turns into observations;
        `None` if it was not kept.
    attributes: `uint32[T, B, W]` the packed attribute set before the step; `None` if attributes are not known.
    action, info: the action, and the actor's `info`.
    next_attributes: `uint32[T, B, W]` the packed attribute set after the step, before any reset.
    terminated: `bool[T, B]` the episode terminated with this step.
    truncated: `bool[T, B]` the episode was truncated after this step, by a time limit or by the actor. The next row
        belongs to another episode.
    outcome: the actor's `outcome`.
    """

    observation: Any
    attributes: Any
    action: Any
    info: Any
    next_attributes: Any
    terminated: Any
    truncated: Any
    outcome: Any

    @property
    def over(self) -> Bool[Array, "*batch"]:
        """Whether the next row belongs to another episode."""
        return self.terminated | self.truncated

    @property
    def changed(self) -> Bool[Array, "*batch"]:
        """Whether the step changed any attribute."""
        return (self.attributes != self.next_attributes).any(axis=-1)

    @property
    def size(self) -> int:
        """T·B, the number of recorded steps."""
        return int(np.prod(self.terminated.shape))

    def flat(self) -> "Trajectories":
        """`[T·B, ...]` the steps without the time axis, earliest first."""
        return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), self)

    def take(self, which: Any) -> "Trajectories":
        """The rows with these numbers, this mask or this slice."""
        return jax.tree.map(lambda leaf: leaf[which], self)

    def on_host(self) -> "Trajectories":
        """The same in NumPy arrays."""
        return jax.tree.map(np.asarray, whole(self))


def concatenate(*parts: Trajectories) -> Trajectories:
    """All parts in one, along the first axis."""
    host = all(isinstance(part.terminated, np.ndarray) for part in parts)
    return jax.tree.map(lambda *leaves: (np if host else jnp).concatenate(leaves), *parts)
