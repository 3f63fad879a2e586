"""What a user brings to a training: a policy that was made elsewhere, or recorded steps."""

from dataclasses import replace

import jax

from attribute_planner.algorithm import Progress
from attribute_planner.configuration import TrainConfig
from attribute_planner.data.dataset import Dataset
from attribute_planner.data.refill import refill
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.learning.policy_gradient import TrainState, new_train_state
from attribute_planner.models.given_policy import GivenPolicy, Predicts
from attribute_planner.models.observation_scaling import statistics_of, with_observations
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.explore import Explored


def explored_in(
    dataset: Dataset, env: Environment, config: TrainConfig, begun: Progress, *, key: jax.Array
) -> Explored:
    """What recorded experience shows, as if exploration had seen it; its steps are added to the replay buffer."""
    assert begun.replay is not None
    counts = refill(begun.replay, dataset, config.practise.num_envs, env.spec)
    policy = GoalPolicy(env.spec, config.explore.hidden_size, key=key)
    rows = begun.replay.rows_since(0)
    if rows is not None and statistics_of(policy) is not None:
        policy = with_observations(policy, rows[1].observation)
    return Explored(counts, new_train_state(policy, config.explore.learning), epoch=0, steps=0)


def with_given_policy(config: TrainConfig) -> TrainConfig:
    """The settings for a policy that was made elsewhere."""
    return replace(config, practise=replace(config.practise, method="given", deterministic=True))


def given_policy(spec: EnvironmentSpec, config: TrainConfig, policy: Predicts) -> GoalPolicy:
    """A policy that was made elsewhere, as π."""
    like = config.practise.reacher.new_policy(spec, config.practise.hidden_size, key=jax.random.key(0))
    return GivenPolicy(spec, policy, like=like)


def with_policy(begun: Progress, policy: GoalPolicy) -> Progress:
    """The progress of a run with the policy that was made elsewhere, which is not saved."""
    if begun.practised is None:
        return begun
    train_state = TrainState(policy, begun.practised.train_state.optimiser)
    return replace(begun, practised=begun.practised._replace(train_state=train_state))
