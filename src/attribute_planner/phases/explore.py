"""Phase 2, explore: find out which transitions between attribute sets are possible (step 2 of Algorithm 1)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.data.collecting import Collector, Trajectories, collector_for
from attribute_planner.environments.interface import Environment
from attribute_planner.learning.progress import Watch
from attribute_planner.learning.reinforce import Batch, ReinforceConfig, TrainState, new_train_state, update
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.encoders import no_values
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.attempts import HINDSIGHT, STEP_REWARD, add_attempts, attempt_batch
from attribute_planner.phases.device_graph import DeviceGraph
from attribute_planner.phases.exploration_policies import FreeRoaming, RandomActions, Roamed
from attribute_planner.phases.graph_exploration import seeker, seeking_graph
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import edge_order, table_of_counts

Key = jax.Array

SMOOTHING = 0.001
"""The constant in the paper's smoothed bonus; it bounds the reward of a transition never seen before."""


def inverse_root_count(counts: np.ndarray, total: int) -> np.ndarray:
    """N^-0.5: the paper's bonus for StarCraft."""
    del total
    return counts**-0.5


def inverse_root_share(counts: np.ndarray, total: int) -> np.ndarray:
    """(N/t + 0.001)^-0.5, the paper's bonus for the grid worlds, scaled to at most 1 (Appendix A)."""
    return (counts / max(total, 1) / SMOOTHING + 1) ** -0.5


BONUSES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "count": inverse_root_count,
    "share": inverse_root_share,
}


@dataclass(frozen=True)
class ExploreConfig:
    """How the agent finds out what is possible."""

    steps: int = 1_000_000
    """Environment steps in all copies together: N₁ of Algorithm 1."""
    policy: str = "count-based"
    """`count-based`, which learns to seek rare transitions; `graph`, which plans on the table to where they are, and
    learns to take known ones on the way there; or `random`."""
    bonus: str = "share"
    """`share`: (N/t + 0.001)^-0.5; `count`: N^-0.5."""
    action_repeat: float = 1.0
    """For how many steps a random action is kept up, on average; each unit decides for itself. Of a choice with a
    point, the point is kept up, about: one choice after the other is made there."""
    epsilon: float = 0.2
    """Share of the attempts that `graph` makes at random."""
    max_attempt_steps: int = 50
    """After how many steps `graph` gives an attempt up."""
    num_envs: int = 128
    """How many copies of the environment run at once."""
    rollout_length: int = 50
    """Steps of each copy between two updates of the exploring policy."""
    rollouts_per_epoch: int = 4
    """Updates between two reports; an epoch begins with fresh episodes."""
    hidden_size: int = 100
    """Units in each hidden layer."""
    learning: ReinforceConfig = field(default_factory=lambda: ReinforceConfig(anneal=False))
    """How the exploring policy learns."""


class Explored(NamedTuple):
    """What exploration has come to.

    counts: c_πe, with all transitions seen.
    learner: the exploring policy.
    epoch: how many epochs it took so far.
    steps: how many environment steps.
    tried: `float64[2, E]` attempts at each transition and successes, in the order of `counts.pairs`, which may be
        longer; `graph` alone makes any.
    """

    counts: TransitionCounts
    train_state: TrainState
    epoch: int
    steps: int
    tried: np.ndarray = np.zeros((2, 0))


def explore(
    env: Environment,
    detector: AttributeDetector | None,
    config: ExploreConfig,
    *,
    key: Key,
    begun: Explored | None = None,
    watch: Watch,
) -> Explored:
    """Step 2 of Algorithm 1: act, and count every transition between different attribute sets."""
    policy_key, epochs_key = jax.random.split(key)
    explored = begun or _nothing_explored(env, config, key=policy_key)
    while explored.steps < config.steps:
        epoch_key = jax.random.fold_in(epochs_key, explored.epoch)
        explored, metrics = _explore_epoch(env, detector, config, explored, key=epoch_key)
        watch("explore", explored.steps / config.steps, metrics, explored)
    return explored


def _nothing_explored(env: Environment, config: ExploreConfig, *, key: Key) -> Explored:
    policy = GoalPolicy(env.spec, config.hidden_size, key=key)
    return Explored(
        TransitionCounts(env.attributes.num_words), new_train_state(policy, config.learning), epoch=0, steps=0
    )


def explored_by_chance(env: Environment, config: ExploreConfig, counts: TransitionCounts, steps: int) -> Explored:
    """What random steps taken elsewhere have come to; nobody learned to explore."""
    return _nothing_explored(env, config, key=jax.random.key(0))._replace(counts=counts, steps=steps)


