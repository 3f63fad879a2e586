"""A few steps of an environment, random ones and those of the policy, which show what changes without the agent."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from attribute_planner.agent import Agent
from attribute_planner.data.random_actions import UniformActions
from attribute_planner.data.rollout import rollout
from attribute_planner.data.trajectories import Actor, Trajectories
from attribute_planner.environments.splits import given_observation
from attribute_planner.evaluation.attribute_report import unaffected_by_actions
from attribute_planner.phases.attempts import ReachNeighbours
from attribute_planner.phases.device_graph import graph_with_weights

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
    same: whether an attribute changes in the same way with other actions, if everything else is random as before.
    """

    values: Int[np.ndarray, "n A"]
    after: Int[np.ndarray, "n A"]
    features: Float[np.ndarray, "n D"]
    action: Int[np.ndarray, " n"]
    env: Int[np.ndarray, " n"]
    same: Bool[np.ndarray, " A"]


class PolicySteps(NamedTuple):
    """Steps of the policy towards random neighbouring sets: attributes before and after."""

    values: Int[np.ndarray, "n A"]
    after: Int[np.ndarray, "n A"]


def random_steps(agent: Agent, *, key: Key) -> RandomSteps | None:
    """Random steps from fresh starts; `None` if several units act at once."""
    env = agent.env
    if env.num_units is not None:
        return None
    steps, others = (_steps(agent, UniformActions(env, number), key=key) for number in range(2))
    return _flat(agent, steps, _same(agent, steps, others))


def policy_steps(agent: Agent, *, key: Key) -> PolicySteps:
    """Steps of the policy from fresh starts."""
    listing = agent.table.listing()
    graph = graph_with_weights(listing, np.ones(listing.num_edges))
    actor = ReachNeighbours(agent.policy, graph, agent.max_attempt_steps, stop_on_any_change=False)
    return PolicySteps(*_values(agent, _steps(agent, actor, key=key)))


def _steps(agent: Agent, actor: Actor, *, key: Key) -> Trajectories:
    envs = agent.env.vector_env(NUM_ENVS)
    try:
        return rollout(actor, envs, STEPS, space=agent.env.attributes, key=key, detector=agent.detector)
    finally:
        envs.close()


def _same(agent: Agent, steps: Trajectories, others: Trajectories) -> Bool[np.ndarray, " A"]:
    """Which attributes change, and have the same values in both, as long as no episode has ended."""
    over = [np.asarray(each.terminated) | np.asarray(each.truncated) for each in (steps, others)]
    continues = np.cumsum(over[0] | over[1], axis=0) == 0
    first, other = (
        np.asarray(agent.env.attributes.unpack(np.asarray(each.next_attributes))) for each in (steps, others)
    )
    return unaffected_by_actions(first, other, continues[..., None])


def _flat(agent: Agent, steps: Trajectories, same: Bool[np.ndarray, " A"]) -> RandomSteps:
    spec, (values, after) = agent.env.observation, _values(agent, steps)
    features = values.astype(np.float32)
    if int(np.prod(spec.shape)) <= MAX_COMPONENTS:
        observed = np.asarray(given_observation(np.asarray(steps.observation), spec))
        features = np.concatenate([observed.reshape(len(values), -1), features], axis=1)
    env = np.broadcast_to(np.arange(NUM_ENVS), np.asarray(steps.terminated).shape).reshape(-1)
    return RandomSteps(values, after, features, _kinds(steps.action, len(values)), env, same)


def _values(agent: Agent, steps: Trajectories) -> tuple[np.ndarray, np.ndarray]:
    """`int[n, A]` the attributes before and after each step."""
    space = agent.env.attributes
    before, after = (
        np.asarray(space.unpack(np.asarray(each))).reshape(-1, len(space))
        for each in (steps.attributes, steps.next_attributes)
    )
    return before, after


def _kinds(action: object, count: int) -> np.ndarray:
    """`int[n]` the kind of each action: listed ones as they are, points by the signs of their components."""
    leaves = [np.asarray(leaf).reshape(count, -1) for leaf in jax.tree.leaves(action)]
    codes = [leaf if np.issubdtype(leaf.dtype, np.integer) else np.sign(leaf) for leaf in leaves]
    return np.unique(np.concatenate(codes, axis=1).astype(int), axis=0, return_inverse=True)[1].reshape(-1)
