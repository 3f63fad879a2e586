"""What an environment is.

A `PureEnvironment` is a handful of pure functions of a state that JAX can trace: thousands of copies run on one
device. What cannot be traced (a physics engine in C, a user's Gymnasium environment) is a `HostEnvironment`, which
opens a batch of `Worlds` on the host. The learners see either through the same collecting interface.
"""

import abc
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.environments.spaces import ActionSpace, Array, Observation, ObservationSpec
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.environments.symmetry import Symmetries
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import PureVectorEnv, VectorEnv
from attribute_planner.errors import unknown_name

Key = jax.Array
State = Any


class Environment(abc.ABC):
    """What every environment tells about itself. Subclasses are frozen dataclasses: their fields are parameters."""

    name: str
    """What it is called: the same for all of a class, or of each one its own."""

    episode_steps: int
    """After how many steps an episode is cut off (truncated) while experience is collected."""

    @property
    @abc.abstractmethod
    def attributes(self) -> AttributeSpace:
        """The properties of a state that goals speak of."""

    @property
    @abc.abstractmethod
    def observation(self) -> ObservationSpec:
        """What the agent (each unit, where there are several) sees."""

    @property
    @abc.abstractmethod
    def actions(self) -> ActionSpace:
        """What the agent (each unit) can do."""

    @property
    def num_units(self) -> int | None:
        """How many units act at once, on a leading axis of observation and action; `None` for a single agent."""
        return None

    @property
    def has_attribute_fn(self) -> bool:
        """Whether the true f is given; otherwise a detector must be learned from labels."""
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
        """The families of tasks to evaluate on, the main one first."""

    @property
    def curriculum(self) -> tuple[Task, ...]:
        """Tasks of rising difficulty that end in the main task, for baselines that need one."""
        return tuple(self.tasks.values())[:1]

    @property
    def symmetries(self) -> Symmetries | None:
        """Renamings under which the rules stay as they are; `None` if there are none, or none are known."""
        return None

    @abc.abstractmethod
    def vector_env(self, num_envs: int) -> VectorEnv:
        """`copies` of the environment that are stepped together."""

    def observe_batch(self, states: Any) -> Observation:
        """The observations `[N, ...]` of what was kept of moments (`Moment.kept`); can be traced.

        Most environments on the host keep the observations themselves.
        """
        return states

    def oracle(self, states: Any, goals: Goal, max_steps: int) -> Array | None:
        """`[B]` whether a player written by hand, who may see everything, reaches goals `[B, A]` from states `[B]`.

        Its success beside an agent's tells hard tasks from impossible ones. `None` if there is no such player.
        """
        del states, goals, max_steps
        return None

    def task(self, name: str | None) -> Task:
        """The task of that name; the main one for `None`."""
        if name is None:
            return next(iter(self.tasks.values()))
        if name not in self.tasks:
            raise unknown_name(f"task of {self.name}", name, self.tasks)
        return self.tasks[name]


class PureEnvironment(Environment):
    """An environment whose rules are pure functions of a state: all of them can be jitted and vmapped."""

    @abc.abstractmethod
    def reset(self, key: Key) -> State:
        """A fresh random state."""

    @abc.abstractmethod
    def step(self, state: State, action: Any, key: Key) -> State:
        """The state after one action; `key` is for the environment's own chance."""

    @abc.abstractmethod
    def observe(self, state: State) -> Observation:
        """What the agent sees of a state."""

    @abc.abstractmethod
    def describe(self, state: State) -> jax.Array:
        """`int32[A]` the true attribute values: f of the paper."""

    def observe_batch(self, states: State) -> Observation:
        return jax.vmap(self.observe)(states)

    def terminated(self, state: State) -> jax.Array:
        """Whether the episode is over for good; by default it never is."""
        del state
        return jnp.zeros((), bool)

    @property
    def can_terminate(self) -> bool:
        """Whether `terminated` can ever be true; where it cannot, collecting is faster."""
        return False

    def render(self, state: State) -> np.ndarray:
        """`uint8[H, W, 3]` a picture of one state, for people."""
        raise NotImplementedError(f"{self.name} has no pictures.")

    def vector_env(self, num_envs: int) -> VectorEnv:
        return PureVectorEnv(self, num_envs)


class HostEnvironment(Environment):
    """An environment that runs on the host: all it must do is open a batch of `Worlds`."""
