"""What is needed to run a Gymnasium environment and to read its state. A worker process builds it from the recipe."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from attribute_planner.attributes.attribute import Attribute
from attribute_planner.environments.centring import RandomSteps
from attribute_planner.environments.faults import blaming
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
from attribute_planner.environments.gymnasium_bridge.returned import RESET, STEP, checked_info, parts_of
from attribute_planner.environments.seen_from_agent import markers_in
from attribute_planner.environments.space_specs import FlatSpec
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


def build_bridge(recipe: Recipe, name: str | None = None, spec: FlatSpec | None = None) -> Bridge:
    """The bridge to the environments that a recipe makes; the name is by default the Gymnasium id.

    spec: the form of the observations, if another process has found it out.
    """
    pool = EnvPool(recipe.make)
    (first,) = pool.acquire(1)
    bridge = Bridge(
        name=name or default_name(first),
        pool=pool,
        encoder=_encoder(first, recipe.encode_observation, Named(name or default_name(first)), spec),
        action_map=actions_of(first.action_space, recipe.action_names),
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


def _encoder(env: gymnasium.Env, encode: Callable[[Any], Any] | None, named: Named, spec: FlatSpec | None) -> Encoder:
    example, info = _watched(named, "env.reset(seed=0)", lambda: parts_of(_first_reset(env), RESET))
    with blaming(named, "env.reset(seed=0)"):
        checked_info(info)
    if encode is None:
        with blaming(named, f"observation after env.reset(seed=0), in {env.observation_space}"):
            if spec is not None:
                return encoder_for(env.observation_space, example, markers_in(spec))
            if not shows_cells(env.observation_space, example):
                return encoder_for(env.observation_space, example)
        steps = _random_steps(env, example, named)
        with blaming(named, f"observation, in {env.observation_space}"):
            return encoder_for(env.observation_space, example, find_markers(env.observation_space, steps))
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


RANDOM_STEPS = 500
"""Number of random steps in which the agent is looked for, where observations are grids or images."""


def _random_steps(env: gymnasium.Env, first: Any, named: Named) -> RandomSteps:
    """Some random steps, from the first observation on. The environment is left in the middle of an episode."""
    env.action_space.seed(0)
    observations, actions, begins = [first], [env.action_space.sample()], [True]
    for _ in range(RANDOM_STEPS):
        action = env.action_space.sample()
        stepped = _watched(named, "env.step", lambda action=action: parts_of(env.step(action), STEP))
        observations.append(stepped[0])
        actions.append(action)
        begins.append(False)
        if stepped[2] or stepped[3]:
            observations.append(_watched(named, "env.reset()", lambda: parts_of(env.reset(), RESET))[0])
            actions.append(action)
            begins.append(True)
    # Choices are one-hot.
    features = [np.asarray(gymnasium.spaces.flatten(env.action_space, action), np.float64) for action in actions]
    return RandomSteps(observations, np.stack(features), np.array(begins))


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
