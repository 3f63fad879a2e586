"""Checks of what an environment declares and returns; each raises a one-line error that says what is wrong."""

import numpy as np

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.environments.faults import blaming as blaming
from attribute_planner.environments.faults import check_image as check_image
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import (
    ABSENT,
    Box,
    Discrete,
    FlatSpec,
    ImageSpec,
    Mixed,
    Observation,
    UnitObservation,
    VectorSpec,
    WordsSpec,
)
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.errors import EnvironmentFaultError


def check_declaration(env: Environment) -> None:
    """Check the types of what an environment declares."""
    for name, kinds in {
        "attributes": AttributeSpace,
        "observation": WordsSpec | VectorSpec | FlatSpec | ImageSpec,
        "actions": Discrete | Box | Mixed,
        "episode_steps": int,
        "num_units": int | None,
        "has_attribute_fn": bool,
    }.items():
        value = getattr(env, name)
        if not isinstance(value, kinds):
            raise EnvironmentFaultError(f"{name} is a {type(value).__name__}; it must be {_shown(kinds)}.")
    if env.episode_steps < 1:
        raise EnvironmentFaultError(f"episode_steps is {env.episode_steps}; it must be at least 1.")
    for name, task in env.tasks.items():
        if not isinstance(task, Task) or task.name != name:
            raise EnvironmentFaultError(f"tasks[{name!r}] must be a Task of that name; it is {task!r}.")
    for task in (*env.tasks.values(), *env.curriculum):
        if task.max_steps < 1:
            raise EnvironmentFaultError(f"task {task.name!r} allows {task.max_steps} steps; it must allow at least 1.")


def check_timestep(env: Environment, timestep: TimeStep, num_envs: int) -> None:
    """Check a time step of `num_envs` environments against the environment's spec."""
    check_observation(env, timestep.observation, num_envs)
    for name in ("terminated", "truncated"):
        check_array(name, getattr(timestep, name), (num_envs,), np.dtype(bool))
    if timestep.attributes is None:
        if env.has_attribute_fn:
            raise EnvironmentFaultError("there are no attribute values, although has_attribute_fn is true.")
        return
    values = np.asarray(timestep.attributes)
    if not np.issubdtype(values.dtype, np.integer):
        raise EnvironmentFaultError(f"the attribute values are {values.dtype}; they must be integers.")
    if values.shape != (num_envs, len(env.attributes)):
        raise EnvironmentFaultError(
            f"the attribute values have shape {values.shape}; they must have {(num_envs, len(env.attributes))}."
        )
    env.attributes.validate(values, "describe")


def check_observation(env: Environment, observation: Observation, num_envs: int) -> None:
    """Check shape, type and range of a batch of observations."""
    spec = env.observation
    if env.num_units is None:
        batch = (num_envs,)
        if isinstance(observation, UnitObservation):
            raise EnvironmentFaultError("the observation is a UnitObservation, but the environment has no units.")
    else:
        batch = (num_envs, env.num_units)
        if not isinstance(observation, UnitObservation):
            raise EnvironmentFaultError("the environment has units, so its observation must be a UnitObservation.")
        check_array("the observation's mask of active units", observation.active, batch, np.dtype(bool))
        observation = observation.values
    check_array("the observation", observation, batch + spec.shape, spec.dtype)
    observation = np.asarray(observation)
    if not np.isfinite(observation).all():
        kind = "NaN" if np.isnan(observation).any() else "an infinite number"
        raise EnvironmentFaultError(f"the observation contains {kind}.")
    if isinstance(spec, WordsSpec):
        wrong = observation[(observation < ABSENT) | (observation >= spec.vocabulary)]
        if wrong.size:
            raise EnvironmentFaultError(
                f"the observation contains word {wrong[0]}; there are words 0 to {spec.vocabulary - 1}, and {ABSENT}."
            )


def check_array(name: str, array: object, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Check shape and type of an array."""
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        raise EnvironmentFaultError(f"{name} is a {type(array).__name__}; it must be an array.")
    found = np.asarray(array)
    if found.shape != shape:
        raise EnvironmentFaultError(f"{name} has shape {found.shape}; it must have {shape}.")
    if found.dtype != dtype:
        raise EnvironmentFaultError(f"{name} has type {found.dtype}; it must have {dtype}.")


def check_goals(space: AttributeSpace, goals: Goal, count: int) -> None:
    """Check a batch of goals."""
    values, wanted = np.asarray(goals.values), np.asarray(goals.wanted)
    check_array("goal.wanted", wanted, (count, len(space)), np.dtype(bool))
    if values.shape != wanted.shape:
        raise EnvironmentFaultError(f"goal.values has shape {values.shape}; it must have {wanted.shape}.")
    if goals.at_least is not None:
        check_array("goal.at_least", goals.at_least, wanted.shape, np.dtype(bool))
        numbers = np.array([attribute.is_integer for attribute in space])
        if (wanted & np.asarray(goals.at_least) & ~numbers).any():
            raise EnvironmentFaultError("a goal has a lower bound on an attribute that is not an integer.")
    if not wanted.any(axis=-1).all():
        raise EnvironmentFaultError("a goal is empty: no attribute is wanted.")
    space.validate(np.where(wanted, values, 0), "goal")


def _shown(kinds: object) -> str:
    return getattr(kinds, "__name__", None) or str(kinds).replace("attribute_planner.environments.spaces.", "")
