"""Phase 2, explore: find out which transitions between attribute sets are possible (step 2 of Algorithm 1)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.interface import Environment
from attribute_planner.learning.collecting import Collector, Experience, collector_for
from attribute_planner.learning.progress import Watch
from attribute_planner.learning.reinforce import Batch, Learner, ReinforceConfig, new_learner, update
from attribute_planner.parts.bodies import no_values
from attribute_planner.parts.counting import TransitionCounts
from attribute_planner.parts.detector import AttributeDetector
from attribute_planner.parts.policy import GoalPolicy
from attribute_planner.parts.table import edge_order, table_of_counts
from attribute_planner.phases.attempts import HINDSIGHT, STEP_REWARD, add_attempts, attempt_batch
from attribute_planner.phases.neighbours import NeighbourGraph
from attribute_planner.phases.roaming import FreeRoaming, RandomActions, Roamed
from attribute_planner.phases.seeking import seeker, seeking_graph

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
    persistence: float = 1.0
    """For how many steps a random action is kept up, on average; each unit decides for itself. Of a choice with a
    point, the point is kept up, about: one choice after the other is made there."""
    random_share: float = 0.2
    """Share of the attempts that `graph` makes at random."""
    max_attempt_steps: int = 50
    """After how many steps `graph` gives an attempt up."""
    copies: int = 128
    """How many copies of the environment run at once."""
    window: int = 50
    """Steps of each copy between two updates of the exploring policy."""
    windows_per_epoch: int = 4
    """Updates between two reports; an epoch begins with fresh episodes."""
    width: int = 100
    """Units in each hidden layer."""
    learning: ReinforceConfig = field(default_factory=lambda: ReinforceConfig(cool_down=False))
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
    learner: Learner
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
    policy = GoalPolicy(env, config.width, key=key)
    return Explored(TransitionCounts(env.attributes.num_words), new_learner(policy, config.learning), epoch=0, steps=0)


def explored_by_chance(env: Environment, config: ExploreConfig, counts: TransitionCounts, steps: int) -> Explored:
    """What random steps taken elsewhere have come to; nobody learned to explore."""
    return _nothing_explored(env, config, key=jax.random.key(0))._replace(counts=counts, steps=steps)


def _explore_epoch(
    env: Environment, detector: AttributeDetector | None, config: ExploreConfig, explored: Explored, *, key: Key
) -> tuple[Explored, dict]:
    """One epoch: fresh episodes, several windows of acting, counting and learning."""
    begin_key, windows_key = jax.random.split(key)
    collector = collector_for(env, detector, config.copies, key=begin_key)
    # Counted in a copy: an epoch that is broken off must leave no trace, or it would count twice when it is repeated.
    learner, counts, steps, metrics = explored.learner, explored.counts.copy(), explored.steps, {}
    attempts = Attempts(env, explored) if config.policy == "graph" else None
    for window_key in jax.random.split(windows_key, config.windows_per_epoch):
        learner, metrics = _explore_window(env, collector, config, counts, learner, attempts, key=window_key)
        steps += config.copies * config.window
        if steps >= config.steps:
            break
    collector.close()
    metrics = {"steps": steps, "sets": len(counts.sets), "edges": len(counts.pairs), **metrics}
    tried = explored.tried if attempts is None else attempts.tried()
    return Explored(counts, learner, explored.epoch + 1, steps, tried), metrics


class Attempts:
    """The graph on which an epoch seeks rare transitions, and how often it took those that it aimed at."""

    def __init__(self, env: Environment, explored: Explored) -> None:
        self._before = np.zeros((2, len(explored.counts.pairs)))
        self._before[:, : explored.tried.shape[1]] = explored.tried
        self._order = edge_order(explored.counts)[1]
        table = table_of_counts(env.attributes, explored.counts)
        self.graph: NeighbourGraph = seeking_graph(table.with_practice(*self._before[:, self._order]))
        self._score = jnp.zeros((3, len(self.graph.target)), jnp.int32)

    def add(self, experience: Experience) -> None:
        """Count the attempts of a window."""
        self._score = add_attempts(self._score, experience)

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
    learner: Learner,
    attempts: Attempts | None,
    *,
    key: Key,
) -> tuple[Learner, dict]:
    collect_key, update_key, batch_key = jax.random.split(key, 3)
    if config.policy == "random":
        behaviour = RandomActions(env, config.persistence)
    elif attempts is not None:
        behaviour = seeker(
            env,
            learner.policy,
            attempts.graph,
            max_attempt_steps=config.max_attempt_steps,
            random_share=config.random_share,
            persistence=config.persistence,
        )
    else:
        behaviour = FreeRoaming(learner.policy, env)
    experience = collector.collect(behaviour, config.window, key=collect_key)
    reward = count_transitions(experience, counts, BONUSES[config.bonus])
    if config.policy == "random":
        return learner, {}
    if attempts is None:
        batch = _batch(env, experience, reward)
    else:
        attempts.add(experience)
        batch = attempt_batch(
            attempts.graph, experience, step_reward=STEP_REWARD, hindsight_share=HINDSIGHT, key=batch_key
        )
    learner, metrics = update(learner, batch, config.learning, key=update_key)
    return learner, {"bonus": float(reward.mean()), **{name: float(value) for name, value in metrics.items()}}


def count_transitions(
    experience: Experience, counts: TransitionCounts, bonus: Callable[[np.ndarray, int], np.ndarray]
) -> np.ndarray:
    """Count the transitions that were seen; `float32[T, B]` the bonus of each step."""
    source, target = np.asarray(experience.words), np.asarray(experience.arrival.words)
    changed = (source != target).any(axis=-1)
    reward = np.zeros(changed.shape, np.float32)
    reward[changed] = bonus(counts.record(source[changed], target[changed]), counts.total)
    return reward


def _batch(env: Environment, experience: Experience, reward: np.ndarray) -> Batch:
    record: Roamed = experience.record
    values = env.attributes.unpack(experience.words)
    return Batch(
        observation=experience.observation,
        values=jnp.asarray(values),
        goal=no_values(env.attributes, values.shape[:-1]),
        action=record.action,
        log_prob=record.log_prob,
        baseline=record.baseline,
        reward=jnp.asarray(reward),
        ended=jnp.asarray(experience.arrival.terminated),
        cut=jnp.asarray(experience.arrival.truncated),
        weight=jnp.ones(reward.shape),
        imitate=jnp.zeros(reward.shape, bool),
    )
