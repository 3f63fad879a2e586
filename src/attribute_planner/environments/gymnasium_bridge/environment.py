"""`from_gymnasium`: a user's Gymnasium environment, with the attributes that they name, to train on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp

from attribute_planner.attributes import Attribute, AttributeSpace, Goal, Value
from attribute_planner.environments.gymnasium_bridge.actions import Actions, actions_of
from attribute_planner.environments.gymnasium_bridge.describing import (
    Describe,
    ReadValues,
    attribute_space,
    labels_of,
    reading,
)
from attribute_planner.environments.gymnasium_bridge.observations import Encoder, encoder_by, encoder_for
from attribute_planner.environments.gymnasium_bridge.pool import EnvPool
from attribute_planner.environments.gymnasium_bridge.vector_env import GymnasiumVectorEnv
from attribute_planner.environments.interface import HostEnvironment
from attribute_planner.environments.labels import Labels
from attribute_planner.environments.registry import ENVIRONMENTS
from attribute_planner.environments.spaces import ActionSpace, ObservationSpec
from attribute_planner.environments.tasks import Task, fixed_goal_task
from attribute_planner.errors import ConfigurationError

Key = jax.Array

DEFAULT_EPISODE_STEPS = 200
"""After how many steps an episode is cut off where neither the environment nor the user says so."""


def from_gymnasium(
    make: Callable[[], gymnasium.Env],
    *,
    attributes: Sequence[Attribute],
    describe: Describe | None = None,
    labelled: tuple[Any, Any] | None = None,
    tasks: Mapping[str, Mapping[str, Value]] | None = None,
    episode_steps: int | None = None,
    encode_observation: Callable[[Any], Any] | None = None,
    action_names: Sequence[str] | None = None,
    name: str | None = None,
) -> "GymnasiumEnvironment":
    """An environment to train on, made of copies of a Gymnasium environment.

    make: makes one copy, a new one at every call: `lambda: gymnasium.make("Taxi-v4")`.
    attributes: the properties of a state that goals will speak of.
    describe: tells their values by name, from `(observation, info, env)`; or give `labelled` instead.
    labelled: `(observations, attributes)` of some states, to learn a detector from; the attributes are dictionaries, or
        an integer array `[N, A]` of value indices.
    tasks: goals to evaluate on, by name; by default one task, which asks for another value of any one attribute.
    episode_steps: cuts episodes off after so many steps; by default the environment's own limit, or else 200.
    encode_observation: turns an observation into an array for the networks: numbers of about −1 to 1, or a `uint8`
        picture; by default a picture stays one, and anything else is flattened, choices as one-hot.
    action_names: what people call the actions, in order.
    name: what the environment is called; by default its Gymnasium id.
    """
    if not callable(make):
        raise ConfigurationError(
            "from_gymnasium needs a function that makes the environment (lambda: gymnasium.make(…)), "
            f"not a {type(make).__name__}."
        )
    if (describe is None) == (labelled is None):
        raise ConfigurationError("Give either describe=… or labelled=…: it is what tells the attributes of a state.")
    space = attribute_space(attributes)
    pool = EnvPool(make)
    (first,) = pool.acquire(1)
    encoder = _encoder(first, encode_observation)
    limit = _episode_steps(first, episode_steps)
    env = GymnasiumEnvironment(
        name=_name(first, name),
        pool=pool,
        space=space,
        encoder=encoder,
        offered=actions_of(first.action_space, action_names),
        episode_steps=limit,
        asked=_tasks(space, tasks, limit),
        read_values=None if describe is None else reading(describe, space),
        labels=None if labelled is None else labels_of(labelled, space, encoder),
    )
    pool.release([first])
    return env


# Two of them are the same only if they are one: what functions do cannot be compared.
@dataclass(frozen=True, eq=False)
class GymnasiumEnvironment(HostEnvironment):
    """A Gymnasium environment with named attributes; `from_gymnasium` builds it.

    pool: the environments created so far.
    space, encoder, offered, asked: its attributes, observations, actions and tasks.
    episode_steps: after how many steps an episode is cut off, also by the bridge.
    read_values: tells the attribute values of a state; `None` where a detector is to be learned instead.
    labels: what that is learned from.
    """

    name: str
    pool: EnvPool
    space: AttributeSpace
    encoder: Encoder
    offered: Actions
    episode_steps: int
    asked: Mapping[str, Task]
    read_values: ReadValues | None
    labels: Labels | None

    @property
    def attributes(self) -> AttributeSpace:
        return self.space

    @property
    def observation(self) -> ObservationSpec:
        return self.encoder.spec

    @property
    def actions(self) -> ActionSpace:
        return self.offered.space

    @property
    def has_attribute_fn(self) -> bool:
        return self.read_values is not None

    @property
    def tasks(self) -> Mapping[str, Task]:
        return self.asked

    def vector_env(self, num_envs: int) -> GymnasiumVectorEnv:
        return GymnasiumVectorEnv(self, num_envs)

    def close(self) -> None:
        """Close all idle environments."""
        self.pool.close()


def another_value(space: AttributeSpace, max_steps: int) -> Task:
    """The task that asks for some other value of one attribute, whatever becomes of the rest."""
    sizes = jnp.asarray(space.sizes)

    def draw(state: None, values: jax.Array, key: Key) -> Goal:
        del state
        attribute_key, value_key = jax.random.split(key)
        attribute = jax.random.randint(attribute_key, (), 0, len(space))
        shift = jax.random.randint(value_key, (), 1, sizes[attribute])
        wanted = jnp.arange(len(space)) == attribute
        return Goal(jnp.where(wanted, (values + shift) % sizes, 0), wanted)

    return Task("any-value", "any other value of any one attribute", draw, max_steps)


def _tasks(
    space: AttributeSpace, goals: Mapping[str, Mapping[str, Value]] | None, max_steps: int
) -> Mapping[str, Task]:
    if not goals:
        task = another_value(space, max_steps)
        return {task.name: task}
    return {name: fixed_goal_task(space, name, goal, max_steps=max_steps) for name, goal in goals.items()}


def _encoder(env: gymnasium.Env, encode: Callable[[Any], Any] | None) -> Encoder:
    if encode is None:
        return encoder_for(env.observation_space)
    example, _ = env.reset(seed=0)
    return encoder_by(encode, example)


def _episode_steps(env: gymnasium.Env, wanted: int | None) -> int:
    """The sooner of the environment's own limit and the one that is wanted."""
    if wanted is not None and wanted < 1:
        raise ConfigurationError(f"episode_steps is {wanted}; it must be at least 1.")
    own = env.spec.max_episode_steps if env.spec is not None else None
    return int(min((each for each in (own, wanted) if each is not None), default=DEFAULT_EPISODE_STEPS))


def _name(env: gymnasium.Env, wanted: str | None) -> str:
    name = wanted or (env.spec.id if env.spec is not None else type(env.unwrapped).__name__)
    if name in ENVIRONMENTS:
        raise ConfigurationError(f"{name!r} is the name of a built-in environment; choose another one with name=….")
    return name
