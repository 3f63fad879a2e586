"""Exploring on the graph itself: go by known transitions to where little is known, and try something there.

Each transition of the table is worth its bonus, rarer ones more, and what lies behind it. Value iteration on the table
finds out how much that is, so no network has to: it only has to learn how to take a transition, as in practice. Some
attempts are random, and so the graph grows.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.data.collecting import Actor, Arrival
from attribute_planner.data.random_actions import any_action, kept_up
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.environments.vector_env import where_batch
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.attempts import Aim, AimAtNeighbours, Aimed, Outcome
from attribute_planner.phases.device_graph import DeviceGraph, graph_with_weights
from attribute_planner.transitions.table import UNKNOWN, TransitionTable

Key = jax.Array

DISCOUNT = 0.97
"""How much less what is one transition farther away is worth."""
SWEEPS = 150
"""How many transitions far value iteration looks."""
SHARPNESS = 15.0
"""A neighbour is drawn by its worth to this power: one that is worth a tenth less than the best, a fifth as often."""
PRIOR_ATTEMPTS = 2.0
"""A transition that was never tried is believed to succeed; so many failures halve that belief."""


def seeking_graph(table: TransitionTable) -> DeviceGraph:
    """The table's graph, padded, in which neighbours are drawn by how much there is to be found behind them."""
    return graph_with_weights(table, attraction(table), padded=True)


def attraction(table: TransitionTable) -> np.ndarray:
    """`float64[E]` how much each edge attracts, relative to the best one out of the same set, which has 1."""
    bonus = (1 + table.visits + table.attempts) ** -0.5
    belief = (table.successes + PRIOR_ATTEMPTS) / (table.attempts + PRIOR_ATTEMPTS)
    worth = edge_worth(table, bonus, belief)
    best = np.zeros(table.num_nodes)
    np.maximum.at(best, table.source, worth)
    return (worth / best[table.source]) ** SHARPNESS


def edge_worth(table: TransitionTable, bonus: np.ndarray, belief: np.ndarray) -> np.ndarray:
    """`float64[E]` the bonus of each edge and of the best way on from its end, discounted by belief and distance."""
    leading = np.flatnonzero(np.diff(table.row_starts))
    starts = table.row_starts[leading]
    value, worth = np.zeros(table.num_nodes), bonus * belief
    for _ in range(SWEEPS if len(starts) else 0):
        worth = belief * (bonus + DISCOUNT * value[table.target])
        best = np.maximum.reduceat(worth, starts)
        if np.allclose(value[leading], best, rtol=1e-3):
            break
        value[leading] = best
    return worth


class Sought(NamedTuple):
    """What each copy is up to.

    aim: as in practice; its edge is `UNKNOWN` while a copy acts at random.
    held: `[B]` the random action that is kept up.
    """

    aim: Aim
    held: Action


class SeekTheRare(Actor[Sought]):
    """Aims at neighbours that lead to something rare; a share of the attempts, and all where nothing is known, acts
    at random instead.
    """

    aiming: AimAtNeighbours
    env: Environment = eqx.field(static=True)
    epsilon: float = eqx.field(static=True)
    action_repeat: float = eqx.field(static=True)

    def begin(self, num_envs: int) -> Sought:
        return Sought(self.aiming.begin(num_envs), any_action(self.env, num_envs, key=jax.random.key(0)))

    def act(
        self, memory: Sought, observation: Observation, values: jax.Array, *, key: Key
    ) -> tuple[Sought, Action, Aimed]:
        share_key, aim_key, action_key, held_key = jax.random.split(key, 4)
        begins = memory.aim.idle
        aim = self.aiming.choose(memory.aim, values, key=aim_key)
        at_random = jax.random.uniform(share_key, begins.shape) < self.epsilon
        aim = aim._replace(edge=jnp.where(begins & at_random, UNKNOWN, aim.edge))
        output = self.aiming.output(aim, observation, values)
        held = kept_up(self.env, memory.held, self.action_repeat, key=held_key)
        action = where_batch(aim.edge == UNKNOWN, held, output.sample(key=action_key))
        return Sought(aim, held), action, Aimed(aim.edge, action, output.log_prob(action), output.baseline)

    def observe(self, memory: Sought, arrival: Arrival) -> tuple[Sought, Outcome]:
        aim, outcome = self.aiming.observe(memory.aim, arrival)
        return memory._replace(aim=aim), outcome


def seeker(
    env: Environment,
    policy: GoalPolicy,
    graph: DeviceGraph,
    *,
    max_attempt_steps: int,
    epsilon: float,
    action_repeat: float,
) -> SeekTheRare:
    """The behaviour that explores on a graph."""
    return SeekTheRare(AimAtNeighbours(policy, graph, max_attempt_steps), env, epsilon, action_repeat)
