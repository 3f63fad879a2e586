"""The inverse model as a reactive policy: the paper's supervised baseline on the blocks (Section 4.1, Appendix B).

It learns, as the planner's policy does, to predict the action between a state and the attributes of another. With the
training distribution `1-step` these are the attributes of the next state; with `multi-step` those of a later state of a
random walk, and the action is the first one on the way. At test time it is given the goal, at any distance.
"""

from dataclasses import dataclass, field

import jax
import numpy as np

from attribute_planner.baselines.reactive_policy import ReactivePolicy
from attribute_planner.baselines.training_distribution import random_mentions
from attribute_planner.data.examples import Examples, examples_of, joined, random_examples
from attribute_planner.data.random_actions import RandomActions
from attribute_planner.data.rollout import rollout
from attribute_planner.environments.interface import Environment
from attribute_planner.errors import unknown_name
from attribute_planner.learning.inverse import InverseConfig, fit_inverse
from attribute_planner.learning.progress import Watch, no_callback
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.ranges import COUNT, FRACTION, NUM_ENVS, WIDTH, check_settings

Key = jax.Array

INVERSE_DISTRIBUTIONS = ("1-step", "multi-step")


@dataclass(frozen=True)
class InverseBaselineConfig:
    """How the inverse baseline is trained."""

    examples: int = 1_000_000
    """Random steps to learn from. The paper has 2 M for `1-step` and 1 M for `multi-step`; with continuous actions 8 M
    and 10 M."""
    num_envs: int = 4_096
    """Number of environments."""
    walk: int = 8
    """Steps of a random walk for `multi-step`; our choice: most goals of the blocks are 3 to 8 drops away."""
    steps_per_episode: int = 1
    """Steps of an episode for `1-step`."""
    hidden_size: int = 128
    """Units of each hidden layer."""
    mentioned: float = 1.0
    """Fraction of the attributes that a partial training goal specifies; in the paper 0.7 for underspecified tasks."""
    partial: float = 1.0
    """Fraction of the training goals that are partial; the others specify all attributes."""
    deterministic: bool = False
    """Whether the trained policy takes its most likely action."""
    learning: InverseConfig = field(default_factory=InverseConfig)
    """How the policy is fitted: as the planner's."""

    def __post_init__(self) -> None:
        check_settings(
            self,
            examples=COUNT,
            num_envs=NUM_ENVS,
            walk=COUNT,
            steps_per_episode=COUNT,
            hidden_size=WIDTH,
            mentioned=FRACTION,
            partial=FRACTION,
        )


def later_goals(values_after: np.ndarray, over: np.ndarray, *, key: Key) -> np.ndarray:
    """`[T, B, A]` for each step, the attributes after a random step of the rest of its episode, itself included.

    values_after: `[T, B, A]` the attributes after each step; over: `bool[T, B]` whether its episode ends there.
    """
    length, num_envs = over.shape
    number = np.arange(length)[:, None]
    last = np.minimum.accumulate(np.where(over, number, length - 1)[::-1])[::-1]
    later = np.asarray(jax.random.randint(key, over.shape, number, last + 1))
    return values_after[later, np.arange(num_envs)]


def with_partial_goals(examples: Examples, mentioned: float, partial: float = 1.0, *, key: Key) -> Examples:
    """The examples, a fraction `partial` of them with goals that specify a fraction `mentioned` of the attributes.

    Those whose goal asks for no change are dropped.
    """
    values, after = np.asarray(examples.values), np.asarray(examples.values_after)
    specified = np.asarray(random_mentions(after.shape, mentioned, partial, key=key))
    examples = examples._replace(values_after=np.where(specified, after, NO_VALUE).astype(after.dtype))
    return examples.take((specified & (values != after)).any(axis=-1))


def train(
    env: Environment,
    training_distribution: str,
    config: InverseBaselineConfig,
    *,
    key: Key,
    watch: Watch = no_callback,
) -> ReactivePolicy:
    """A policy that predicts the (first) action between random states and later attributes."""
    if training_distribution not in INVERSE_DISTRIBUTIONS:
        raise unknown_name("training distribution of the inverse model", training_distribution, INVERSE_DISTRIBUTIONS)
    network_key, collect_key, mention_key, fit_key = jax.random.split(key, 4)
    examples = collect(env, training_distribution, config, key=collect_key, watch=watch)
    if config.mentioned < 1:
        examples = with_partial_goals(examples, config.mentioned, config.partial, key=mention_key)
    policy = GoalPolicy(env.spec, config.hidden_size, key=network_key)
    policy = fit_inverse(env, policy, examples, config.learning, key=fit_key, watch=watch)
    return ReactivePolicy(policy, config.deterministic)


def collect(
    env: Environment, training_distribution: str, config: InverseBaselineConfig, *, key: Key, watch: Watch
) -> Examples:
    """Random steps with the attributes after each, or after a later step of the same walk."""
    num_envs, space = min(config.num_envs, config.examples), env.attributes
    if training_distribution == "1-step":
        steps_per_episode = config.steps_per_episode
        return random_examples(env, None, config.examples, num_envs=num_envs, key=key, episode_steps=steps_per_episode)
    envs, parts = env.vector_env(num_envs), []
    walks = -(-config.examples // (config.walk * num_envs))
    try:
        for number, walk_key in enumerate(jax.random.split(key, walks)):
            steps_key, later_key = jax.random.split(walk_key)
            steps = rollout(RandomActions(env), envs, config.walk, space=space, key=steps_key, keep="snapshot")
            steps = steps.on_host()
            later = later_goals(steps.next_attributes, np.asarray(steps.over), key=later_key)
            parts.append(examples_of(space, steps._replace(next_attributes=later)))
            watch("explore", (number + 1) / walks, {"steps": (number + 1) * steps.size}, None)
    finally:
        envs.close()
    return joined(*parts).take(slice(0, config.examples))
