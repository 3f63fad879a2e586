"""What is needed to run a Gymnasium environment and to read its state. A worker process builds it from the recipe."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium

from attribute_planner.attributes.attribute import Attribute
from attribute_planner.environments.faults import blaming
from attribute_planner.environments.gymnasium_bridge.actions import Actions, actions_of
from attribute_planner.environments.gymnasium_bridge.describing import Describe, ReadValues, values_reader
from attribute_planner.environments.gymnasium_bridge.observations import Encoder, encoder_by, encoder_for
from attribute_planner.environments.gymnasium_bridge.pool import EnvPool
from attribute_planner.environments.gymnasium_bridge.returned import RESET, checked_info, parts_of
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


def build_bridge(recipe: Recipe, name: str | None = None) -> Bridge:
    """The bridge to the environments that a recipe makes; the name is by default the Gymnasium id."""
    pool = EnvPool(recipe.make)
    (first,) = pool.acquire(1)
    bridge = Bridge(
        name=name or default_name(first),
        pool=pool,
        encoder=_encoder(first, recipe.encode_observation, Named(name or default_name(first))),
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


def _encoder(env: gymnasium.Env, encode: Callable[[Any], Any] | None, named: Named) -> Encoder:
    WATCHDOG.begin(f"{named.name}: env.reset(seed=0)")
    try:
        with blaming(named, "env.reset(seed=0)"):
            example, info = parts_of(_first_reset(env), RESET)
            checked_info(info)
    except HungError as error:
        raise EnvironmentFaultError(f"{named.name}: env.reset(seed=0): it {WATCHDOG.overdue}.") from error
    finally:
        WATCHDOG.end()
    if encode is None:
        with blaming(named, f"observation after env.reset(seed=0), in {env.observation_space}"):
            return encoder_for(env.observation_space, example)
    if not callable(encode):
        raise ConfigurationError(f"encode_observation must be a function, not a {type(encode).__name__}.")
    with blaming(named, "encode_observation after env.reset(seed=0)"):
        return encoder_by(encode, example)


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
