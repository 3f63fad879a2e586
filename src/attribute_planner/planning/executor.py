"""Execution (Algorithm 2): move to the next set on the path, observe where that led, replan.

An `Executor` is a value that names how goals are pursued. `Execution` is the actor that carries it out in a batch of
environments, one goal in each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.environments.spaces import Action, Discrete, Observation, UnitObservation, uniform_action
from attribute_planner.environments.vector_env import TimeStep, where_batch
from attribute_planner.errors import unknown_name
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.distributions import Categorical
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.forward_model import ForwardModel
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.planning.active_episode import ActiveEpisode
from attribute_planner.planning.belief import Belief, perceive
from attribute_planner.planning.episode_model import EpisodeModel
from attribute_planner.planning.lookahead import consider
from attribute_planner.planning.observation_search import ObservationSearch
from attribute_planner.planning.plan import Planner
from attribute_planner.planning.posterior import Posterior, Published
from attribute_planner.transitions.table import TransitionTable

Key = jax.Array


@dataclass(frozen=True)
class Executor:
    """How goals are pursued; each field is one part of it."""

    model: EpisodeModel | None = EpisodeModel()
    """How failures within the episode count; `None`: they do not, as published."""
    timed: bool = True
    """Whether plans weigh the duration of transitions against the steps that are left."""
    lookahead: bool = True
    """Whether the first step is chosen by the forward model, where the agent has one."""
    model_error: bool = True
    """Whether the forward model's measured error counts against its predictions."""
    observation_search: bool = True
    """Whether a policy that returns to the same observation is led to untried actions."""
    nearest_set: bool = True
    """Whether to act as in the nearest known set where no way is known."""


EXECUTORS: dict[str, Executor] = {
    "paper": Executor(
        model=None, timed=False, lookahead=False, model_error=False, observation_search=False, nearest_set=False
    ),
    "default": Executor(),
    "no-time": Executor(timed=False),
    "no-lookahead": Executor(lookahead=False),
    "trust-model": Executor(model_error=False),
    "no-observation-search": Executor(observation_search=False),
    "no-nearest-set": Executor(nearest_set=False),
    "no-evidence": Executor(model=EpisodeModel(aliasing=0.0)),
}
"""By name: Algorithm 2 as published, ours, and ours with one part changed."""


def executor_named(name: str) -> Executor:
    """The executor of that name."""
    if name not in EXECUTORS:
        raise unknown_name("execution mode", name, EXECUTORS)
    return EXECUTORS[name]


@dataclass(frozen=True)
class Parts:
    """What was learned, as far as execution uses it.

    detector: f̂; `None` where the environment's own f is used.
    max_attempt_steps: steps after which an attempt has failed, as in practice.
    deterministic: whether the policy takes its most probable action.
    model_error: how often the forward model is wrong.
    """

    detector: AttributeDetector | None
    policy: GoalPolicy
    table: TransitionTable
    max_attempt_steps: int
    deterministic: bool = False
    forward_model: ForwardModel | None = None
    model_error: float = 0.0


