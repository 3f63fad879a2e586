"""Frontier exploration: travel to a rarely visited set by known transitions, and take random actions there.

The policy and the table are those that practice has come to so far; before its first round nothing is known, and all
actions are random. Random actions are held for a while, shorter or longer, as long as they change what is observed:
some sets are left by repeating an action, others by changing it. Half of the time is spent on the actions that were
taken least often in what is observed.

Where episodes end in failure, random actions seldom get far. For up to half of the time, an action is then replaced if
the policy knows of one after which the episode goes on more than twice as surely.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int, UInt32

from attribute_planner.data.random_actions import any_action, kept_up
from attribute_planner.data.trajectories import TracedActor
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Discrete, Observation
from attribute_planner.environments.vector_env import TimeStep, where_batch
from attribute_planner.models.distributions import Categorical
from attribute_planner.models.policy import GoalPolicy, PolicyOutput
from attribute_planner.phases.action_counts import hash_of, least_taken, no_counts, row_of
from attribute_planner.phases.attempts import Attempt, AttemptInfo, Outcome, ReachNeighbours, info_of
from attribute_planner.phases.device_graph import graph_with_weights
from attribute_planner.phases.goal_sampling import FarSets, optimistic, plan_to_far_sets
from attribute_planner.transitions.model import TransitionModel, empty_listing
from attribute_planner.transitions.numbering import UNKNOWN

Key = jax.Array

LONGEST_REPEAT = 5
"""An action is held for up to 2^5 steps on average."""
REPEAT_WITHOUT_EFFECT = 2.0
"""The mean number of steps for which an action is held that does not change the observation."""
CAREFUL = 0.5
"""The share of the time in which random actions avoid the end of the episode, if all episodes end in failure."""
LEAST_SURVIVAL = 0.5
"""An action avoids it if the episode goes on with at least this share of the best action's probability."""


class FrontierMemory(NamedTuple):
    """The state of the exploration in each environment, `[B]`.

    attempt: the attempt at a transition, while it travels.
    turn: how many goals it has given up or reached.
    gave_up: whether it has just failed to get further, and explores where it is.
    burst: for how many more steps it acts at random.
    seen: a hash of the last observation.
    held, repeat: the random action that is held, and for how many steps on average.
    systematic: whether it takes the actions that were taken least often instead of random ones.
    careful: whether it avoids actions after which the episode will soon end.
    episode: the number of the episode.
    taken: `int32[rows, actions]` how often each action was taken at each observation of an episode; `None` if actions
        are continuous.
    """

    attempt: Attempt
    turn: Int[jax.Array, " B"]
    gave_up: Bool[jax.Array, " B"]
    burst: Int[jax.Array, " B"]
    seen: UInt32[jax.Array, " B"]
    held: Action
    repeat: Float[jax.Array, " B"]
    systematic: Bool[jax.Array, " B"]
    careful: Bool[jax.Array, " B"]
    episode: Int[jax.Array, " B"]
    taken: Int[jax.Array, "rows actions"] | None


