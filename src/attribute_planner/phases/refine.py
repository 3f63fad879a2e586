"""Refinement between two rounds: hidden attributes are found in the attempts, and training continues with them."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np

from attribute_planner.aliasing.find import find_aliasing
from attribute_planner.aliasing.finding import Aliasing
from attribute_planner.aliasing.waypoints import Waypoint, find_waypoints
from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.replay import Replay
from attribute_planner.environments.hidden_attributes import hidden_splits, hidden_values, with_hidden_attributes
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.splits import component_name, flat_observation
from attribute_planner.learning.policy_gradient import TrainState, new_train_state
from attribute_planner.models.observation_scaling import number_components, statistics_of, with_statistics
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.explore import ExploreConfig, Explored
from attribute_planner.phases.practise import Practised
from attribute_planner.phases.practise_config import PractiseConfig
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import table_of_counts

Key = jax.Array


HiddenAttribute = Aliasing | Waypoint
"""Why a hidden attribute is added; each has a split and a message."""


class Refined(NamedTuple):
    """An environment with hidden attributes, and the results of exploration and practice with them.

    findings: why each hidden attribute was added.
    """

    env: Environment
    explored: Explored
    practised: Practised
    findings: Sequence[HiddenAttribute]


def missing_attributes(env: Environment, replay: Replay, log: AttemptLog, *, key: Key) -> list[Aliasing]:
    """What the observation tells besides the attributes and decides whether attempts succeed."""
    if not len(log):
        return []
    found = find_aliasing(log.record(replay, env.attributes, env.observation), env.attributes, key=key)
    return [each for each in found if each.is_attribute]


SAMPLED_STEPS = 4_000
"""Number of recorded steps that show how attributes follow from observations."""


def attributes_on_the_way(
    env: Environment, replay: Replay, log: AttemptLog, *, wait: float = 1, key: Key
) -> list[Waypoint]:
    """Waypoints, if attempts seldom succeed; only for an environment without hidden attributes.

    wait: how many times the steps so far there are until it is too late for waypoints. If attempts improve so fast that
        they do not seldom succeed by then, there are none yet.
    """
    numbers = number_components(env.observation)
    if not len(log) or hidden_splits(env) or not len(numbers):
        return []
    random = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    number = random.integers(replay.first, replay.end, SAMPLED_STEPS)
    steps = replay.steps_at(number, random.integers(0, replay.num_envs, SAMPLED_STEPS))
    return find_waypoints(
        log.record(replay, env.attributes, env.observation),
        np.asarray(flat_observation(steps.observation, env.observation)),
        np.asarray(steps.values, np.int32),
        env.attributes,
        horizon=wait * replay.end,
        numbers=numbers,
        component_name=component_name(env.observation),
    )


def with_attributes(
    findings: Sequence[HiddenAttribute],
    env: Environment,
    explored: Explored,
    practised: Practised,
    replay: Replay,
    explore: ExploreConfig,
    practise: PractiseConfig,
    estimator: str,
    *,
    key: Key,
) -> Refined:
    """Continue with a hidden attribute for every finding.

    The hidden attributes are added to the recorded steps. Transitions are counted again, and new policies learn from
    the steps. The counts of attempts start again from zero.
    """
    explore_key, policy_key, state_key, learn_key = jax.random.split(key, 4)
    wider = with_hidden_attributes(env, [each.split for each in findings])
    known = len(hidden_splits(env))
    replay.append_values(lambda observation: np.asarray(hidden_values(wider, observation))[..., known:])
    counts = count_recorded(replay, wider.attributes)

    statistics = statistics_of(explored.train_state.policy)
    explorer = with_statistics(GoalPolicy(wider.spec, explore.hidden_size, key=explore_key), statistics)
    explored = Explored(counts, new_train_state(explorer, explore.learning), explored.epoch, explored.steps)

    reacher = practise.reacher
    policy = with_statistics(reacher.new_policy(wider.spec, practise.hidden_size, key=policy_key), statistics)
    train_state = reacher.train_state(policy, wider.spec, key=state_key)
    remaining = max(1 - practised.steps / practise.steps, 0.0)
    train_state = relearn(practise, train_state, replay, remaining=remaining, key=learn_key)
    table = table_of_counts(wider.attributes, counts, estimator)
    nothing = np.zeros(table.num_edges)
    table = table.with_practice(nothing, nothing, nothing)
    return Refined(wider, explored, Practised(train_state, table, practised.epoch, practised.steps), findings)


def count_recorded(replay: Replay, space: AttributeSpace) -> TransitionCounts:
    """The transitions of all recorded steps."""
    counts = TransitionCounts(space.num_words)
    counts.record(*(np.asarray(space.pack(values)) for values in replay.transitions()))
    return counts


def relearn(
    practise: PractiseConfig, train_state: TrainState, replay: Replay, *, remaining: float, key: Key
) -> TrainState:
    """Learn from the whole buffer as if all its steps were new."""
    replay.pending = float(replay.size)
    random = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    return practise.reacher.learn(
        train_state, replay, discount=practise.value_discount, remaining=remaining, random=random
    )[0]
