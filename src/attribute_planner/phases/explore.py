"""Phase 2, explore: find out which transitions between attribute sets are possible (step 2 of Algorithm 1)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Observation, uniform_action
from attribute_planner.learning.collecting import Arrival, Behaviour, Collector, Experience, collector_for
from attribute_planner.learning.progress import Watch
from attribute_planner.learning.reinforce import Batch, Learner, ReinforceConfig, new_learner, update
from attribute_planner.parts.bodies import no_values
from attribute_planner.parts.counting import TransitionCounts
from attribute_planner.parts.detector import AttributeDetector
from attribute_planner.parts.policy import GoalPolicy

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
    """`count-based`, which learns to seek rare transitions, or `random`."""
    bonus: str = "share"
    """`share`: (N/t + 0.001)^-0.5; `count`: N^-0.5."""
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
    """

    counts: TransitionCounts
    learner: Learner
    epoch: int
    steps: int


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
    for window_key in jax.random.split(windows_key, config.windows_per_epoch):
        learner, metrics = _explore_window(env, collector, config, counts, learner, key=window_key)
        steps += config.copies * config.window
        if steps >= config.steps:
            break
    collector.close()
    metrics = {"steps": steps, "sets": len(counts.sets), "edges": len(counts.pairs), **metrics}
    return Explored(counts, learner, explored.epoch + 1, steps), metrics


def _explore_window(
    env: Environment,
    collector: Collector,
    config: ExploreConfig,
    counts: TransitionCounts,
    learner: Learner,
    *,
    key: Key,
) -> tuple[Learner, dict]:
    collect_key, update_key = jax.random.split(key)
    if config.policy == "random":
        experience = collector.collect(RandomActions(env), config.window, key=collect_key)
        count_transitions(experience, counts, BONUSES[config.bonus])
        return learner, {}
    experience = collector.collect(FreeRoaming(learner.policy, env), config.window, key=collect_key)
    reward = count_transitions(experience, counts, BONUSES[config.bonus])
    learner, metrics = update(learner, _batch(env, experience, reward), config.learning, key=update_key)
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


class Roamed(NamedTuple):
    """What the exploring policy did, and thought then; `[B]` each."""

    action: Action
    log_prob: jax.Array
    baseline: jax.Array


class FreeRoaming(Behaviour[None]):
    """Acts by a policy that is given no goal: π_e."""

    policy: GoalPolicy
    env: Environment = eqx.field(static=True)

    def begin(self, copies: int) -> None:
        return None

    def act(
        self, memory: None, observation: Observation, values: jax.Array, *, key: Key
    ) -> tuple[None, Action, Roamed]:
        opinion = self.policy(observation, values, no_values(self.env.attributes, values.shape[:-1]))
        action = opinion.sample(key=key)
        return None, action, Roamed(action, opinion.log_prob(action), opinion.baseline)

    def judge(self, memory: None, arrival: Arrival) -> tuple[None, None]:
        return None, None


class Acted(NamedTuple):
    """What was done; `[B]`."""

    action: Action


class RandomActions(Behaviour[None]):
    """Acts uniformly at random: the most naive exploratory policy."""

    env: Environment = eqx.field(static=True)

    def begin(self, copies: int) -> None:
        return None

    def act(self, memory: None, observation: Observation, values: jax.Array, *, key: Key) -> tuple[None, Action, Any]:
        batch = values.shape[:-1] if self.env.units is None else (*values.shape[:-1], self.env.units)
        action = uniform_action(self.env.actions, batch, key=key)
        return None, action, Acted(action)

    def judge(self, memory: None, arrival: Arrival) -> tuple[None, None]:
        return None, None
