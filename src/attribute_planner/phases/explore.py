"""Phase 2, explore: find out which transitions between attribute sets are possible (step 2 of Algorithm 1)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.data.devices import on_this_host, whole
from attribute_planner.data.episodes import Episodes, Keep
from attribute_planner.data.examples import Examples, examples_of, joined
from attribute_planner.data.random_actions import RandomActions
from attribute_planner.data.replay import Replay, remember
from attribute_planner.data.rollout import advance, start
from attribute_planner.data.trajectories import Actor, Trajectories
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.environments.vector_env import VectorEnv
from attribute_planner.errors import unknown_name
from attribute_planner.learning.finite import require_finite
from attribute_planner.learning.policy_gradient import Batch, TrainState, new_train_state
from attribute_planner.learning.ppo import PPOConfig
from attribute_planner.learning.progress import Watch
from attribute_planner.learning.reachers import LEARNERS, LearnerConfig
from attribute_planner.learning.reinforce import ReinforceConfig
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.observation_scaling import statistics_of, with_observations
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.attempt_batch import HINDSIGHT, STEP_REWARD, attempt_batch
from attribute_planner.phases.attempt_counts import count_attempts
from attribute_planner.phases.attempts import ReachNeighbours, pursued_values
from attribute_planner.phases.bonuses import BONUSES, count_transitions
from attribute_planner.phases.device_graph import DeviceGraph
from attribute_planner.phases.exploration_policies import ExplorationPolicy, exploration_batch, observed_snapshots
from attribute_planner.phases.frontier import frontier_explorer
from attribute_planner.phases.graph_exploration import GraphExplorer, exploration_graph
from attribute_planner.ranges import COUNT, COUNT_OR_ZERO, FRACTION, NUM_ENVS, REPEATS, WIDTH, check_settings
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.model import TransitionModel
from attribute_planner.transitions.table import TransitionTable, table_of_counts

Key = jax.Array

EXPLORERS = ("count-based", "graph", "random", "frontier")


@dataclass(frozen=True)
class ExploreConfig:
    """How the agent finds out which transitions are possible."""

    steps: int = 1_000_000
    """Environment steps in all environments together: N₁ of Algorithm 1."""
    policy: str = "count-based"
    """`count-based`, which is rewarded for rare transitions; `graph`, which plans paths to rare transitions and learns
    to take known ones; `frontier`, which travels to rarely visited sets with the policy of practice and takes random
    actions there; or `random`."""
    bonus: str = "share"
    """Reward of a transition: `share`, (N/t + 0.001)^-0.5; or `count`, N^-0.5."""
    action_repeat: float = 1.0
    """Mean number of steps for which a random action is repeated, by each unit separately. Of a mixed action, the point
    is repeated and the choice is drawn at each step."""
    epsilon: float = 0.2
    """Fraction of the attempts of `graph` that take random actions."""
    max_attempt_steps: int = 50
    """The number of steps after which an attempt of `graph` or `frontier` fails."""
    steps_per_episode: int = 0
    """Length of an episode; 0 for the environment's own."""
    symmetric: bool = True
    """Whether a transition counts under all symmetries of the environment, if it defines any."""
    num_envs: int = 128
    """Number of parallel environments."""
    rollout_length: int = 50
    """Steps of each environment between two updates of the exploration policy."""
    rollouts_per_epoch: int = 4
    """Updates between two reports; an epoch begins with fresh episodes."""
    hidden_size: int = 100
    """Units in each hidden layer."""
    learner: str = "ppo"
    """Learner of the exploration policy: `ppo` or `reinforce`."""
    ppo: PPOConfig = field(default_factory=lambda: PPOConfig(anneal=False))
    """Settings of `ppo`."""
    reinforce: ReinforceConfig = field(default_factory=ReinforceConfig)
    """Settings of `reinforce`."""

    def __post_init__(self) -> None:
        if self.bonus not in BONUSES:
            raise unknown_name("bonus", self.bonus, BONUSES)
        if self.policy not in EXPLORERS:
            raise unknown_name("exploration policy", self.policy, EXPLORERS)
        if self.learner not in LEARNERS:
            raise unknown_name("learner", self.learner, LEARNERS)
        check_settings(
            self,
            steps=COUNT,
            action_repeat=REPEATS,
            epsilon=FRACTION,
            max_attempt_steps=COUNT,
            steps_per_episode=COUNT_OR_ZERO,
            num_envs=NUM_ENVS,
            rollout_length=COUNT,
            rollouts_per_epoch=COUNT,
            hidden_size=WIDTH,
        )
        if self.learner == "ppo" and self.policy in ("count-based", "graph"):
            self.ppo.check_batch(self.num_envs * self.rollout_length)

    @property
    def learning(self) -> LearnerConfig:
        """The settings of the learner."""
        return getattr(self, self.learner)

    @property
    def episode_steps(self) -> int | None:
        """The length of an episode; `None` for the environment's own."""
        return self.steps_per_episode or None


