"""Attempts at transitions: pursuing a neighbouring set, the outcome, its statistics, and a batch to learn from.

Practice makes attempts to learn (step 3 of Algorithm 1); graph exploration makes them to move.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, UInt32

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.trajectories import TracedActor, Trajectories
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.policy import GoalPolicy, PolicyOutput
from attribute_planner.phases.device_graph import DeviceGraph
from attribute_planner.phases.goal_sampling import FarSets, edge_on_the_way
from attribute_planner.transitions.numbering import UNKNOWN

Key = jax.Array


class Attempt(NamedTuple):
    """The attempt of each environment.

    source, target: the packed sets in which it began and which it pursues.
    edge: the number of the edge between them, `UNKNOWN` where there is none.
    pursues: whether there is a target at all.
    far: the distant set that the environment is travelling to, as a position in `ReachNeighbours.far`.
    age: number of steps so far.
    idle: whether a new attempt begins at the next step.
    episode_age: number of steps of the episode.
    restart: whether to end the episode.
    """

    source: UInt32[jax.Array, "B W"]
    target: UInt32[jax.Array, "B W"]
    edge: Int[jax.Array, " B"]
    pursues: Bool[jax.Array, " B"]
    far: Int[jax.Array, " B"]
    age: Int[jax.Array, " B"]
    idle: Bool[jax.Array, " B"]
    episode_age: Int[jax.Array, " B"]
    restart: Bool[jax.Array, " B"]


class AttemptInfo(NamedTuple):
    """The decision.

    edge: the edge that is attempted.
    target: the packed set that is pursued.
    pursues: whether there is one.
    age: the steps that the attempt had taken before.
    log_prob, value: of the action, and of the situation.
    """

    edge: Int[jax.Array, " B"]
    target: UInt32[jax.Array, "B W"]
    pursues: Bool[jax.Array, " B"]
    age: Int[jax.Array, " B"]
    log_prob: Float[jax.Array, " B"]
    value: Float[jax.Array, " B"]


class Outcome(NamedTuple):
    """The result of a step for the attempt.

    ended: the attempt is over: the attributes changed (or, if it does not stop on any change, the target was reached),
        t_max was reached, or the episode terminated.
    reached: the target was reached, and the episode did not end there if transitions lead on from it.
    """

    ended: Bool[jax.Array, " B"]
    reached: Bool[jax.Array, " B"]


class ReachNeighbours(TracedActor[Attempt]):
    """Draws a neighbour of the current set and acts towards it until the attempt is over.

    far: distant sets; the neighbour is the next set on the path to one of them, if there is a path.
    draws_far: whether each environment draws one of the distant sets that it can reach, and another one when it has
        arrived, failed, or its episode is over; otherwise the set follows from its position in the batch.
    stop_on_any_change: whether an attempt ends as soon as the attributes change, not only at its target.
    last_start: the age of an episode from which on no attempt begins; the episode is then ended, as it is in a set
        without neighbours. `None`: episodes are never ended.
    inverse_temperature: the factor of the log probabilities in each environment (`phases.temperatures`); `None`: 1.
    """

    policy: GoalPolicy
    graph: DeviceGraph
    max_attempt_steps: int = eqx.field(static=True)
    deterministic: bool = eqx.field(static=True, default=False)
    far: FarSets | None = None
    stop_on_any_change: bool = eqx.field(static=True, default=True)
    last_start: int | None = eqx.field(static=True, default=None)
    draws_far: bool = eqx.field(static=True, default=False)
    inverse_temperature: Float[jax.Array, " B"] | None = None

    def begin(self, num_envs: int, *, key: Key) -> Attempt:
        del key
        words = jnp.zeros((num_envs, self.graph.words.shape[1]), jnp.uint32)
        zeros, no = jnp.zeros(num_envs, jnp.int32), jnp.zeros(num_envs, bool)
        return Attempt(words, words, zeros + UNKNOWN, no, zeros + UNKNOWN, zeros, ~no, zeros, no)

    def act(
        self, memory: Attempt, observation: Observation, attributes: Int[jax.Array, "B A"], *, key: Key
    ) -> tuple[Attempt, Action, AttemptInfo]:
        goal_key, action_key = jax.random.split(key)
        attempt = self.choose(memory, attributes, key=goal_key)
        output = self.output(attempt, observation, attributes)
        action = output.mode() if self.deterministic else output.sample(key=action_key)
        return attempt, action, info_of(attempt, output, action)

    def choose(self, memory: Attempt, attributes: Int[jax.Array, "B A"], *, key: Key) -> Attempt:
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

    def begin_attempts(
        self,
        memory: Attempt,
        words: UInt32[jax.Array, "B W"],
        edge: Int[jax.Array, " B"],
        begins: Bool[jax.Array, " B"],
    ) -> Attempt:
        """The current attempts, and new ones from packed sets along an edge where they begin."""
        return memory._replace(
            source=jnp.where(begins[:, None], words, memory.source),
            target=jnp.where(begins[:, None], self.graph.target_words(edge), memory.target),
            edge=jnp.where(begins, edge, memory.edge),
            pursues=jnp.where(begins, edge != UNKNOWN, memory.pursues),
            age=jnp.where(begins, 0, memory.age),
            idle=jnp.zeros_like(begins),
        )

    def output(self, attempt: Attempt, observation: Observation, attributes: Int[jax.Array, "B A"]) -> PolicyOutput:
        """The output of the policy for the targets."""
        values = jnp.asarray(self.graph.space.unpack(attempt.target))
        goal = jnp.where(attempt.pursues[:, None], values, NO_VALUE)
        output = self.policy(observation, attributes, goal)
        return output if self.inverse_temperature is None else output.sharpened(self.inverse_temperature)

    def observe(self, memory: Attempt, timestep: TimeStep) -> tuple[Attempt, Outcome]:
        words = self.graph.space.pack(jnp.asarray(timestep.attributes))
        age, episode_age, pursues = memory.age + 1, memory.episode_age + 1, memory.pursues
        arrived = jnp.all(words == memory.target, axis=-1) & pursues
        # To arrive with the end of the episode is no success where the way leads on.
        reached = arrived & ~(timestep.terminated & self.graph.leads_on(self.graph.target[memory.edge]))
        over = jnp.any(words != memory.source, axis=-1) if self.stop_on_any_change else reached
        ended = over | (age >= self.max_attempt_steps) | timestep.terminated
        restart = jnp.zeros_like(ended)
        if self.last_start is not None:
            ended |= ~pursues
            restart = ended & ~(pursues & (episode_age < self.last_start))
        episode_over = restart | timestep.terminated | timestep.truncated
        memory = memory._replace(
            age=age,
            far=jnp.where(episode_over | (ended & ~reached), UNKNOWN, memory.far),
            idle=ended | episode_over,
            episode_age=jnp.where(episode_over, 0, episode_age),
            restart=restart,
        )
        return memory, Outcome(ended, reached)

    def wants_reset(self, memory: Attempt, timestep: TimeStep) -> Bool[jax.Array, " B"] | None:
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


def goal_values(graph: DeviceGraph, edge: Int[jax.Array, "*batch"]) -> Int[jax.Array, "*batch A"]:
    """The attribute values that an edge leads to; `NO_VALUE` for `UNKNOWN`."""
    values = jnp.asarray(graph.space.unpack(graph.target_words(edge)))
    return jnp.where((edge != UNKNOWN)[..., None], values, NO_VALUE)


def pursued_values(space: AttributeSpace, trajectories: Trajectories) -> Int[np.ndarray, "T B A"]:
    """The set that each step pursued; `NO_VALUE` where there was none."""
    info: AttemptInfo = trajectories.info
    values = np.asarray(space.unpack(np.asarray(info.target)))
    return np.where(np.asarray(info.pursues)[..., None], values, NO_VALUE)
