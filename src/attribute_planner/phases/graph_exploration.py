"""Graph exploration: follow known transitions towards rare ones, and take random actions there.

The value of a transition is its bonus, larger for rarer ones, plus the discounted value of its target. Value
iteration on the table computes it; the policy only learns to take transitions, as in practice. Some attempts are
random, so that new transitions are found.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from attribute_planner.data.random_actions import any_action, kept_up
from attribute_planner.data.trajectories import TracedActor
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.environments.vector_env import TimeStep, where_batch
from attribute_planner.phases.attempts import Attempt, AttemptInfo, Outcome, ReachNeighbours, info_of
from attribute_planner.phases.device_graph import DeviceGraph, graph_with_weights
from attribute_planner.transitions.model import TransitionModel
from attribute_planner.transitions.numbering import UNKNOWN

Key = jax.Array

DISCOUNT = 0.97
"""Discount of the value of the next set."""
SWEEPS = 150
"""Largest number of sweeps of value iteration."""
SHARPNESS = 15.0
"""Neighbours are drawn by their value to this power: one a tenth below the best is drawn a fifth as often."""
PRIOR_ATTEMPTS = 2.0
"""Prior attempts, all successful, of each transition: that many failures halve its estimated success."""


def exploration_graph(model: TransitionModel) -> DeviceGraph:
    """The model's graph, padded, in which neighbours are drawn by their exploration value."""
    return graph_with_weights(model, draw_weights(model), padded=True)


def draw_weights(model: TransitionModel) -> Float[np.ndarray, " E"]:
    """The draw weight of each edge, relative to the best one out of the same set, which has 1."""
    listing = model.listing()
    bonus = (1 + listing.visits + listing.attempts) ** -0.5
    success = (listing.successes + PRIOR_ATTEMPTS) / (listing.attempts + PRIOR_ATTEMPTS)
    value = edge_values(listing, bonus, success)
    best = np.zeros(listing.num_nodes)
    np.maximum.at(best, listing.source, value)
    return (value / best[listing.source]) ** SHARPNESS


def edge_values(
    model: TransitionModel, bonus: Float[np.ndarray, " E"], success: Float[np.ndarray, " E"]
) -> Float[np.ndarray, " E"]:
    """The bonus of each edge plus the discounted value of its target, times its success."""
    listing = model.listing()
    leading = np.flatnonzero(np.diff(listing.row_starts))
    starts = listing.row_starts[leading]
    value, edge_value = np.zeros(listing.num_nodes), bonus * success
    for _ in range(SWEEPS if len(starts) else 0):
        edge_value = success * (bonus + DISCOUNT * value[listing.target])
        best = np.maximum.reduceat(edge_value, starts)
        if np.allclose(value[leading], best, rtol=1e-3):
            break
        value[leading] = best
    return edge_value


class GraphMemory(NamedTuple):
    """attempt: as in practice; its edge is `UNKNOWN` while an environment takes random actions.
    held: `[B]` the random action that is repeated.
    """

    attempt: Attempt
    held: Action


class GraphExplorer(TracedActor[GraphMemory]):
    """Pursues neighbours that lead to rare transitions. A fraction of the attempts takes random actions instead, and so
    do all attempts from unknown sets.
    """

    reach: ReachNeighbours
    env: Environment = eqx.field(static=True)
    epsilon: float = eqx.field(static=True)
    action_repeat: float = eqx.field(static=True)

    def begin(self, num_envs: int, *, key: Key) -> GraphMemory:
        reach_key, held_key = jax.random.split(key)
        return GraphMemory(self.reach.begin(num_envs, key=reach_key), any_action(self.env, num_envs, key=held_key))

    def act(
        self, memory: GraphMemory, observation: Observation, attributes: Int[jax.Array, "B A"], *, key: Key
    ) -> tuple[GraphMemory, Action, AttemptInfo]:
        random_key, goal_key, action_key, held_key = jax.random.split(key, 4)
        begins = memory.attempt.idle
        attempt = self.reach.choose(memory.attempt, attributes, key=goal_key)
        at_random = jax.random.uniform(random_key, begins.shape) < self.epsilon
        attempt = attempt._replace(
            edge=jnp.where(begins & at_random, UNKNOWN, attempt.edge), pursues=attempt.pursues & ~(begins & at_random)
        )
        output = self.reach.output(attempt, observation, attributes)
        held = kept_up(self.env, memory.held, self.action_repeat, key=held_key)
        action = where_batch(~attempt.pursues, held, output.sample(key=action_key))
        return GraphMemory(attempt, held), action, info_of(attempt, output, action)

    def observe(self, memory: GraphMemory, timestep: TimeStep) -> tuple[GraphMemory, Outcome]:
        attempt, outcome = self.reach.observe(memory.attempt, timestep)
        return memory._replace(attempt=attempt), outcome