class Explored(NamedTuple):
    """The results of exploration so far.

    counts: c_πe, with all transitions seen.
    train_state: the exploration policy, with its optimiser.
    epoch: epochs so far.
    steps: environment steps so far.
    tried: the graph with the attempts of `graph` exploration; `None` before its first epoch, and otherwise.
    examples: the recorded steps, if they were to be kept; they are not saved.
    round_number: the round to which the last epoch belongs.
    """

    counts: TransitionCounts
    train_state: TrainState
    epoch: int
    steps: int
    tried: TransitionTable | None = None
    examples: Examples | None = None
    round_number: int = 0


def explore(
    env: Environment,
    detector: AttributeDetector | None,
    config: ExploreConfig,
    *,
    key: Key,
    record: bool = False,
    begun: Explored | None = None,
    round_number: int = 0,
    until: float = 1.0,
    known: tuple[GoalPolicy, TransitionModel] | None = None,
    replay: Replay | None = None,
    watch: Watch,
) -> Explored:
    """Step 2 of Algorithm 1: act, and count every transition between different attribute sets.

    record: whether to keep all steps, for what is fitted to them. An exploration that had begun is then repeated, but
        neither reported nor replayed again.
    round_number: the round that is explored.
    until: the fraction of all steps after which to stop.
    known: the policy and the table of practice so far, which `frontier` uses.
    replay: the replay buffer to which all steps are added, if there is one.
    """
    policy_key, epochs_key = jax.random.split(key)
    explored = begun
    if explored is None or record:
        policy = GoalPolicy(env.spec, config.hidden_size, key=policy_key)
        counts = TransitionCounts(env.attributes.num_words)
        explored = Explored(counts, new_train_state(policy, config.learning), epoch=0, steps=0)
    recorded: list[Examples] | None = [] if record else None
    repeated = 0 if begun is None or not record else begun.epoch
    while explored.steps < until * config.steps:
        epoch_key = jax.random.fold_in(epochs_key, explored.epoch)
        into = None if explored.epoch < repeated else replay
        explored, metrics = _Epoch(env, detector, config, explored, recorded, known, into).run(key=epoch_key)
        explored = explored._replace(round_number=round_number)
        if explored.epoch > repeated:
            watch("explore", explored.steps / config.steps, metrics, explored)
    return explored if recorded is None else explored._replace(examples=joined(*recorded))


