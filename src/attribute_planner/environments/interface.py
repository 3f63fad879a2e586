"""The environment interface.

A `PureEnvironment` consists of pure functions of a state that JAX can trace: thousands of environments run on one
device. A simulator that cannot be traced (a physics engine in C, a Gymnasium environment) is a `HostEnvironment`. Both
are stepped through a `VectorEnv`.
"""

import abc
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int, UInt8

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.environments.spaces import ActionSpace, Array, Marker, Observation, ObservationSpec
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.environments.symmetry import Symmetries
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import PureVectorEnv, VectorEnv
from attribute_planner.errors import ConfigurationError, unknown_name

Key = jax.Array
State = Any


class Environment(abc.ABC):
    """Base class of all environments. Subclasses are frozen dataclasses whose fields are parameters."""

    name: str
    """Name of the environment."""

    episode_steps: int
    """Number of steps after which an episode is truncated while experience is collected."""

    step_limit_source: str = "as the environment says"
    """Where `episode_steps` is from, for the report of `check_environment`."""

    @property
    @abc.abstractmethod
    def attributes(self) -> AttributeSpace:
        """The attributes that goals refer to."""

    @property
    @abc.abstractmethod
    def observation(self) -> ObservationSpec:
        """Observation of the agent, or of each unit if there are several."""

    @property
    def observation_bounds(self) -> tuple[tuple[float, float], ...] | None:
        """The lowest and the highest value of each part of a `FlatSpec`, as declared; `None` if they are not known."""
        return None

    @property
    @abc.abstractmethod
    def actions(self) -> ActionSpace:
        """Action space of the agent, or of each unit."""

    @property
    def num_units(self) -> int | None:
        """Number of units that act at once, on a leading axis of observation and action; `None` for one agent."""
        return None

    @property
    def has_attribute_fn(self) -> bool:
        """Whether the true attribute function f is given; if not, a detector is learned from labels."""
        return True

    @property
    def spec(self) -> EnvironmentSpec:
        """The description from which networks are built."""
        return EnvironmentSpec(
            name=self.name,
            attributes=self.attributes,
            observation=self.observation,
            actions=self.actions,
            num_units=self.num_units,
            episode_steps=self.episode_steps,
            has_attribute_fn=self.has_attribute_fn,
        )

    @property
    @abc.abstractmethod
    def tasks(self) -> Mapping[str, Task]:
        """The tasks for evaluation, the main task first."""

    @property
    def curriculum(self) -> tuple[Task, ...]:
        """Tasks of increasing difficulty that end with the main task, for baselines that need a curriculum."""
        return tuple(self.tasks.values())[:1]

    @property
    def symmetries(self) -> Symmetries | None:
        """Symmetries of the rules; `None` if none are known."""
        return None

    @abc.abstractmethod
    def vector_env(self, num_envs: int) -> VectorEnv:
        """`num_envs` environments that are stepped together."""

    def observe_batch(self, states: Any) -> Observation:
        """The observations `[N, ...]` of snapshots (`TimeStep.snapshot`); can be traced.

        By default a snapshot is the observation itself.
        """
        return states

    def oracle(self, states: Any, goals: Goal, max_steps: int) -> Bool[Array, "B"] | None:
        """Whether a scripted policy with access to the full state reaches goals `[B, A]` from states `[B]`.

        It distinguishes hard tasks from impossible ones. `None` if there is no such policy.
        """
        del states, goals, max_steps
        return None

    def seen_from(self, markers: Mapping[str, Marker]) -> "Environment":
        """The environment with observations that are also seen from these agents, by the names of their parts.

        Only environments that find the agent by themselves can do without it, or with another one.
        """
        del markers
        return self

    @property
    def max_steps(self) -> int:
        """Steps of the main task, or of an episode if there are no tasks: what plans are made for by default."""
        return self.task(None).max_steps if self.tasks else self.episode_steps

    def task(self, name: str | None) -> Task:
        """The task with this name; the main task for `None`."""
        if name is None and not self.tasks:
            raise ConfigurationError(f"{self.name} has no tasks.")
        if name is None:
            return next(iter(self.tasks.values()))
        if name not in self.tasks:
            raise unknown_name("task", name, self.tasks, of=self.name)
        return self.tasks[name]


def require_environment(env: object, of: str) -> None:
    """An error of one line if what a function `of` the package was given is not an environment."""
    if not isinstance(env, Environment):
        raise ConfigurationError(f"{of} needs an environment (ap.make, ap.from_gymnasium), not a {type(env).__name__}.")


class PureEnvironment(Environment):
    """An environment whose rules are pure functions of a state; all of them can be jitted and vmapped."""

    @abc.abstractmethod
    def reset(self, key: Key) -> State:
        """A random initial state."""

    @abc.abstractmethod
    def step(self, state: State, action: Any, key: Key) -> State:
        """The state after one action. All randomness comes from `key`."""

    @abc.abstractmethod
    def observe(self, state: State) -> Observation:
        """The observation of a state."""

    @abc.abstractmethod
    def describe(self, state: State) -> Int[jax.Array, "A"]:
        """The true attribute values, `int32`: f of the paper."""

    def observe_batch(self, states: State) -> Observation:
        return jax.vmap(self.observe)(states)

    def terminated(self, state: State) -> Bool[jax.Array, ""]:
        """Whether the episode has terminated; by default it never does."""
        del state
        return jnp.zeros((), bool)

    def truncated(self, state: State) -> jax.Array:
        """Whether a time limit of its own cuts the episode off here; by default only `episode_steps` does."""
        del state
        return jnp.zeros((), bool)

    @property
    def can_terminate(self) -> bool:
        """Whether `terminated` can be true; rollouts are faster if it cannot."""
        return False

    def render(self, state: State) -> UInt8[np.ndarray, "H W 3"]:
        """An image of one state, for people."""
        raise NotImplementedError(f"{self.name} cannot be rendered.")

    def vector_env(self, num_envs: int) -> VectorEnv:
        return PureVectorEnv(self, num_envs)


class HostEnvironment(Environment):
    """An environment that runs on the host, through its own `VectorEnv`."""
