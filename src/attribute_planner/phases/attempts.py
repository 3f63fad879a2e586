"""Attempts at transitions: pursuing a neighbouring set, the outcome, its statistics, and a batch to learn from.

Practice makes attempts to learn (step 3 of Algorithm 1); graph exploration makes them to move.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.trajectories import Actor, Trajectories
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.learning.policy_gradient import Batch
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.policy import GoalPolicy, PolicyOutput
from attribute_planner.phases.device_graph import DeviceGraph
from attribute_planner.phases.goal_sampling import FarSets, edge_on_the_way
from attribute_planner.transitions.table import UNKNOWN

Key = jax.Array

STEP_REWARD = -0.01
"""Default reward of every step; reaching the target adds 1."""
HINDSIGHT = 0.5
"""Default fraction of the attempts that ended in another set and are used as examples of reaching it."""


class Attempt(NamedTuple):
    """The attempt of each environment; `[B]` or `[B, W]`.

    source, target: the packed sets in which it began and which it pursues.
    edge: the number of the edge between them, `UNKNOWN` where there is none.
    pursues: whether there is a target at all.
    far: the distant set that the environment is travelling to, as a position in `ReachNeighbours.far`.
    age: number of steps so far.
    idle: whether a new attempt begins at the next step.
    episode_age: number of steps of the episode.
    restart: whether to end the episode.
    """

    source: jax.Array
    target: jax.Array
    edge: jax.Array
    pursues: jax.Array
    far: jax.Array
    age: jax.Array
    idle: jax.Array
    episode_age: jax.Array
    restart: jax.Array


class AttemptInfo(NamedTuple):
    """The decision; `[B]` each.

    edge: the edge that is attempted.
    target: the packed set that is pursued.
    pursues: whether there is one.
    age: the steps that the attempt had taken before.
    log_prob, value: of the action, and of the situation.
    """

    edge: jax.Array
    target: jax.Array
    pursues: jax.Array
    age: jax.Array
    log_prob: jax.Array
    value: jax.Array


class Outcome(NamedTuple):
    """The result of a step for the attempt; `bool[B]` each.

    ended: the attempt is over: the attributes changed (or, if it does not stop on any change, the target was reached),
        t_max was reached, or the episode terminated.
    reached: the target was reached.
    """

    ended: jax.Array
    reached: jax.Array


class ReachNeighbours(Actor[Attempt]):
    """Draws a neighbour of the current set and acts towards it until the attempt is over.

    far: distant sets; the neighbour is the next set on the path to one of them, if there is a path.
    draws_far: whether each environment draws one of the distant sets that it can reach, and another one when it has
        arrived or its episode is over; otherwise the set follows from its position in the batch.
    stop_on_any_change: whether an attempt ends as soon as the attributes change, not only at its target.
    last_start: the age of an episode from which on no attempt begins; the episode is then ended, as it is in a set
        without neighbours. `None`: episodes are never ended.
    """

    policy: GoalPolicy
    graph: DeviceGraph
    max_attempt_steps: int = eqx.field(static=True)
    deterministic: bool = eqx.field(static=True, default=False)
    far: FarSets | None = None
    stop_on_any_change: bool = eqx.field(static=True, default=True)
    last_start: int | None = eqx.field(static=True, default=None)
    draws_far: bool = eqx.field(static=True, default=False)

    def begin(self, num_envs: int, *, key: Key) -> Attempt:
        del key
        words = jnp.zeros((num_envs, self.graph.words.shape[1]), jnp.uint32)
        zeros, no = jnp.zeros(num_envs, jnp.int32), jnp.zeros(num_envs, bool)
        return Attempt(words, words, zeros + UNKNOWN, no, zeros + UNKNOWN, zeros, ~no, zeros, no)

    def act(
        self, memory: Attempt, observation: Observation, attributes: jax.Array, *, key: Key
    ) -> tuple[Attempt, Action, AttemptInfo]:
        goal_key, action_key = jax.random.split(key)
        attempt = self.choose(memory, attributes, key=goal_key)
        output = self.output(attempt, observation, attributes)
        action = output.mode() if self.deterministic else output.sample(key=action_key)
        return attempt, action, info_of(attempt, output, action)

    def choose(self, memory: Attempt, attributes: jax.Array, *, key: Key) -> Attempt:
        """The current attempts, and new ones where they begin."""
        words = jnp.asarray(self.graph.space.pack(attributes))
        number = self.graph.locate(words)
        edge_key, far_key = jax.random.split(key)
        edge = self.graph.random_neighbour(number, key=edge_key if self.draws_far else key)
        if self.far is not None and self.draws_far:
            far, edge = self.far.keep_or_draw(memory.far, number, edge, key=far_key)
            memory = memory._replace(far=jnp.where(memory.idle, far, memory.far))
        elif self.far is not None:
            edge = edge_on_the_way(self.far.edges, number, edge)
        return self.begin_attempts(memory, words, edge, memory.idle)

    def begin_attempts(self, memory: Attempt, words: jax.Array, edge: jax.Array, begins: jax.Array) -> Attempt:
        """The current attempts, and new ones from packed sets `[B, W]` along an edge `[B]` where they begin."""
        return memory._replace(
            source=jnp.where(begins[:, None], words, memory.source),
            target=jnp.where(begins[:, None], self.graph.target_words(edge), memory.target),
            edge=jnp.where(begins, edge, memory.edge),
            pursues=jnp.where(begins, edge != UNKNOWN, memory.pursues),
            age=jnp.where(begins, 0, memory.age),
            idle=jnp.zeros_like(begins),
        )

    def output(self, attempt: Attempt, observation: Observation, attributes: jax.Array) -> PolicyOutput:
        """The output of the policy for the targets."""
        values = jnp.asarray(self.graph.space.unpack(attempt.target))
        goal = jnp.where(attempt.pursues[:, None], values, NO_VALUE)
        return self.policy(observation, attributes, goal)

    def observe(self, memory: Attempt, timestep: TimeStep) -> tuple[Attempt, Outcome]:
        words = self.graph.space.pack(jnp.asarray(timestep.attributes))
        age, episode_age, pursues = memory.age + 1, memory.episode_age + 1, memory.pursues
        reached = jnp.all(words == memory.target, axis=-1) & pursues
        over = jnp.any(words != memory.source, axis=-1) if self.stop_on_any_change else reached
        ended = over | (age >= self.max_attempt_steps) | timestep.terminated
        restart = jnp.zeros_like(ended)
        if self.last_start is not None:
            ended |= ~pursues
            restart = ended & ~(pursues & (episode_age < self.last_start))
        episode_over = restart | timestep.terminated | timestep.truncated
        memory = memory._replace(
            age=age,
            far=jnp.where(episode_over, UNKNOWN, memory.far),
            idle=ended | episode_over,
            episode_age=jnp.where(episode_over, 0, episode_age),
            restart=restart,
        )
        return memory, Outcome(ended, reached)

    def wants_reset(self, memory: Attempt, timestep: TimeStep) -> jax.Array | None:
        del timestep
        return None if self.last_start is None else memory.restart


def info_of(attempt: Attempt, output: PolicyOutput, action: Action) -> AttemptInfo:
    """The record of a decision."""
    return AttemptInfo(
        attempt.edge,
        attempt.target,
        attempt.pursues,
        attempt.age,
        output.log_prob(action),
        output.baseline,
    )


def goal_values(graph: DeviceGraph, edge: jax.Array) -> jax.Array:
    """`int32[..., A]` the attribute values that an edge leads to; `NO_VALUE` for `UNKNOWN`."""
    values = jnp.asarray(graph.space.unpack(graph.target_words(edge)))
    return jnp.where((edge != UNKNOWN)[..., None], values, NO_VALUE)


def pursued_values(space: AttributeSpace, trajectories: Trajectories) -> np.ndarray:
    """`int32[T, B, A]` the set that each step pursued; `NO_VALUE` where there was none."""
    info: AttemptInfo = trajectories.info
    values = np.asarray(space.unpack(np.asarray(info.target)))
    return np.where(np.asarray(info.pursues)[..., None], values, NO_VALUE)


class EndedAttempts(NamedTuple):
    """Attempts at edges that are over, `[N]` each.

    edge: the edge.
    reached: whether it arrived.
    steps: the steps that it took.
    weight: 1, or for an attempt that was cut off the fraction of t_max that it had.
    """

    edge: np.ndarray
    reached: np.ndarray
    steps: np.ndarray
    weight: np.ndarray

    def counts(self, num_edges: int) -> np.ndarray:
        """`float64[3, E]` attempts, successes and steps of each edge."""
        columns = (self.weight, self.reached.astype(float), self.steps)
        counts = np.zeros((3, num_edges))
        for count, column in zip(counts, columns, strict=True):
            np.add.at(count, self.edge, column)
        return counts


def ended_attempts(trajectories: Trajectories, max_attempt_steps: int, *, last: bool) -> EndedAttempts:
    """The attempts that ended within a rollout; those under way at its end are cut off if it is the `last` one.

    An attempt that is cut off has not arrived so far, but might have arrived later: it counts as the fraction of an
    attempt that it had. Dropping it would favour attempts that arrive soon; counting it as a failure, attempts that
    begin early.
    """
    info: AttemptInfo = trajectories.info
    outcome: Outcome = trajectories.outcome
    ended = np.asarray(outcome.ended)
    over = ended | np.asarray(trajectories.truncated)
    if last:
        over[-1] = True
    which = over & (np.asarray(info.edge) != UNKNOWN)
    steps = np.asarray(info.age)[which] + 1.0
    weight = np.where(ended[which], 1.0, np.minimum(steps / max_attempt_steps, 1.0))
    edge, reached = (np.asarray(each)[which] for each in (info.edge, outcome.reached))
    return EndedAttempts(edge, reached, steps, weight)


def log_attempts(log: AttemptLog, trajectories: Trajectories, first: int) -> None:
    """Record the attempts that ended within a rollout; `first`: the number of its first step in the replay buffer."""
    info: AttemptInfo = trajectories.info
    outcome: Outcome = trajectories.outcome
    step, env = np.nonzero(np.asarray(outcome.ended) & (np.asarray(info.edge) != UNKNOWN))
    log.add(first + step, env, np.asarray(info.age)[step, env], np.asarray(outcome.reached)[step, env])


def count_attempts(
    counts: jax.Array, trajectories: Trajectories, steps_left: jax.Array | None = None, horizon: jax.Array | int = 0
) -> jax.Array:
    """`int32[3, E]` attempts, successes and steps of each edge, with those of the trajectories added.

    An attempt counts for the edge that it pursued, whichever set it ended in. One that the end of its episode cuts off
    counts as a failure.

    steps_left: `int32[T]` the steps that will follow each step. An attempt counts only if at least `horizon` steps
        were left when it began: otherwise slow attempts, which fail more often, would be missing at the end.
    """
    outcome: Outcome = trajectories.outcome
    info: AttemptInfo = trajectories.info
    known = info.edge != UNKNOWN
    if steps_left is not None:
        known &= steps_left[:, None] + 1 + info.age >= horizon
    counted = (outcome.ended | trajectories.truncated) & known
    # An edge past the end is dropped.
    none = counts.shape[1]
    place = jnp.where(counted, info.edge, none)
    counts = counts.at[0, place].add(1, mode="drop")
    counts = counts.at[1, place].add(outcome.reached.astype(jnp.int32), mode="drop")
    return counts.at[2, jnp.where(known, info.edge, none)].add(1, mode="drop")


def attempt_batch(
    graph: DeviceGraph, trajectories: Trajectories, *, step_reward: float, hindsight_share: float, key: Key
) -> Batch:
    """The attempts as steps to learn from: `step_reward` for every step, and 1 for reaching the target."""
    info: AttemptInfo = trajectories.info
    outcome: Outcome = trajectories.outcome
    relabelled, landed = hindsight(trajectories, hindsight_share, key=key)
    arrived = outcome.reached | (relabelled & outcome.ended)
    return Batch(
        observation=trajectories.observation,
        values=jnp.asarray(graph.space.unpack(jnp.asarray(trajectories.attributes))),
        goal=jnp.where(relabelled[..., None], graph.space.unpack(landed), goal_values(graph, info.edge)),
        action=trajectories.action,
        log_prob=info.log_prob,
        value=info.value,
        reward=step_reward + arrived.astype(jnp.float32),
        ended=outcome.ended,
        cut=jnp.asarray(trajectories.truncated) & ~outcome.ended,
        weight=((info.edge != UNKNOWN) | relabelled).astype(jnp.float32),
        imitate=relabelled,
    )


def ended_elsewhere(trajectories: Trajectories) -> jax.Array:
    """`bool[T, B]` whether an attempt ended with a step into another set than its target."""
    outcome: Outcome = trajectories.outcome
    return outcome.ended & ~outcome.reached & trajectories.changed


def hindsight(trajectories: Trajectories, share: float, *, key: Key) -> tuple[jax.Array, jax.Array]:
    """A random fraction of the attempts that ended in another set, as examples of reaching it.

    `bool[T, B]` whether a step belongs to one of them, and `uint32[T, B, W]` the set in which its attempt ended. Steps
    of another episode never do.
    """
    outcome: Outcome = trajectories.outcome
    arrived = jnp.asarray(trajectories.next_attributes)
    chosen = ended_elsewhere(trajectories) & (jax.random.uniform(key, outcome.ended.shape) < share)

    def backwards(later: tuple[jax.Array, jax.Array], step: tuple[jax.Array, ...]):
        ended, over, chosen, arrived = step
        relabelled = jnp.where(ended, chosen, later[0] & ~over)
        landed = jnp.where(ended[..., None], arrived, later[1])
        return (relabelled, landed), (relabelled, landed)

    unknown = (jnp.zeros_like(chosen[0]), arrived[0])
    over = jnp.asarray(trajectories.over)
    return jax.lax.scan(backwards, unknown, (outcome.ended, over, chosen, arrived), reverse=True)[1]