class _Epoch:
    """One epoch: fresh episodes, and several rollouts of acting, counting and learning."""

    def __init__(
        self,
        env: Environment,
        detector: AttributeDetector | None,
        config: ExploreConfig,
        explored: Explored,
        recorded: list[Examples] | None,
        known: tuple[GoalPolicy, TransitionModel] | None,
        replay: Replay | None,
    ) -> None:
        self.known, self.replay = known, replay
        self.env, self.detector, self.config, self.recorded = env, detector, config, recorded
        # Counts are copied: an epoch that is interrupted must not count twice when it is repeated.
        self.counts, self.train_state, self.steps = explored.counts.copy(), explored.train_state, explored.steps
        self.epoch, self.graph, self.tried = explored.epoch, None, explored.tried
        if config.policy == "graph":
            self.tried = attempted_table(env, self.counts, explored.tried)
            self.graph = exploration_graph(self.tried)
            self.attempts = jnp.zeros((3, len(self.graph.target)), jnp.int32)

    def run(self, *, key: Key) -> tuple[Explored, dict]:
        """All rollouts of the epoch, or as many as the budget leaves."""
        start_key, rollouts_key, goals_key = jax.random.split(key, 3)
        envs, metrics = self.env.vector_env(self.config.num_envs), {}
        if self.config.policy == "frontier":
            policy, table = self.known or (self.train_state.policy, None)
            fatal = 0.0 if self.replay is None or self.known is None else self.replay.fatal_share
            self.frontier = frontier_explorer(
                self.env, policy, table, self.config.max_attempt_steps, fatal_share=fatal, key=goals_key
            )
        if self.replay is not None:
            self.replay.cut()
        try:
            episodes = start(self._actor(), envs, key=start_key, detector=self.detector)
            for number in range(self.config.rollouts_per_epoch):
                rollout_key = jax.random.fold_in(rollouts_key, number)
                episodes, metrics = self._rollout(envs, episodes, key=rollout_key)
                if self.steps >= self.config.steps:
                    break
        finally:
            envs.close()
        self.train_state = on_this_host(self.train_state)
        require_finite(f"explore, {self.steps:,} steps", {}, self.train_state)
        metrics = {"steps": self.steps, "sets": len(self.counts.sets), "edges": len(self.counts.pairs), **metrics}
        tried = self.tried
        if tried is not None and self.graph is not None:
            attempts, successes, _ = np.asarray(whole(self.attempts), float)[:, : tried.num_edges]
            tried = tried.with_practice(tried.attempts + attempts, tried.successes + successes)
        return Explored(self.counts, self.train_state, self.epoch + 1, self.steps, tried), metrics

    def _rollout(self, envs: VectorEnv, episodes: Episodes, *, key: Key) -> tuple[Episodes, dict]:
        act_key, batch_key, update_key = jax.random.split(key, 3)
        config, missing = self.config, self.config.steps - self.steps
        length = config.rollout_length
        if self.recorded is not None or not isinstance(self.env, PureEnvironment):
            # Otherwise: a few more steps are cheaper than compiling another length.
            length = min(length, -(-missing // config.num_envs))
        episodes, trajectories = advance(
            self._actor(),
            envs,
            episodes,
            length,
            space=self.env.attributes,
            key=act_key,
            detector=self.detector,
            keep=self._keep,
            episode_steps=config.episode_steps,
        )
        reward = count_transitions(trajectories, self.counts, BONUSES[config.bonus], at_most=missing)
        if self.recorded is not None:
            self.recorded.append(examples_of(self.env.attributes, trajectories).take(slice(0, missing)))
        self.steps += min(trajectories.size, missing)
        if self.replay is not None:
            trajectories = trajectories.on_host()
            pursued = pursued_values(self.env.attributes, trajectories) if config.policy == "frontier" else None
            remember(self.replay, self.env.attributes, trajectories, pursued)
        scales = statistics_of(self.train_state.policy) is not None
        if config.policy in ("random", "frontier") and not scales:
            return episodes, {}
        if self._keep == "snapshot":
            trajectories = trajectories._replace(observation=observed_snapshots(self.env, trajectories.observation))
        if scales:
            policy = with_observations(self.train_state.policy, whole(trajectories.observation))
            self.train_state = TrainState(policy, self.train_state.optimiser)
        if config.policy in ("random", "frontier"):
            return episodes, {}
        if self.graph is None:
            batch = exploration_batch(self.env, trajectories, reward)
        else:
            self.attempts = _count_attempts(self.attempts, trajectories)
            batch = _attempt_batch(self.graph, trajectories, batch_key)
        self.train_state, metrics = LEARNERS[config.learner](self.train_state, batch, config.learning, key=update_key)
        metrics = {name: float(value) for name, value in metrics.items()}
        require_finite(f"explore, {self.steps:,} steps", metrics)
        return episodes, {"bonus": float(reward.mean()), **metrics}

    @property
    def _keep(self) -> Keep:
        if self.recorded is not None:
            return "snapshot"
        is_unused = self.config.policy == "random" and statistics_of(self.train_state.policy) is None
        return "nothing" if is_unused and self.replay is None else "observation"

    def _actor(self) -> Actor:
        config = self.config
        if config.policy == "random":
            return RandomActions(self.env, config.action_repeat)
        if config.policy == "frontier":
            return self.frontier
        if self.graph is None:
            return ExplorationPolicy(self.train_state.policy)
        reach = ReachNeighbours(self.train_state.policy, self.graph, config.max_attempt_steps)
        return GraphExplorer(reach, self.env, config.epsilon, config.action_repeat)


def attempted_table(env: Environment, counts: TransitionCounts, tried: TransitionTable | None) -> TransitionTable:
    """The table of the counts with the attempts of an earlier one, whose edges it holds."""
    table = table_of_counts(env.attributes, counts)
    return table if tried is None else table.with_practice_of(tried)


_count_attempts = jax.jit(count_attempts)


@eqx.filter_jit
def _attempt_batch(graph: DeviceGraph, trajectories: Trajectories, key: Key) -> Batch:
    return attempt_batch(graph, trajectories, step_reward=STEP_REWARD, hindsight_share=HINDSIGHT, key=key)
