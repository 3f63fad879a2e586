"""`Execution`: the actor that carries out an executor in a batch of environments, one goal in each."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.data.trajectories import Actor
from attribute_planner.environments.spaces import Action, Discrete, Observation, UnitObservation, uniform_action
from attribute_planner.environments.vector_env import TimeStep, where_batch
from attribute_planner.models.distributions import Categorical
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.planning.active_episode import ActiveEpisode
from attribute_planner.planning.attempt_limit import AttemptLimits
from attribute_planner.planning.belief import Belief, perceive
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.executor import Executor, Parts, episode_model
from attribute_planner.planning.lookahead import consider
from attribute_planner.planning.observation_search import ObservationSearch
from attribute_planner.planning.plan import Planner
from attribute_planner.planning.posterior import Posterior, Published
from attribute_planner.planning.state_success import Success, success_from

Key = jax.Array


LEAST_VALUE = 0.5
"""Observation search takes no action that is worth less than this fraction of the best one, if values are known."""


@dataclass
class Memory:
    """The episodes in progress, one per environment.

    goals: their goals, as a batch.
    belief: the current belief about the environments.
    usual: the usual log odds of the values of each edge (`planning.state_success`), if they are used.
    observed: the observations as bytes, where they are searched; empty elsewhere.
    action: the last actions.
    searches: the observation searches of each, by target.
    frames: images of each, if they are kept.
    """

    episodes: list[ActiveEpisode]
    goals: Goal
    belief: Belief
    searches: list[defaultdict[bytes, ObservationSearch]]
    frames: list[list[np.ndarray]]
    usual: np.ndarray | None = None
    observed: list[bytes] = field(default_factory=list)
    action: Action = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False)
class Execution(Actor[Memory | None]):
    """The actor that executes plans in a batch of environments, with one goal each. Its memory is updated in place.

    goals: one for each environment.
    record: whether to keep a trace of every step.
    camera: draws one environment, if images are to be kept.
    watch: is told after every step how many episodes have ended.
    """

    parts: Parts
    planner: Planner
    executor: Executor
    goals: Sequence[Goal]
    max_steps: int
    record: bool = False
    camera: Callable[[int], np.ndarray] | None = None
    watch: Callable[[int], None] | None = None

    def begin(self, num_envs: int, *, key: Key) -> None:
        """Nothing is known before the first observation."""
        del num_envs, key

    def active(self, memory: Memory | None) -> np.ndarray | None:
        return np.ones(len(self.goals), bool) if memory is None else _active(memory)

    def act(
        self, memory: Memory | None, observation: Observation, attributes: Any, *, key: Key
    ) -> tuple[Memory, Action, None]:
        memory = self._start(observation, attributes) if memory is None else memory
        choose = self._look_ahead if self._looks_ahead else self._follow_policy
        memory.action = jax.tree.map(np.asarray, choose(memory, observation, key=key))
        return memory, memory.action, None

    def observe(self, memory: Memory | None, timestep: TimeStep) -> tuple[Memory, None]:
        assert memory is not None, "an actor acts before it observes"
        attributes = None if timestep.attributes is None else np.asarray(timestep.attributes)
        memory.belief = perceive(self.parts.detector, timestep.observation, attributes)
        p_goal, observed = memory.belief.p_goal(memory.goals), self._observed(timestep.observation)
        for i in np.flatnonzero(_active(memory)).tolist():
            episode, target = memory.episodes[i], memory.episodes[i].target
            action = jax.tree.map(lambda leaf, i=i: leaf[i].tolist(), memory.action)
            success = self._success(memory.usual, timestep.observation, memory.belief, i)
            episode.advance(memory.belief.values[i], float(p_goal[i]), bool(timestep.over[i]), action, success)
            if (memory.belief.values[i] == target).all():
                memory.searches[i].pop(target.tobytes(), None)  # what led there may do so again
            elif observed:
                memory.searches[i][target.tobytes()].remember(memory.observed[i], action, observed[i])
            self._film(memory, i)
        self._stop_those_done(memory)
        if self.watch is not None:
            self.watch(int((~_active(memory)).sum()))
        return memory, None

    def accounts(self, memory: Memory | None) -> list[Episode]:
        """The episode of each environment, as the agent observed it."""
        assert memory is not None, "nothing has happened yet"
        return [episode.account(memory.frames[i]) for i, episode in enumerate(memory.episodes)]

    @property
    def _looks_ahead(self) -> bool:
        return self.executor.lookahead and self.parts.forward_model is not None

    def _start(self, observation: Observation, attributes: Any) -> Memory:
        belief = perceive(self.parts.detector, observation, attributes)
        self.planner.prepare(self.goals)
        goals = stacked(self.goals)
        p_goal, usual, measured = belief.p_goal(goals), self._usual(), self.parts.conduct.arrival_steps
        steps = measured if self.executor.early_replanning else None
        limits = AttemptLimits(self.parts.max_attempt_steps, self.planner.listing, steps)
        episodes = [
            self._episode(
                goal, belief.values[i], float(p_goal[i]), self._success(usual, observation, belief, i), limits
            )
            for i, goal in enumerate(self.goals)
        ]
        search = partial(ObservationSearch, self.parts.conduct.repeatable)
        searches, frames = [defaultdict(search) for _ in episodes], [[] for _ in episodes]
        memory = Memory(episodes, goals, belief, searches, frames, usual)
        for i in range(len(episodes)):
            self._film(memory, i)
        self._stop_those_done(memory)
        return memory

    def _usual(self) -> np.ndarray | None:
        """The usual log odds of the values of each edge; `None` if values tell nothing, or are not to."""
        model = self.parts.conduct.success
        return model.usual.of_edges(self.planner.listing) if model is not None and self.executor.state_success else None

    def _success(self, usual: np.ndarray | None, observation: Observation, belief: Belief, i: int) -> Success | None:
        """The success of transitions from where an environment is; `None` if c_π is all that is known."""
        model, policy = self.parts.conduct.success, self.parts.policy
        if usual is None or model is None:
            return None
        return success_from(model, usual, policy, observation, belief.values, i)

    def _episode(
        self, goal: Goal, values: np.ndarray, p_goal: float, success: Success | None, limits: AttemptLimits
    ) -> ActiveEpisode:
        published = self.executor.model is None
        return ActiveEpisode(
            self.planner,
            self._posterior,
            goal,
            values,
            p_goal,
            max_steps=self.max_steps,
            attempt_limits=None if published else limits,
            stop_on_any_change=published or self.parts.stop_on_any_change,
            nearest_set=self.executor.nearest_set and not self._looks_ahead,
            relax_goal=self.executor.goal_relaxation and not self._looks_ahead,
            record=self.record,
            success=success,
        )

    def _posterior(self, goal: Goal) -> Posterior:
        model = episode_model(self.executor, self.parts.conduct, deterministic=self.parts.deterministic)
        if model is None:
            return Published(self.planner, goal)
        return Posterior(self.planner, goal, model, replans=self.executor.replanning)

    def _film(self, memory: Memory, i: int) -> None:
        if self.camera is not None:
            memory.frames[i].append(self.camera(i))

    def _follow_policy(self, memory: Memory, observation: Observation, *, key: Key) -> Action:
        """The policy's action towards each target, or that of observation search."""
        targets = np.stack([episode.target for episode in memory.episodes])
        action, log_probs = _act(
            self.parts.policy,
            observation,
            jnp.asarray(memory.belief.values),
            jnp.asarray(targets),
            self.parts.deterministic,
            self.parts.conduct.inverse_temperature,
            key,
        )
        memory.observed = self._observed(observation)
        if log_probs is None or not memory.observed:
            return action
        action, log_probs = np.array(action), np.asarray(log_probs)
        if (temperature := self.parts.policy.temperature) is not None:
            least = log_probs.max(axis=1, keepdims=True) + np.log(LEAST_VALUE) / temperature
            log_probs = np.where(log_probs >= least, log_probs, -np.inf)
        for i in np.flatnonzero(_active(memory) & (targets[:, 0] != NO_VALUE)).tolist():
            search = memory.searches[i][targets[i].tobytes()]
            action[i] = search.decide(memory.observed[i], log_probs[i], int(action[i]), memory.episodes[i].left)
        return action

    def _stop_those_done(self, memory: Memory) -> None:
        """Lookahead decides by itself when to stop."""
        for episode in () if self._looks_ahead else memory.episodes:
            if episode.active:
                episode.stop_if_done()

    def _observed(self, observation: Observation) -> list[bytes]:
        """The observations as bytes, if they are searched: for a single agent with discrete actions."""
        listed = isinstance(self.parts.policy.action_space, Discrete) and not self._looks_ahead
        if not self.executor.observation_search or not listed or isinstance(observation, UnitObservation):
            return []
        return [each.tobytes() for each in np.asarray(observation)]

    def _look_ahead(self, memory: Memory, observation: Observation, *, key: Key) -> Action:
        """The best option of each environment."""
        assert self.parts.forward_model is not None
        episodes, under_way = memory.episodes, np.flatnonzero(_active(memory))
        rows = padded_rows(under_way, len(episodes))
        options = consider(
            self.parts.forward_model,
            self.parts.policy,
            self.planner.listing,
            jax.tree.map(lambda leaf: leaf[rows], observation),
            memory.belief.hypotheses(rows),
            np.stack([episodes[row].target_or_goal for row in rows.tolist()]),
            np.stack([episodes[row].wanted for row in rows.tolist()]),
            key=key,
        )
        error = self.parts.model_error if self.executor.model_error else 0.0
        place, chosen = np.zeros(len(episodes), int), np.zeros(len(episodes), int)
        for number, row in enumerate(under_way.tolist()):
            place[row], chosen[row] = number, episodes[row].look_ahead(options, number, error)
        return jax.tree.map(lambda leaf: leaf[place, chosen], options.actions)