class FrontierExplorer(TracedActor[FrontierMemory]):
    """Travels to one rarely visited set after the other, and takes random actions in each.

    reach: takes transitions towards the next set on the way.
    far: the sets to go to, with the ways there; each environment takes them in turn.
    burst_steps: mean length of acting at random.
    careful_share: the share of the time in which random actions avoid the end of the episode.
    """

    reach: ReachNeighbours
    far: FarSets
    env: Environment = eqx.field(static=True)
    burst_steps: int = eqx.field(static=True)
    careful_share: Float[jax.Array, ""]

    def begin(self, num_envs: int, *, key: Key) -> FrontierMemory:
        reach_key, held_key = jax.random.split(key)
        zeros = jnp.zeros(num_envs, jnp.int32)
        held = any_action(self.env, num_envs, key=held_key)
        attempt = self.reach.begin(num_envs, key=reach_key)
        taken = no_counts(self.env.actions.count) if isinstance(self.env.actions, Discrete) else None
        episode = jnp.arange(num_envs)
        no, seen = zeros > 0, zeros.astype(jnp.uint32)
        return FrontierMemory(attempt, zeros, no, zeros, seen, held, jnp.ones(num_envs), no, no, episode, taken)

    def act(
        self, memory: FrontierMemory, observation: Observation, attributes: Int[jax.Array, "B A"], *, key: Key
    ) -> tuple[FrontierMemory, Action, AttemptInfo]:
        burst_key, action_key, held_key, least_key, safe_key = jax.random.split(key, 5)
        begins = memory.attempt.idle & (memory.burst == 0)
        words = jnp.asarray(self.reach.graph.space.pack(attributes))
        number = self.reach.graph.locate(words)
        edge = self.far.edge(memory.turn, number)
        stays = begins & ((edge == UNKNOWN) | memory.gave_up)
        attempt = self.reach.begin_attempts(memory.attempt, words, edge, begins)
        memory = self._begin_bursts(memory, stays, key=burst_key)
        bursting = memory.burst > 0
        attempt = attempt._replace(pursues=attempt.pursues & ~bursting)
        output = self.reach.output(attempt, observation, attributes)
        memory = memory._replace(attempt=attempt)
        seen = hash_of(jnp.asarray(observation))
        repeat = jnp.where(seen == memory.seen, jnp.minimum(memory.repeat, REPEAT_WITHOUT_EFFECT), memory.repeat)
        held = kept_up(self.env, memory.held, repeat, key=held_key)
        action = where_batch(bursting, held, output.sample(key=action_key))
        if memory.taken is not None:
            rows = row_of(jnp.asarray(observation), attributes, memory.episode)
            least = least_taken(memory.taken, rows, key=least_key)
            action = jnp.where(bursting & memory.systematic, least, jnp.asarray(action))
            if self.reach.policy.temperature is not None:
                survivable = self._survivable(output)
                other = jax.random.categorical(safe_key, jnp.where(survivable, 0.0, -jnp.inf))
                survives = jnp.take_along_axis(survivable, action[:, None], axis=-1)[:, 0]
                action = jnp.where(bursting & memory.careful & ~survives, other, action)
            memory = memory._replace(taken=memory.taken.at[rows, action].add(1))
        info = info_of(attempt, output, action)
        info = info._replace(edge=jnp.where(attempt.pursues, attempt.edge, UNKNOWN))
        return memory._replace(held=held, seen=seen), action, info

    def observe(self, memory: FrontierMemory, timestep: TimeStep) -> tuple[FrontierMemory, Outcome]:
        bursting = memory.burst > 0
        attempt, outcome = self.reach.observe(memory.attempt, timestep)
        over = timestep.terminated | timestep.truncated
        burst = jnp.where(over, 0, jnp.maximum(memory.burst - 1, 0))
        failed = ~bursting & outcome.ended & ~outcome.reached
        turn = memory.turn + ((bursting & (burst == 0)) | failed | over).astype(jnp.int32)
        attempt = attempt._replace(idle=attempt.idle | bursting)
        outcome = Outcome(outcome.ended & ~bursting, outcome.reached & ~bursting)
        episode = memory.episode + jnp.where(over, len(over), 0)
        return memory._replace(
            attempt=attempt, turn=turn, gave_up=failed & ~over, burst=burst, episode=episode
        ), outcome

    def _begin_bursts(self, memory: FrontierMemory, where: jax.Array, *, key: Key) -> FrontierMemory:
        length_key, repeat_key, scale_key, how_key, careful_key = jax.random.split(key, 5)
        length = 1 + (jax.random.exponential(length_key, where.shape) * self.burst_steps).astype(jnp.int32)
        scale = jax.random.randint(scale_key, where.shape, 1, LONGEST_REPEAT + 1)
        repeat = jnp.where(jax.random.bernoulli(repeat_key, 0.5, where.shape), 1.0, jnp.exp2(scale.astype(jnp.float32)))
        systematic = jax.random.bernoulli(how_key, 0.5, where.shape)
        careful = jax.random.bernoulli(careful_key, self.careful_share, where.shape)
        return memory._replace(
            burst=jnp.where(where, length, memory.burst),
            repeat=jnp.where(where, repeat, memory.repeat),
            systematic=jnp.where(where, systematic, memory.systematic),
            careful=jnp.where(where, careful, memory.careful),
        )

    def _survivable(self, output: PolicyOutput) -> Bool[jax.Array, "B actions"]:
        """The actions after which the episode goes on nearly as surely as after the best one, given no goal."""
        assert isinstance(output.actions, Categorical) and self.reach.policy.temperature is not None
        log_values = self.reach.policy.temperature * output.actions.logits
        return log_values >= log_values.max(axis=-1, keepdims=True) + np.log(LEAST_SURVIVAL)


def frontier_explorer(
    env: Environment,
    policy: GoalPolicy,
    model: TransitionModel | None,
    max_attempt_steps: int,
    *,
    fatal_share: float = 0.0,
    key: Key,
) -> FrontierExplorer:
    """The explorer for a policy and a transition model; `model` is `None` before the first practice.

    fatal_share: the share of the episodes that end in failure.
    """
    listing = empty_listing(env.attributes) if model is None else model.listing()
    graph = graph_with_weights(listing, np.ones(listing.num_edges), padded=True)
    reach = ReachNeighbours(policy, graph, max_attempt_steps, stop_on_any_change=False)
    far = plan_to_far_sets(optimistic(listing), worth_exploring(listing), padded_to=len(graph.words), key=key)
    return FrontierExplorer(reach, far, env, max_attempt_steps, jnp.float32(CAREFUL * fatal_share))


def worth_exploring(model: TransitionModel) -> Float[np.ndarray, " N"]:
    """The exploration weight of each set: its rarity; sets next to a declared value that was never seen get half of it.

    Next to it is the value before or after, in the order in which the values of an attribute are declared.
    """
    weight, near = rarity(model), next_to_unseen(model)
    weight = weight / max(weight.sum(), 1e-12)
    return weight if not near.any() else weight / 2 + np.where(near, weight, 0) / (2 * weight[near].sum())


def next_to_unseen(model: TransitionModel) -> Bool[np.ndarray, " N"]:
    """Whether each set has a value whose declared neighbour was never seen."""
    listing = model.listing()
    near = np.zeros(listing.num_nodes, bool)
    for attribute, size in enumerate(listing.space.sizes.tolist()):
        values = listing.values[:, attribute]
        unseen = np.ones(size + 2, bool)
        unseen[[0, -1]] = False  # nothing is declared before the first and after the last
        unseen[values + 1] = False
        near |= unseen[values] | unseen[values + 2]
    return near


def rarity(model: TransitionModel) -> Float[np.ndarray, " N"]:
    """The exploration weight of each set: N^-1/2, where N counts how often it was entered or left."""
    listing = model.listing()
    visits = np.bincount(listing.source, weights=listing.visits, minlength=listing.num_nodes)
    visits += np.bincount(listing.target, weights=listing.visits, minlength=listing.num_nodes)
    return (1 + visits) ** -0.5
