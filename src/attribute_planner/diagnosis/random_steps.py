"""A few random steps of an environment, in which it shows what changes without the agent."""

from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float, Int

from attribute_planner.agent import Agent
from attribute_planner.data.random_actions import any_action
from attribute_planner.data.rollout import rollout
from attribute_planner.data.trajectories import Actor, Trajectories
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.environments.splits import flat_observation

Key = jax.Array

NUM_ENVS, STEPS = 16, 150
"""Number of environments, and steps of each."""

MAX_COMPONENTS = 4096
"""Larger observations are left out; attributes are looked at instead."""


@dataclass(frozen=True)
class RandomSteps:
    """Steps with random actions.

    values, after: attributes before and after the step.
    features: what was observed before it, with the attributes.
    action: a number for each kind of action; an action in a box is of the kind of its signs.
    env: the environment that took the step.
    """

    values: Int[np.ndarray, "n A"]
    after: Int[np.ndarray, "n A"]
    features: Float[np.ndarray, "n D"]
    action: Int[np.ndarray, " n"]
    env: Int[np.ndarray, " n"]


def random_steps(agent: Agent, *, key: Key) -> RandomSteps | None:
    """Random steps from fresh starts; `None` if several units act at once."""
    env = agent.env
    if env.num_units is not None:
        return None
    envs = env.vector_env(NUM_ENVS)
    try:
        steps = rollout(_UniformActions(env), envs, STEPS, space=env.attributes, key=key, detector=agent.detector)
    finally:
        envs.close()
    return _flat(agent, steps)


class _UniformActions(Actor[None]):
    """Acts uniformly at random. It is not traced: what runs once is not worth compiling."""

    env: Environment = eqx.field(static=True)
    traceable: ClassVar[bool] = False

    def begin(self, num_envs: int, *, key: Key) -> None:
        del num_envs, key

    def act(self, memory: None, observation: Observation, attributes: Any, *, key: Key) -> tuple[None, Action, None]:
        del memory, observation, attributes
        return None, any_action(self.env, NUM_ENVS, key=key), None


def _flat(agent: Agent, steps: Trajectories) -> RandomSteps:
    space, spec = agent.env.attributes, agent.env.observation
    values, after = (
        np.asarray(space.unpack(np.asarray(each))).reshape(-1, len(space))
        for each in (steps.attributes, steps.next_attributes)
    )
    features = values.astype(np.float32)
    if int(np.prod(spec.shape)) <= MAX_COMPONENTS:
        observed = np.asarray(flat_observation(np.asarray(steps.observation), spec))
        features = np.concatenate([observed.reshape(len(values), -1), features], axis=1)
    env = np.broadcast_to(np.arange(NUM_ENVS), np.asarray(steps.terminated).shape).reshape(-1)
    return RandomSteps(values, after, features, _kinds(steps.action, len(values)), env)


def _kinds(action: object, count: int) -> np.ndarray:
    """`int[n]` the kind of each action: listed ones as they are, points by the signs of their components."""
    leaves = [np.asarray(leaf).reshape(count, -1) for leaf in jax.tree.leaves(action)]
    codes = [leaf if np.issubdtype(leaf.dtype, np.integer) else np.sign(leaf) for leaf in leaves]
    return np.unique(np.concatenate(codes, axis=1).astype(int), axis=0, return_inverse=True)[1].reshape(-1)
