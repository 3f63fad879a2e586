"""The inverse model as a reactive policy: the paper's supervised baseline on the blocks (Section 4.1, Appendix B).

It learns, as the planner's policy does, to predict the action between a state and the attributes of another. With the
training distribution `1-step` these are the attributes of the next state; with `multi-step` those of a later state of a
random walk, and the action is the first one on the way. At test time it is given the goal, at any distance.
"""

from dataclasses import dataclass, field

import jax
import numpy as np

from attribute_planner.baselines.reactive_policy import NetworkPolicy
from attribute_planner.baselines.training_distribution import random_mentions
from attribute_planner.data.examples import Examples, examples_of, joined, random_examples
from attribute_planner.data.random_actions import RandomActions
from attribute_planner.data.rollout import rollout
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.interface import Environment
from attribute_planner.errors import unknown_name
from attribute_planner.learning.inverse import InverseConfig, fit_inverse
from attribute_planner.learning.progress import Watch, nobody
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.policy import GoalPolicy

Key = jax.Array

INVERSE_DISTRIBUTIONS = ("1-step", "multi-step")


@dataclass(frozen=True)
class InverseBaselineConfig:
    """How the inverse baseline is trained."""

    examples: int = 1_000_000
    """Random steps to learn from. The paper has 2 M for `1-step` and 1 M for `multi-step`; with continuous actions 8 M
    and 10 M."""
    num_envs: int = 4_096
    """How many copies of the environment run at once."""
    walk: int = 8
    """Steps of a random walk for `multi-step`; our choice: most goals of the blocks are 3 to 8 drops away."""
    hidden_size: int = 128
    """Units in each hidden layer."""
    mentioned: float = 1.0
    """Share of the attributes that a partial training goal mentions; in the paper 0.7, for underspecified tasks."""
    partial: float = 1.0
    """Share of the training goals that are partial; the others mention everything."""
    deterministic: bool = False
    """Whether the policy that comes out always takes its likeliest action."""
    steps_per_episode: int = 1
    """Steps of an episode for `1-step`."""
    learning: InverseConfig = field(default_factory=InverseConfig)
    """How the policy is fitted, as the planner's."""


def later_goals(walk: Trajectories, *, key: Key) -> Trajectories:
    """The steps `[T, B]`, each with the attributes after a random later step of the same episode, or after itself."""
    over = np.asarray(walk.over)
    length = len(over)
    last = np.full(over.shape[1], length - 1)
    lasts = np.empty(over.shape, int)
    for step in reversed(range(length)):
        last = np.where(over[step], step, last)
        lasts[step] = last
    now = np.arange(length)[:, None]
    later = now + np.floor(np.asarray(jax.random.uniform(key, over.shape)) * (lasts - now + 1)).astype(int)
    return walk._replace(next_attributes=np.asarray(walk.next_attributes)[later, np.arange(over.shape[1])])


def partly_told_examples(examples: Examples, mentioned: float, partial: float = 1.0, *, key: Key) -> Examples:
    """The examples, a share `partial` of them with goals that mention only a share of the attributes.

    Those that ask for no change are dropped.
    """
    values, after = np.asarray(examples.values), np.asarray(examples.values_after)
    told = np.asarray(random_mentions(after.shape, mentioned, partial, key=key))
    examples = examples._replace(values_after=np.where(told, after, NO_VALUE).astype(after.dtype))
    return examples.take((told & (values != after)).any(axis=-1))


def train(
    env: Environment,
    training_distribution: str,
    config: InverseBaselineConfig,
    *,
    key: Key,
    detector: AttributeDetector | None = None,
    watch: Watch = nobody,
) -> NetworkPolicy:
    """A policy that names the (first) action between random states and what became of them."""
    if training_distribution not in INVERSE_DISTRIBUTIONS:
        raise unknown_name("training_distribution of the inverse model", training_distribution, INVERSE_DISTRIBUTIONS)
    network_key, collect_key, mention_key, fit_key = jax.random.split(key, 4)
    examples = collect(env, training_distribution, config, detector=detector, key=collect_key, watch=watch)
    if config.mentioned < 1:
        examples = partly_told_examples(examples, config.mentioned, config.partial, key=mention_key)
    policy = GoalPolicy(env.spec, config.hidden_size, key=network_key)
    policy = fit_inverse(env, policy, examples, config.learning, key=fit_key, watch=watch)
    return NetworkPolicy(policy, config.deterministic)


def collect(
    env: Environment,
    training_distribution: str,
    config: InverseBaselineConfig,
    *,
    detector: AttributeDetector | None,
    key: Key,
    watch: Watch,
) -> Examples:
    """Random steps with the attributes after each, or after a later step of the same walk."""
    if training_distribution == "1-step":
        return random_examples(
            env,
            detector,
            config.examples,
            num_envs=config.num_envs,
            key=key,
            episode_steps=config.steps_per_episode,
        )
    envs, actor, parts = env.vector_env(min(config.num_envs, config.examples)), RandomActions(env), []
    walks = -(-config.examples // (config.walk * envs.num_envs))
    try:
        for number, walk_key in enumerate(jax.random.split(key, walks)):
            steps_key, later_key = jax.random.split(walk_key)
            walk = rollout(
                actor, envs, config.walk, space=env.attributes, key=steps_key, detector=detector, keep="snapshot"
            )
            parts.append(examples_of(env.attributes, later_goals(walk, key=later_key)))
            watch("explore", (number + 1) / walks, {"steps": (number + 1) * walk.size}, None)
    finally:
        envs.close()
    return joined(*parts).take(slice(0, config.examples))