class Execution:
    """The actor that pursues one goal in each of a batch of environments."""

    traceable = False

    def __init__(
        self,
        parts: Parts,
        planner: Planner,
        executor: Executor,
        goals: Sequence[Goal],
        max_steps: int,
        *,
        record: bool = False,
    ) -> None:
        self._parts, self._planner, self._executor = parts, planner, executor
        self._each_goal, self._max_steps, self._record = goals, max_steps, record
        self.goals = stacked(goals)
        self._looks_ahead = executor.lookahead and parts.forward_model is not None
        self.episodes: list[ActiveEpisode] = []

    def start(self, timestep: TimeStep) -> None:
        """Begin at what the environments show."""
        executor, belief = self._executor, self._perceive(timestep)
        self._planner.prepare(self._each_goal)
        p_goal, posterior = belief.p_goal(self.goals), Published if executor.model is None else Posterior
        patience = None if executor.model is None else self._parts.max_attempt_steps
        self.episodes = [
            ActiveEpisode(
                self._planner,
                posterior(self._planner, goal),
                goal,
                belief.values[i],
                float(p_goal[i]),
                max_steps=self._max_steps,
                patience=patience,
                extrapolate=executor.nearest_set,
                record=self._record,
            )
            for i, goal in enumerate(self._each_goal)
        ]
        self._searches = [ObservationSearch() for _ in self.episodes]
        self._belief = belief
        self._stop_those_done()

    def active(self) -> np.ndarray:
        """`bool[B]` which environments are still to be stepped."""
        return np.array([episode.active for episode in self.episodes])

    def act(self, observation: Observation, *, key: Key) -> Action:
        """An action for each environment."""
        if self._looks_ahead:
            return self._look_ahead(observation, key=key)
        targets = np.stack([episode.target for episode in self.episodes])
        action, log_probs = _act(
            self._parts.policy,
            observation,
            jnp.asarray(self._belief.values),
            jnp.asarray(targets),
            self._parts.deterministic,
            key,
        )
        if log_probs is not None and self._searches_observations(observation):
            action = np.array(action)
            observed, log_probs = np.asarray(observation), np.asarray(log_probs)
            for i in np.flatnonzero(self.active() & (targets[:, 0] != NO_VALUE)).tolist():
                action[i] = self._searches[i].decide(observed[i].tobytes(), log_probs[i], int(action[i]))
        return action

    def observe(self, observation: Observation, action: Action, timestep: TimeStep) -> None:
        """Take in where the step from `observation` by `action` has led, in the environments that were active."""
        self._belief = self._perceive(timestep)
        p_goal = self._belief.p_goal(self.goals)
        for i in np.flatnonzero(self.active()).tolist():
            episode, target = self.episodes[i], self.episodes[i].target
            taken = jax.tree.map(lambda leaf, i=i: np.asarray(leaf[i]).tolist(), action)
            episode.advance(self._belief.values[i], float(p_goal[i]), bool(timestep.over[i]), taken)
            if (episode.target != target).any():
                self._searches[i] = ObservationSearch()
            elif self._searches_observations(observation):
                before, after = np.asarray(observation[i]), np.asarray(timestep.observation[i])  # pyright: ignore
                self._searches[i].remember(before.tobytes(), taken, after.tobytes())
        self._stop_those_done()

    def _stop_those_done(self) -> None:
        if not self._looks_ahead:
            for episode in self.episodes:
                if episode.active:
                    episode.stop_if_done()

    def _perceive(self, timestep: TimeStep) -> Belief:
        attributes = None if timestep.attributes is None else np.asarray(timestep.attributes)
        return perceive(self._parts.detector, timestep.observation, attributes)

    def _searches_observations(self, observation: Observation) -> bool:
        """Whether there is one agent whose actions can be listed."""
        listed = isinstance(self._parts.policy.action_space, Discrete)
        return self._executor.observation_search and listed and not isinstance(observation, UnitObservation)

    def _look_ahead(self, observation: Observation, *, key: Key) -> Action:
        """The best option of each environment."""
        parts = self._parts
        assert parts.forward_model is not None
        under_way = np.flatnonzero(self.active())
        rows = padded_rows(under_way, len(self.episodes))
        episodes = [self.episodes[row] for row in rows.tolist()]
        options = consider(
            parts.forward_model,
            parts.policy,
            parts.table,
            jax.tree.map(lambda leaf: leaf[rows], observation),
            self._belief.hypotheses(rows),
            np.stack([each.target_or_goal for each in episodes]),
            np.stack([each.wanted for each in episodes]),
            key=key,
        )
        error = parts.model_error if self._executor.model_error else 0.0
        chosen = np.zeros(len(self.episodes), int)
        for place, row in enumerate(under_way.tolist()):
            chosen[row] = self.episodes[row].look_ahead(options, place, error)
        place = np.zeros(len(self.episodes), int)
        place[under_way] = np.arange(len(under_way))
        return jax.tree.map(lambda leaf: leaf[place, chosen], options.actions)


def padded_rows(rows: np.ndarray, most: int) -> np.ndarray:
    """The rows, repeated to one of few lengths, each of which is compiled once.

    Lookahead is most of the work, and fewer and fewer of a batch are still under way.
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
    policy: GoalPolicy, observation: Observation, values: jax.Array, targets: jax.Array, deterministic: bool, key: Key
) -> tuple[Action, jax.Array | None]:
    """An action for each environment, a random one where there is no target; and log probabilities, if listed."""
    policy_key, random_key = jax.random.split(key)
    output = policy(observation, values, targets)
    batch = values.shape[:1] if output.active is None else output.active.shape
    at_random = uniform_action(policy.action_space, batch, key=random_key)
    chosen = output.mode() if deterministic else output.sample(key=policy_key)
    action = where_batch(targets[:, 0] == NO_VALUE, at_random, chosen)
    log_probs = jax.nn.log_softmax(output.actions.logits) if isinstance(output.actions, Categorical) else None
    return action, log_probs
