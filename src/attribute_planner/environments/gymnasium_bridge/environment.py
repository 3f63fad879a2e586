"""`from_gymnasium`: an environment made from a Gymnasium environment and named attributes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Attribute, AttributeSpace, Goal, Value
from attribute_planner.environments.faults import shown
from attribute_planner.environments.gymnasium_bridge.actions import Actions
from attribute_planner.environments.gymnasium_bridge.bridge import Bridge, Recipe, build_bridge
from attribute_planner.environments.gymnasium_bridge.describing import Describe, ReadValues
from attribute_planner.environments.gymnasium_bridge.labelled import labels_of
from attribute_planner.environments.gymnasium_bridge.observations import Encoder
from attribute_planner.environments.gymnasium_bridge.pool import EnvPool
from attribute_planner.environments.gymnasium_bridge.vector_env import GymnasiumVectorEnv
from attribute_planner.environments.interface import HostEnvironment
from attribute_planner.environments.labels import Labels
from attribute_planner.environments.registry import ENVIRONMENTS
from attribute_planner.environments.seen_from_agent import markers_in
from attribute_planner.environments.spaces import ActionSpace, Marker, ObservationSpec
from attribute_planner.environments.tasks import Task, fixed_goal_task
from attribute_planner.environments.workers.pool import Workers
from attribute_planner.errors import ConfigurationError
from attribute_planner.ranges import COUNT, check_number

Key = jax.Array

DEFAULT_EPISODE_STEPS = 200
"""Time limit of episodes if neither the environment nor the user gives one."""


def from_gymnasium(
    make: Callable[[], gymnasium.Env],
    *,
    attributes: Sequence[Attribute],
    describe: Describe | None = None,
    labelled: tuple[Any, Any] | None = None,
    tasks: Mapping[str, Mapping[str, Value] | str] | None = None,
    episode_steps: int | None = None,
    encode_observation: Callable[[Any], Any] | None = None,
    action_names: Sequence[str] | None = None,
    name: str | None = None,
) -> "GymnasiumEnvironment":
    """An environment to train on, made from a Gymnasium environment and named attributes.

    make: makes a new Gymnasium environment at every call: `lambda: gymnasium.make("Taxi-v4")`.
    attributes: the attributes that goals refer to.
    describe: returns attribute values by name, given `(observation, info, env)`. Pass either this or `labelled`.
    labelled: `(observations, attributes)` of some states, for training a detector; the attributes are dictionaries, or
        an integer array `[N, A]` of value indices.
    tasks: goals for evaluation, by name; by default one task, whose goal is another value of a random attribute.
    episode_steps: number of steps after which an episode is truncated; by default the environment's own limit, or 200.
    encode_observation: converts an observation into an array of numbers or a `uint8` image. Rarely needed: by default
        all parts of an observation are used, as `check_environment` reports.
    action_names: names of the actions, in order.
    name: name of the environment; by default its Gymnasium id.
    """
    if not callable(make):
        raise ConfigurationError(
            "from_gymnasium needs a function that makes the environment (lambda: gymnasium.make(…)), "
            f"not a {type(make).__name__}."
        )
    if (describe is None) == (labelled is None):
        raise ConfigurationError("Pass either describe=… or labelled=…, which define the attributes.")
    space = attribute_space(attributes)
    recipe = Recipe(make, space.attributes, describe, encode_observation, action_names)
    bridge = build_bridge(recipe, name, episode_steps=episode_steps if isinstance(episode_steps, int) else None)
    if bridge.name in ENVIRONMENTS:
        raise ConfigurationError(
            f"{bridge.name!r} is the name of a built-in environment; choose another one with name=…."
        )
    (first,) = bridge.pool.acquire(1)
    limit, limit_source = _episode_steps(first, episode_steps)
    bridge.pool.release([first])
    return GymnasiumEnvironment(
        name=bridge.name,
        recipe=recipe,
        bridge=bridge,
        space=space,
        episode_steps=limit,
        task_map=_tasks(space, tasks, limit),
        labels=None if labelled is None else labels_of(labelled, space, bridge.encoder),
        step_limit_source=limit_source,
    )


# Compared by identity: functions cannot be compared.
@dataclass(frozen=True, eq=False)
class GymnasiumEnvironment(HostEnvironment):
    """A Gymnasium environment with named attributes; `from_gymnasium` builds it.

    recipe: what the user gave, from which worker processes make the same environment.
    bridge: the environments created so far, and the conversion of what goes in and out.
    space, task_map: its attributes and tasks.
    episode_steps: number of steps after which an episode is truncated.
    labels: training data of the detector.
    step_limit_source: where `episode_steps` is from.
    workers: the worker processes that run it, while there are any.
    """

    name: str
    recipe: Recipe
    bridge: Bridge
    space: AttributeSpace
    episode_steps: int
    task_map: Mapping[str, Task]
    labels: Labels | None
    step_limit_source: str
    workers: Workers = field(default_factory=Workers)

    def seen_from(self, markers: Mapping[str, Marker]) -> "GymnasiumEnvironment":
        if markers == markers_in(self.observation):
            return self
        return replace(self, bridge=build_bridge(self.recipe, self.name, markers), workers=Workers())

    @property
    def pool(self) -> EnvPool:
        """The environments of this process."""
        return self.bridge.pool

    @property
    def encoder(self) -> Encoder:
        """The conversion of observations."""
        return self.bridge.encoder

    @property
    def action_map(self) -> Actions:
        """The conversion of actions."""
        return self.bridge.action_map

    @property
    def read_values(self) -> ReadValues | None:
        """Returns the attribute values of a state; `None` if a detector is learned instead."""
        return self.bridge.read_values

    @property
    def attributes(self) -> AttributeSpace:
        return self.space

    @property
    def observation(self) -> ObservationSpec:
        return self.encoder.spec

    @property
    def observation_bounds(self) -> tuple[tuple[float, float], ...] | None:
        return self.encoder.bounds

    @property
    def actions(self) -> ActionSpace:
        return self.action_map.space

    @property
    def has_attribute_fn(self) -> bool:
        return self.read_values is not None

    @property
    def tasks(self) -> Mapping[str, Task]:
        return self.task_map

    def __repr__(self) -> str:
        return f"GymnasiumEnvironment({self.name}: attributes {', '.join(self.space.names)})"

    def vector_env(self, num_envs: int) -> GymnasiumVectorEnv:
        return GymnasiumVectorEnv(self, num_envs)

    def close(self) -> None:
        """Close all idle environments."""
        self.pool.close()


def attribute_space(attributes: Sequence[Attribute]) -> AttributeSpace:
    """The attribute space of a list of attributes."""
    if isinstance(attributes, str) or not isinstance(attributes, Iterable):
        raise ConfigurationError(f"attributes must be a list of ap.Attribute; it is {shown(attributes)}.")
    wrong = next((each for each in attributes if not isinstance(each, Attribute)), None)
    if wrong is not None:
        raise ConfigurationError(f"attributes must be a list of ap.Attribute; it contains {wrong!r}.")
    return AttributeSpace(tuple(attributes))


def another_value(space: AttributeSpace, max_steps: int) -> Task:
    """The task whose goal is another value of one random attribute; the others are free."""
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
    space: AttributeSpace, goals: Mapping[str, Mapping[str, Value] | str] | None, max_steps: int
) -> Mapping[str, Task]:
    if goals is not None and not isinstance(goals, Mapping):
        example = {"name": {space.names[0]: space.attributes[0].decode(0)}}
        raise ConfigurationError(f"tasks must be a dictionary of goals by name, like {example}; it is {shown(goals)}.")
    if not goals:
        task = another_value(space, max_steps)
        return {task.name: task}
    return {name: fixed_goal_task(space, name, goal, max_steps=max_steps) for name, goal in goals.items()}


def _episode_steps(env: gymnasium.Env, wanted: int | None) -> tuple[int, str]:
    """The smaller of the environment's own limit and the one given, and which of them it is."""
    if wanted is not None:
        check_number("episode_steps", wanted, COUNT, whole=True)
    own, source = _own_limit(env)
    if own is None and wanted is None:
        return DEFAULT_EPISODE_STEPS, "the default, because the environment tells no limit; set it with episode_steps=…"
    if own is None or (wanted is not None and wanted < own):
        assert wanted is not None
        return wanted, "as given by episode_steps" + ("" if own is None else f"; the environment's own limit is {own}")
    return own, source + ("" if wanted in (None, own) else f"; episode_steps={wanted} cannot extend it")


def _own_limit(env: gymnasium.Env) -> tuple[int | None, str]:
    """The environment's own limit, if it tells one: by a wrapper, by its registration, or as MiniGrid does."""
    registered = None if env.spec is None else env.spec.max_episode_steps
    wrapped = _wrapped_limit(env)
    if wrapped is not None and (registered is None or wrapped < registered):
        return wrapped, "the environment's own limit (its wrapper TimeLimit)"
    if env.spec is not None and env.spec.max_episode_steps is not None:
        return int(env.spec.max_episode_steps), "the environment's own limit (max_episode_steps of its spec)"
    for name in ("max_steps", "max_episode_steps", "_max_episode_steps"):
        limit = getattr(env.unwrapped, name, None)
        if isinstance(limit, int | np.integer) and not isinstance(limit, bool) and limit > 0:
            return int(limit), f"the environment's own limit ({name})"
    return None, ""


def _wrapped_limit(env: gymnasium.Env) -> int | None:
    """The limit of the wrappers `TimeLimit` around an environment, the smallest; `None` if there is none."""
    limits = []
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, gymnasium.wrappers.TimeLimit):
            limits.append(int(env._max_episode_steps))
        env = env.env
    return min(limits, default=None)
