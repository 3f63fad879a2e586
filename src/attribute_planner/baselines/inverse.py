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
from attribute_planner.data.examples import Examples, joined, take_walks
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
    learning: InverseConfig = field(default_factory=InverseConfig)
    """How the policy is fitted, and, for `1-step`, after how many steps a world begins anew: as for the planner's."""


def later_goals(walk: list[Examples], *, key: Key) -> list[Examples]:
    """The steps of a walk, each with the attributes of a random later moment of the walk as those it led to."""
    moments = np.stack([step.values_after for step in walk])
    num_envs = np.arange(moments.shape[1])
    relabelled = []
    for number, (step, step_key) in enumerate(zip(walk, jax.random.split(key, len(walk)), strict=True)):
        later = np.asarray(jax.random.randint(step_key, num_envs.shape, number, len(walk)))
        relabelled.append(step._replace(values_after=moments[later, num_envs]))
    return relabelled


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
    """Random steps, and where they led: at once, or later on."""
    walk_key, later_key = jax.random.split(key)
    single = training_distribution == "1-step"
    walks = take_walks(
        env,
        detector,
        config.examples,
        num_envs=config.num_envs,
        steps=config.learning.steps_per_episode if single else config.walk,
        key=walk_key,
        watch=watch,
    )
    steps: list[Examples] = []
    for number, walk in enumerate(walks):
        steps += walk if single else later_goals(walk, key=jax.random.fold_in(later_key, number))
    return joined(*steps).take(slice(0, config.examples))