def _active(memory: Memory) -> np.ndarray:
    return np.array([episode.active for episode in memory.episodes])


def padded_rows(rows: np.ndarray, most: int) -> np.ndarray:
    """The rows, repeated to one of few lengths, each of which is compiled once.

    Lookahead is most of the work, and the number of active episodes of a batch decreases.
    """
    count = most
    while count // 4 >= max(len(rows), 64):
        count //= 4
    return np.resize(rows, count)


def stacked(goals: Sequence[Goal]) -> Goal:
    """The goals as a batch."""
    at_least = [np.zeros_like(goal.wanted) if goal.at_least is None else goal.at_least for goal in goals]
    return Goal(
        np.stack([goal.values for goal in goals]), np.stack([goal.wanted for goal in goals]), np.stack(at_least)
    )


@eqx.filter_jit
def _act(
    policy: GoalPolicy,
    observation: Observation,
    values: jax.Array,
    targets: jax.Array,
    deterministic: bool,
    inverse_temperature: float,
    key: Key,
) -> tuple[Action, jax.Array | None]:
    """An action for each environment, a random one where there is no target; and log probabilities, if listed."""
    policy_key, random_key = jax.random.split(key)
    output = policy(observation, values, targets)
    batch = values.shape[:1] if output.active is None else output.active.shape
    at_random = uniform_action(policy.action_space, batch, key=random_key)
    sampled = output if inverse_temperature == 1 else output.sharpened(inverse_temperature)
    chosen = output.mode() if deterministic else sampled.sample(key=policy_key)
    action = where_batch(targets[:, 0] == NO_VALUE, at_random, chosen)
    log_probs = jax.nn.log_softmax(output.actions.logits) if isinstance(output.actions, Categorical) else None
    return action, log_probs
