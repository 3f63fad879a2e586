"""Random goals: sets that were seen, pursued from fresh starts."""

from typing import Any

import jax
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from attribute_planner.agent import Agent
from attribute_planner.attributes import Goal
from attribute_planner.environments.hidden_attributes import without_hidden_attributes
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.executor import EXECUTORS
from attribute_planner.transitions.model import Listing
from attribute_planner.transitions.numbering import UNKNOWN

Key = jax.Array


def pursue_random_goals(agent: Agent, count: int, *, key: Key) -> list[Episode]:
    """`count` episodes from fresh starts; goals are random sets to which observed transitions lead from there."""
    reset_key, goal_key, pursue_key = jax.random.split(key, 3)
    envs, limit = agent.env.vector_env(count), agent.env.episode_steps
    try:
        timestep = envs.reset(reset_key)
        starts = agent.detect(timestep)
        goals = random_goals(agent, starts, np.random.default_rng(np.asarray(jax.random.key_data(goal_key))))
        return agent.pursue(envs, timestep, goals, limit, EXECUTORS["default"], key=pursue_key)
    finally:
        envs.close()


def random_goals(agent: Agent, starts: np.ndarray, random: np.random.Generator) -> list[Goal]:
    """A set for each start `[B, A]`, drawn from those that observed transitions lead to; if there are none, from all.

    Hidden attributes are not asked for. What cannot change in an episode, such as a destination, stays as it is: a
    goal that no episode has ever reached from there is not counted as a failure.
    """
    listing, space = agent.table.listing(), agent.env.attributes
    given = len(without_hidden_attributes(agent.env).attributes)
    wanted = np.arange(len(space)) < given
    seen, ways = listing.visits > 0, {}
    graph = csr_array(
        (np.ones(seen.sum()), (listing.source[seen], listing.target[seen])), shape=(listing.num_nodes,) * 2
    )
    goals = []
    for start in starts:
        number = listing.number_of(start)
        if number not in ways:
            ways[number] = _targets(listing, graph, number, start, given)
        goals.append(Goal(listing.values[random.choice(ways[number])], wanted))
    return goals


def _targets(listing: Listing, graph: Any, number: int, start: np.ndarray, given: int) -> np.ndarray:
    """The sets that can be reached and differ from the start; all others if there are none."""
    differs = (listing.values[:, :given] != start[:given]).any(axis=1)
    if number != UNKNOWN:
        reached = np.zeros(listing.num_nodes, bool)
        reached[breadth_first_order(graph, number, return_predecessors=False)] = True
        if (reached & differs).any():
            return np.flatnonzero(reached & differs)
    return np.flatnonzero(differs)
