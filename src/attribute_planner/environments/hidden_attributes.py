"""An environment with further binary attributes, `hidden_0`, `hidden_1`, …, each defined by a split of the observation.

Goals and tasks for the attributes of the user mean the same as before: hidden attributes are unconstrained in them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.attributes import Attribute, AttributeSpace, Goal
from attribute_planner.environments.interface import Environment, HostEnvironment, Key, PureEnvironment, State
from attribute_planner.environments.labels import Labels
from attribute_planner.environments.spaces import Action, ActionSpace, Array, Observation, ObservationSpec
from attribute_planner.environments.splits import Split, flat_observation
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.errors import ConfigurationError

NAME = "hidden_"
"""The names of hidden attributes begin with this."""


def with_hidden_attributes(env: Environment, splits: Sequence[Split]) -> Environment:
    """The environment with one more binary attribute for every split; it is true where the split holds.

    An environment that has hidden attributes keeps them; new ones come after them.
    """
    splits, base = (*hidden_splits(env), *splits), without_hidden_attributes(env)
    if not splits:
        return base
    if base.num_units is not None:
        raise ConfigurationError(f"{base.name} has several units; hidden attributes need one observation per state.")
    taken = [name for name in base.attributes.names if name.startswith(NAME)]
    if taken:
        raise ConfigurationError(
            f"{base.name} has an attribute {taken[0]!r}; names with {NAME!r} are for hidden attributes."
        )
    return _RefinedPure(base, splits) if isinstance(base, PureEnvironment) else _RefinedHost(base, splits)


def hidden_splits(env: Environment) -> tuple[Split, ...]:
    """The splits that define the hidden attributes of an environment."""
    return env.splits if isinstance(env, _Refined) else ()


def hidden_values(env: Environment, observation: Any) -> Int[Array, "*batch H"]:
    """The hidden attributes of observations `[*batch, ...]` of an environment that has any."""
    assert isinstance(env, _Refined), f"{env.name} has no hidden attributes"
    return env.hidden_values(observation)


def without_hidden_attributes(env: Environment) -> Environment:
    """The environment as the user gave it."""
    return env.env if isinstance(env, _Refined) else env


@dataclass(frozen=True)
class _Refined(Environment):
    """What refined environments of both kinds share.

    env: the environment without hidden attributes.
    splits: one for each hidden attribute.
    """

    env: Any
    splits: tuple[Split, ...]
    name: str = field(init=False)
    episode_steps: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.env.name)
        object.__setattr__(self, "episode_steps", self.env.episode_steps)

    @property
    def attributes(self) -> AttributeSpace:
        return self._space

    @cached_property
    def _space(self) -> AttributeSpace:
        hidden = (Attribute(f"{NAME}{number}") for number in range(len(self.splits)))
        return AttributeSpace((*self.env.attributes, *hidden))

    @property
    def observation(self) -> ObservationSpec:
        return self.env.observation

    @property
    def actions(self) -> ActionSpace:
        return self.env.actions

    @property
    def has_attribute_fn(self) -> bool:
        return self.env.has_attribute_fn

    @property
    def tasks(self) -> Mapping[str, Task]:
        return {name: self._refined_task(task) for name, task in self.env.tasks.items()}

    @property
    def curriculum(self) -> tuple[Task, ...]:
        return tuple(self._refined_task(task) for task in self.env.curriculum)

    @property
    def labels(self) -> Labels | None:
        """The labels for a detector, with the hidden attributes; `None` if the environment provides no labels."""
        given = getattr(self.env, "labels", None)
        if given is None:
            return None
        hidden = np.asarray(self.hidden_values(self.env.observe_batch(given.states)))
        return Labels(given.states, np.concatenate([np.asarray(given.values, np.int32), hidden], axis=-1))

    def observe_batch(self, states: Any) -> Observation:
        return self.env.observe_batch(states)

    def oracle(self, states: Any, goals: Goal, max_steps: int) -> Bool[Array, "B"] | None:
        """The oracle of the environment, for goals that do not constrain hidden attributes."""
        count = len(self.env.attributes)
        return self.env.oracle(states, jax.tree.map(lambda leaf: leaf[..., :count], goals), max_steps)

    def hidden_values(self, observation: Any) -> Int[Array, "*batch H"]:
        """The hidden attributes of observations `[*batch, ...]`."""
        flat = flat_observation(observation, self.observation)
        xp = np if isinstance(flat, np.ndarray) else jnp
        return xp.stack([each.holds(flat) for each in self.splits], axis=-1).astype(np.int32)

    def _refined_task(self, task: Task) -> Task:
        return replace(task, goal=_FreeHidden(task.goal, len(self.env.attributes), len(self.splits)))


@dataclass(frozen=True)
class _RefinedPure(_Refined, PureEnvironment):
    """A pure environment with hidden attributes."""

    def reset(self, key: Key) -> State:
        return self.env.reset(key)

    def step(self, state: State, action: Any, key: Key) -> State:
        return self.env.step(state, action, key)

    def observe(self, state: State) -> Observation:
        return self.env.observe(state)

    def describe(self, state: State) -> Int[jax.Array, "A"]:
        hidden = jnp.asarray(self.hidden_values(self.env.observe(state)))
        return jnp.concatenate([self.env.describe(state), hidden])

    def terminated(self, state: State) -> Bool[jax.Array, ""]:
        return self.env.terminated(state)

    def truncated(self, state: State) -> jax.Array:
        return self.env.truncated(state)

    @property
    def can_terminate(self) -> bool:
        return self.env.can_terminate

    def render(self, state: State) -> np.ndarray:
        return self.env.render(state)


@dataclass(frozen=True)
class _RefinedHost(_Refined, HostEnvironment):
    """A host environment with hidden attributes."""

    def vector_env(self, num_envs: int) -> VectorEnv:
        return _RefinedVectorEnv(self, self.env.vector_env(num_envs))

    def close(self) -> None:
        """Release the resources of the environment, if it holds any."""
        if hasattr(self.env, "close"):
            self.env.close()


class _RefinedVectorEnv(VectorEnv):
    """A batch of environments whose time steps have the hidden attributes too."""

    def __init__(self, env: _RefinedHost, inner: VectorEnv) -> None:
        self.env, self.inner = env, inner
        self.num_envs, self.episode_steps = inner.num_envs, inner.episode_steps

    def reset(self, key: Key, task: Task | None = None) -> TimeStep:
        self.inner.episode_steps = self.episode_steps
        return self._refined(self.inner.reset(key, task))

    def reset_where(self, which: np.ndarray, key: Key, task: Task | None = None) -> TimeStep:
        self.inner.episode_steps = self.episode_steps
        return self._refined(self.inner.reset_where(which, key, task))

    def step(self, action: Action, key: Key) -> TimeStep:
        return self._refined(self.inner.step(action, key))

    def step_where(self, which: np.ndarray, action: Action, key: Key) -> TimeStep:
        return self._refined(self.inner.step_where(which, action, key))

    def restore_state(self, states: Any) -> TimeStep | None:
        timestep = self.inner.restore_state(states)
        return None if timestep is None else self._refined(timestep)

    def sample_goals(self, task: Task, key: Key) -> Goal:
        return self.inner.sample_goals(task, key)

    def render(self, index: int) -> np.ndarray:
        return self.inner.render(index)

    def close(self) -> None:
        self.inner.close()

    def _refined(self, timestep: TimeStep) -> TimeStep:
        if timestep.attributes is None:
            return timestep
        hidden = np.asarray(self.env.hidden_values(timestep.observation))
        return replace(timestep, attributes=np.concatenate([np.asarray(timestep.attributes), hidden], axis=-1))


@dataclass(frozen=True)
class _FreeHidden:
    """Samples goals like `goal`, which knows `given` attributes; `hidden` more of them are unconstrained."""

    goal: Any
    given: int
    hidden: int

    def __call__(self, state: Any, values: jax.Array, key: Key) -> Goal:
        drawn = self.goal(state, values[..., : self.given], key)
        return jax.tree.map(lambda leaf: jnp.pad(leaf, (*[(0, 0)] * (leaf.ndim - 1), (0, self.hidden))), drawn)
