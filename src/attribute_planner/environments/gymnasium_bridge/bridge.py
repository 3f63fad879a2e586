"""What is needed to run a Gymnasium environment and to read its state. A worker process builds it from the recipe."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from attribute_planner.attributes.attribute import Attribute
from attribute_planner.environments.faults import blaming
from attribute_planner.environments.finding_agent import RandomSteps
from attribute_planner.environments.gymnasium_bridge.actions import Actions, actions_of
from attribute_planner.environments.gymnasium_bridge.describing import Describe, ReadValues, values_reader
from attribute_planner.environments.gymnasium_bridge.observations import (
    Encoder,
    encoder_by,
    encoder_for,
    find_markers,
    shows_cells,
)
from attribute_planner.environments.gymnasium_bridge.pool import EnvPool
from attribute_planner.environments.gymnasium_bridge.returned import RESET, STEP, checked_flag, checked_info, parts_of
from attribute_planner.environments.space_specs import Marker
from attribute_planner.environments.watchdog import WATCHDOG, HungError
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError


@dataclass(frozen=True, eq=False)
class Recipe:
    """What the user gave to make environments and to read their state.

    make: makes a new environment.
    attributes: the attributes.
    describe: returns attribute values by name; `None` if a detector is learned.
    encode_observation: converts an observation; `None` for the conversion that follows from its space.
    action_names: names of the actions, in order; `None` for their numbers.
    """

    make: Callable[[], gymnasium.Env]
    attributes: tuple[Attribute, ...]
    describe: Describe | None
    encode_observation: Callable[[Any], Any] | None
    action_names: Sequence[str] | None


@dataclass(frozen=True, eq=False)
class Bridge:
    """Environments, and the conversion of what goes in and out.

    name: name of the environment.
    pool: makes and keeps environments.
    encoder, action_map: conversion of observations and actions.
    read_values: returns the attribute values of a state; `None` if a detector is learned instead.
    """

    name: str
    pool: EnvPool
    encoder: Encoder
    action_map: Actions
    read_values: ReadValues | None


def build_bridge(
    recipe: Recipe,
    name: str | None = None,
    markers: Mapping[str, Marker] | None = None,
    episode_steps: int | None = None,
) -> Bridge:
    """The bridge to the environments that a recipe makes; the name is by default the Gymnasium id.

    markers: the agent in the observations, if it is known; `None`: it is looked for.
    episode_steps: steps after which an episode is ended.
    """
    pool = EnvPool(recipe.make)
    (first,) = pool.acquire(1)
    named = Named(name or default_name(first))
    action_map = actions_of(first.action_space, recipe.action_names)
    limit = LONGEST_EPISODE if episode_steps is None else min(episode_steps, LONGEST_EPISODE)
    bridge = Bridge(
        name=named.name,
        pool=pool,
        encoder=_encoder(first, recipe.encode_observation, named, markers, limit),
        action_map=action_map,
        read_values=None if recipe.describe is None else values_reader(recipe.describe, recipe.attributes),
    )
    pool.release([first])
    return bridge


def default_name(env: gymnasium.Env) -> str:
    """The Gymnasium id of an environment, or the name of its class."""
    return env.spec.id if env.spec is not None else type(env.unwrapped).__name__


@dataclass(frozen=True)
class Named:
    """The name of an environment, for messages before there is a bridge."""

    name: str


def _encoder(
    env: gymnasium.Env,
    encode: Callable[[Any], Any] | None,
    named: Named,
    markers: Mapping[str, Marker] | None,
    episode_steps: int,
) -> Encoder:
    example, info = _watched(named, "env.reset(seed=0)", lambda: parts_of(_first_reset(env), RESET))
    with blaming(named, "env.reset(seed=0)"):
        checked_info(info)
    if encode is None:
        space = env.observation_space
        with blaming(named, f"observation after env.reset(seed=0), in {space}"):
            encoder = encoder_for(space, example, markers or {})
            if markers is not None or not shows_cells(space, example):
                return encoder
        steps = _random_steps(env, example, named, episode_steps)
        return encoder_for(space, example, find_markers(space, _readable(steps, encoder)))
    if not callable(encode):
        raise ConfigurationError(f"encode_observation must be a function, not a {type(encode).__name__}.")
    with blaming(named, "encode_observation after env.reset(seed=0)"):
        return encoder_by(encode, example)


def _watched(named: Named, kind: str, call: Callable[[], Any]) -> Any:
    """The result of a call to the environment, which must return in time."""
    WATCHDOG.begin(f"{named.name}: {kind}")
    try:
        with blaming(named, kind):
            return call()
    except HungError as error:
        raise EnvironmentFaultError(f"{named.name}: {kind}: it {WATCHDOG.overdue}.") from error
    finally:
        WATCHDOG.end()


RANDOM_STEPS, LONGEST_EPISODE = 500, 100
"""Number of random steps in which the agent is looked for, where observations are grids or images, and the number after
which an episode is ended."""


def _random_steps(env: gymnasium.Env, first: Any, named: Named, episode_steps: int) -> RandomSteps:
    """Some random steps, from the first observation on. The environment is left in the middle of an episode."""
    space, age = env.action_space, 0
    space.seed(0)
    observations, actions, begins = [deepcopy(first)], [space.sample()], [True]
    for _ in range(RANDOM_STEPS):
        action, age = space.sample(), age + 1
        observation, over = _watched(named, "env.step", lambda action=action: _step(env, action))
        observations.append(observation)
        actions.append(action)
        begins.append(False)
        if over or age >= episode_steps:
            observations.append(_watched(named, "env.reset()", lambda: deepcopy(parts_of(env.reset(), RESET)[0])))
            actions.append(action)
            begins.append(True)
            age = 0
    with blaming(named, f"actions of {space}"):
        features = [np.asarray(gymnasium.spaces.flatten(space, action), np.float64) for action in actions]
        return RandomSteps(observations, np.stack(features), np.array(begins))


def _readable(steps: RandomSteps, encoder: Encoder) -> RandomSteps:
    """The steps before the first observation with a fault, which is reported with its place when it is met again."""
    for number, observation in enumerate(steps.observations):
        try:
            encoder.encode(observation)
        except Exception:  # whatever a user's observation may cause
            return RandomSteps(steps.observations[:number], steps.actions[:number], steps.begins[:number])
    return steps


def _step(env: gymnasium.Env, action: Any) -> tuple[Any, bool]:
    """A copy of the observation after a step, and whether the episode is over."""
    observation, _, terminated, truncated, _ = parts_of(env.step(action), STEP)
    over = checked_flag("terminated", terminated) | checked_flag("truncated", truncated)
    return deepcopy(observation), over


def _first_reset(env: gymnasium.Env) -> Any:
    """What a reset with a seed returns."""
    try:
        return env.reset(seed=0)
    except TypeError as error:
        if "argument 'seed'" not in str(error):
            raise
        raise EnvironmentFaultError(
            "reset takes no seed; it must be defined as reset(self, *, seed=None, options=None), and begin with "
            "super().reset(seed=seed)."
        ) from error