def _explore_epoch(
    env: Environment, detector: AttributeDetector | None, config: ExploreConfig, explored: Explored, *, key: Key
) -> tuple[Explored, dict]:
    """One epoch: fresh episodes, several windows of acting, counting and learning."""
    begin_key, rollouts_key = jax.random.split(key)
    collector = collector_for(env, detector, config.num_envs, key=begin_key)
    # Counted in a copy: an epoch that is broken off must leave no trace, or it would count twice when it is repeated.
    train_state, counts, steps, metrics = explored.train_state, explored.counts.copy(), explored.steps, {}
    attempts = Attempts(env, explored) if config.policy == "graph" else None
    for rollout_key in jax.random.split(rollouts_key, config.rollouts_per_epoch):
        train_state, metrics = _explore_window(env, collector, config, counts, train_state, attempts, key=rollout_key)
        steps += config.num_envs * config.rollout_length
        if steps >= config.steps:
            break
    collector.close()
    metrics = {"steps": steps, "sets": len(counts.sets), "edges": len(counts.pairs), **metrics}
    tried = explored.tried if attempts is None else attempts.tried()
    return Explored(counts, train_state, explored.epoch + 1, steps, tried), metrics


class Attempts:
    """The graph on which an epoch seeks rare transitions, and how often it took those that it aimed at."""

    def __init__(self, env: Environment, explored: Explored) -> None:
        self._before = np.zeros((2, len(explored.counts.pairs)))
        self._before[:, : explored.tried.shape[1]] = explored.tried
        self._order = edge_order(explored.counts)[1]
        table = table_of_counts(env.attributes, explored.counts)
        self.graph: DeviceGraph = seeking_graph(table.with_practice(*self._before[:, self._order]))
        self._score = jnp.zeros((3, len(self.graph.target)), jnp.int32)

    def add(self, trajectories: Trajectories) -> None:
        """Count the attempts of a window."""
        self._score = add_attempts(self._score, trajectories)

    def tried(self) -> np.ndarray:
        """`float64[2, E]` all attempts and successes, in the order in which the transitions were found."""
        tried = self._before.copy()
        tried[:, self._order] += np.asarray(self._score)[:2, : len(self._order)]
        return tried


def _explore_window(
    env: Environment,
    collector: Collector,
    config: ExploreConfig,
    counts: TransitionCounts,
    train_state: TrainState,
    attempts: Attempts | None,
    *,
    key: Key,
) -> tuple[TrainState, dict]:
    collect_key, update_key, batch_key = jax.random.split(key, 3)
    if config.policy == "random":
        actor = RandomActions(env, config.action_repeat)
    elif attempts is not None:
        actor = seeker(
            env,
            train_state.policy,
            attempts.graph,
            max_attempt_steps=config.max_attempt_steps,
            epsilon=config.epsilon,
            action_repeat=config.action_repeat,
        )
    else:
        actor = FreeRoaming(train_state.policy, env)
    trajectories = collector.collect(actor, config.rollout_length, key=collect_key)
    reward = count_transitions(trajectories, counts, BONUSES[config.bonus])
    if config.policy == "random":
        return train_state, {}
    if attempts is None:
        batch = _batch(env, trajectories, reward)
    else:
        attempts.add(trajectories)
        batch = attempt_batch(
            attempts.graph, trajectories, step_reward=STEP_REWARD, hindsight_share=HINDSIGHT, key=batch_key
        )
    train_state, metrics = update(train_state, batch, config.learning, key=update_key)
    return train_state, {"bonus": float(reward.mean()), **{name: float(value) for name, value in metrics.items()}}


def count_transitions(
    trajectories: Trajectories, counts: TransitionCounts, bonus: Callable[[np.ndarray, int], np.ndarray]
) -> np.ndarray:
    """Count the transitions that were seen; `float32[T, B]` the bonus of each step."""
    source, target = np.asarray(trajectories.words), np.asarray(trajectories.arrival.words)
    changed = (source != target).any(axis=-1)
    reward = np.zeros(changed.shape, np.float32)
    reward[changed] = bonus(counts.record(source[changed], target[changed]), counts.total)
    return reward


def _batch(env: Environment, trajectories: Trajectories, reward: np.ndarray) -> Batch:
    record: Roamed = trajectories.record
    values = env.attributes.unpack(trajectories.words)
    return Batch(
        observation=trajectories.observation,
        values=jnp.asarray(values),
        goal=no_values(env.attributes, values.shape[:-1]),
        action=record.action,
        log_prob=record.log_prob,
        baseline=record.baseline,
        reward=jnp.asarray(reward),
        ended=jnp.asarray(trajectories.arrival.terminated),
        cut=jnp.asarray(trajectories.arrival.truncated),
        weight=jnp.ones(reward.shape),
        imitate=jnp.zeros(reward.shape, bool),
    )
