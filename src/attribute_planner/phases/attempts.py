"""Attempts at transitions: aiming at a neighbouring set, what came of it, and how that is scored and learned from.

Practice makes them to learn (step 3 of Algorithm 1); exploration on the graph makes them to get about.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from attribute_planner.data.collecting import Actor, Arrival, Trajectories
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.learning.reinforce import Batch
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.policy import GoalPolicy, PolicyOutput
from attribute_planner.phases.device_graph import DeviceGraph
from attribute_planner.phases.goal_sampling import edge_on_the_way
from attribute_planner.transitions.table import UNKNOWN

Key = jax.Array

STEP_REWARD = -0.01
"""What every step earns, unless configured otherwise; arriving earns 1."""
HINDSIGHT = 0.5
"""Which share of the attempts that ended elsewhere is learned from, unless configured otherwise."""


class Aim(NamedTuple):
    """What each copy is up to; `[B]` or `[B, W]`.

    source: the set in which the attempt began.
    edge: the edge of the table that it tries to take, `UNKNOWN` where there was none to choose.
    age: how many steps it has taken.
    idle: whether a new attempt begins at the next step.
    """

    source: jax.Array
    edge: jax.Array
    age: jax.Array
    idle: jax.Array


class Aimed(NamedTuple):
    """What the policy did, and thought then.

    edge: `[B]` the edge it was trying to take.
    """

    edge: jax.Array
    action: Action
    log_prob: jax.Array
    baseline: jax.Array


class Outcome(NamedTuple):
    """What a step meant for the attempt; `[B]` each.

    ended: the attempt is over: the attributes changed (or, where it goes on, it arrived), t_max was reached, or the
        episode ended for good.
    reached: it arrived where it was aimed.
    cut: the episode's time limit came first; nothing is known of how the attempt would have gone on.
    """

    ended: jax.Array
    reached: jax.Array
    cut: jax.Array


class AimAtNeighbours(Actor[Aim]):
    """Picks a neighbour of the current set, by visit counts, and acts towards it until the attempt is over.

    plans: with them, the neighbour on the way to a far set is picked, as long as there is one.
    stop_on_any_change: whether an attempt ends as soon as the attributes change, not only at its goal.
    """

    policy: GoalPolicy
    graph: DeviceGraph
    max_attempt_steps: int = eqx.field(static=True)
    deterministic: bool = eqx.field(static=True, default=False)
    plans: jax.Array | None = None
    stop_on_any_change: bool = eqx.field(static=True, default=True)

    def begin(self, num_envs: int) -> Aim:
        source = jnp.zeros((num_envs, self.graph.words.shape[1]), jnp.uint32)
        nothing = jnp.zeros(num_envs, jnp.int32)
        return Aim(source, nothing + UNKNOWN, nothing, jnp.ones(num_envs, bool))

    def act(self, memory: Aim, observation: Observation, values: jax.Array, *, key: Key) -> tuple[Aim, Action, Aimed]:
        goal_key, action_key = jax.random.split(key)
        aim = self.choose(memory, values, key=goal_key)
        output = self.output(aim, observation, values)
        action = output.mode() if self.deterministic else output.sample(key=action_key)
        return aim, action, Aimed(aim.edge, action, output.log_prob(action), output.baseline)

    def choose(self, memory: Aim, values: jax.Array, *, key: Key) -> Aim:
        """The aims as they were, and new ones where an attempt begins."""
        words = jnp.asarray(self.graph.space.pack(values))
        number = self.graph.locate(words)
        fresh = self.graph.random_neighbour(number, key=key)
        if self.plans is not None:
            fresh = edge_on_the_way(self.plans, number, fresh)
        return Aim(
            source=jnp.where(memory.idle[:, None], words, memory.source),
            edge=jnp.where(memory.idle, fresh, memory.edge),
            age=jnp.where(memory.idle, 0, memory.age),
            idle=jnp.zeros_like(memory.idle),
        )

    def output(self, aim: Aim, observation: Observation, values: jax.Array) -> PolicyOutput:
        """What the policy thinks of the aims."""
        return self.policy(observation, values, goal_values(self.graph, aim.edge))

    def observe(self, memory: Aim, arrival: Arrival) -> tuple[Aim, Outcome]:
        age = memory.age + 1
        reached = jnp.all(arrival.words == self.graph.target_words(memory.edge), axis=-1) & (memory.edge != UNKNOWN)
        over = jnp.any(arrival.words != memory.source, axis=-1) if self.stop_on_any_change else reached
        ended = over | (age >= self.max_attempt_steps) | arrival.terminated
        cut = jnp.asarray(arrival.truncated) & ~ended
        return memory._replace(age=age, idle=ended | cut), Outcome(ended, reached, cut)

    def has_nothing_to_do(self, words: jax.Array) -> jax.Array:
        """A set from which exploration never saw a way on offers nothing to practise."""
        return ~self.graph.leads_on(self.graph.locate(words))


def goal_values(graph: DeviceGraph, edge: jax.Array) -> jax.Array:
    """`int32[..., A]` the attribute values that an edge leads to; none for `UNKNOWN`."""
    values = jnp.asarray(graph.space.unpack(graph.target_words(edge)))
    return jnp.where((edge != UNKNOWN)[..., None], values, NO_VALUE)


@jax.jit
def add_attempts(score: jax.Array, trajectories: Trajectories) -> jax.Array:
    """`int32[3, E]` attempts, successes and steps per edge with those of the experience added.

    They belong to the pair that was aimed at, wherever the attempt ended. What a time limit cut off says nothing.
    """
    outcome: Outcome = trajectories.outcome
    edge = trajectories.record.edge
    counted = outcome.ended & (edge != UNKNOWN)
    # An edge past the end is dropped.
    place = jnp.where(counted, edge, score.shape[1])
    score = score.at[0, place].add(1, mode="drop")
    score = score.at[1, place].add(outcome.reached.astype(jnp.int32), mode="drop")
    return score.at[2, jnp.where(edge == UNKNOWN, score.shape[1], edge)].add(1, mode="drop")


@eqx.filter_jit
def attempt_batch(
    graph: DeviceGraph, trajectories: Trajectories, *, step_reward: float, hindsight_share: float, key: Key
) -> Batch:
    """The experience as steps to learn from: 1 for arriving, a small cost for every step."""
    record: Aimed = trajectories.record
    outcome: Outcome = trajectories.outcome
    chance, landed = hindsight(trajectories, hindsight_share, key=key)
    arrived = outcome.reached | (chance & outcome.ended)
    return Batch(
        observation=trajectories.observation,
        values=jnp.asarray(graph.space.unpack(trajectories.words)),
        goal=jnp.where(chance[..., None], graph.space.unpack(landed), goal_values(graph, record.edge)),
        action=record.action,
        log_prob=record.log_prob,
        baseline=record.baseline,
        reward=step_reward + arrived.astype(jnp.float32),
        ended=outcome.ended,
        cut=outcome.cut,
        weight=((record.edge != UNKNOWN) | chance).astype(jnp.float32),
        imitate=chance,
    )


def ended_elsewhere(trajectories: Trajectories) -> jax.Array:
    """`[T, B]` whether an attempt ended with a step into another set than the one aimed at."""
    outcome: Outcome = trajectories.outcome
    changed = jnp.any(trajectories.words != trajectories.arrival.words, axis=-1)
    return outcome.ended & ~outcome.reached & changed


def hindsight(trajectories: Trajectories, share: float, *, key: Key) -> tuple[jax.Array, jax.Array]:
    """Attempts that ended elsewhere show how to get there.

    `[T, B]` whether a step belongs to a chosen one of them, and `uint32[T, B, W]` the set in which its attempt ended.
    """
    outcome: Outcome = trajectories.outcome
    arrived = jnp.asarray(trajectories.arrival.words)
    chosen = ended_elsewhere(trajectories) & (jax.random.uniform(key, outcome.ended.shape) < share)

    def backwards(later: tuple[jax.Array, jax.Array], step: tuple[jax.Array, ...]):
        ended, cut, chosen, arrived = step
        chance = jnp.where(ended, chosen, later[0] & ~cut)
        landed = jnp.where(ended[..., None], arrived, later[1])
        return (chance, landed), (chance, landed)

    unknown = (jnp.zeros_like(chosen[0]), arrived[0])
    return jax.lax.scan(backwards, unknown, (outcome.ended, outcome.cut, chosen, arrived), reverse=True)[1]
