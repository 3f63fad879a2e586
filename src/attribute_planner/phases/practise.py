"""Phase 3, practise: learn to move between neighbouring sets, and count how often it succeeds (step 3 of Algorithm
1)."""

import math
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.devices import on_this_host
from attribute_planner.data.examples import Examples
from attribute_planner.data.replay import Replay
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.errors import AttributePlannerError
from attribute_planner.learning.finite import require_finite
from attribute_planner.learning.policy_gradient import TrainState
from attribute_planner.learning.progress import Watch
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.observation_scaling import ObservationStatistics, with_statistics
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.aliasing_share import aliasing_share
from attribute_planner.phases.arrival_steps import arrival_steps
from attribute_planner.phases.device_graph import DeviceGraph, device_graph
from attribute_planner.phases.goal_sampling import (
    FarSets,
    plan_to_far_sets,
    plan_to_learnable_sets,
)
from attribute_planner.phases.passed_sets import passed_sets, with_passed_sets
from attribute_planner.phases.practise_config import PractiseConfig
from attribute_planner.phases.practise_epochs import host_epoch, pure_epoch, replay_epoch
from attribute_planner.phases.success_of_attempts import success_of_attempts
from attribute_planner.phases.temperatures import best_inverse_temperature
from attribute_planner.phases.value_horizon import value_discount
from attribute_planner.planning.executor import Conduct
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.model import PractisedTransitions

Key = jax.Array


class Practised(NamedTuple):
    """The results of practice so far.

    train_state: the policy π, with its optimiser.
    table: the explored transitions with attempts, successes and steps, decayed sums over epochs.
    epoch: epochs so far.
    steps: environment steps so far.
    fitted_on: the number of recorded steps that π was fitted to; 0 if it is not fitted.
    round_number: the last round that has begun.
    conduct: what was measured about how to act, where steps are recorded.
    counts: the transitions that were seen in practice, where steps are recorded.
    """

    train_state: TrainState
    table: PractisedTransitions
    epoch: int
    steps: int
    fitted_on: int = 0
    round_number: int = 0
    conduct: Conduct = Conduct()
    counts: TransitionCounts | None = None


def practise(
    env: Environment,
    detector: AttributeDetector | None,
    explored: PractisedTransitions,
    config: PractiseConfig,
    *,
    key: Key,
    examples: Examples | None = None,
    policy: GoalPolicy | None = None,
    statistics: ObservationStatistics | None = None,
    begun: Practised | None = None,
    round_number: int = 0,
    until: float = 1.0,
    replay: Replay | None = None,
    log: AttemptLog | None = None,
    watch: Watch,
) -> Practised:
    """Step 3 of Algorithm 1: attempt transitions to random neighbours, learn, and count how often they succeed.

    examples: the recorded steps, for a policy that is fitted to them.
    policy: the policy to begin with; a new one by default.
    statistics: those of the observations of exploration, for a policy that scales them.
    begun: the state of an earlier practice, perhaps on a graph with fewer edges.
    round_number: the round that is practised.
    until: the fraction of all steps after which to stop.
    replay: the replay buffer, for a policy that learns from one.
    log: where attempts are recorded, with a replay buffer.
    """
    if explored.listing().num_edges == 0:
        raise AttributePlannerError(
            "Exploration saw no attribute change at all, so there is nothing to practise: explore for more steps, name "
            "attributes of what changes on the way, or check with ap.check_environment whether these can change."
        )
    if begun is not None and begun.steps >= until * config.steps:
        return begun
    policy_key, fit_key, epochs_key, plans_key, state_key = jax.random.split(key, 5)
    if begun is not None:
        explored = explored.with_edges(begun.table)
    if begun is None:
        policy = policy or with_statistics(
            config.reacher.new_policy(env.spec, config.hidden_size, key=policy_key), statistics
        )
        policy = config.reacher.fit(env, policy, examples, key=fit_key, watch=watch)
        fitted_on = 0 if examples is None or not config.reacher.fits else examples.size
        nothing = np.zeros(explored.listing().num_edges)
        table = explored.with_practice(nothing, nothing, nothing)
        practised = Practised(
            config.reacher.train_state(policy, env.spec, key=state_key), table, epoch=0, steps=0, fitted_on=fitted_on
        )
        if config.steps == 0:
            watch("practise", 1.0, {"steps": 0}, practised)
    else:
        train_state = config.reacher.with_statistics(begun.train_state, statistics)
        practised = begun._replace(table=explored.with_practice_of(begun.table), train_state=train_state)
    practised = practised._replace(round_number=round_number)
    graph = None
    if replay is not None:
        replay.cut()
    while practised.steps < until * config.steps:
        if graph is None or replay is not None:  # recorded steps may have added edges in the last epoch
            graph = device_graph(practised.table, config.visit_exponent, padded=replay is not None)
        begin = 0 if replay is None else replay.end
        epoch_key = jax.random.fold_in(epochs_key, practised.epoch)
        far = None
        if config.goal_sampling == "planned":
            plan_key = jax.random.fold_in(plans_key, practised.epoch)
            plans = plan_to_far_sets
            if replay is not None:
                # Practice finds what is possible in one epoch, and tries what execution would do in the next.
                horizon = env.episode_steps if practised.epoch % 2 else None
                plans = partial(plan_to_learnable_sets, horizon=horizon)
            far = plans(practised.table.listing(), padded_to=len(graph.words), key=plan_key)
        practised, metrics = practise_epoch(
            env, detector, graph, far, config, practised, replay, log, until=until, key=epoch_key
        )
        if replay is not None:
            practised = with_recorded(practised, replay, log, env.attributes, begin)
            if practised.steps >= until * config.steps:
                practised = practised._replace(conduct=_measured(practised, replay, log, config))
        watch("practise", practised.steps / config.steps, metrics, practised)
    return practised


def _measured(practised: Practised, replay: Replay, log: AttemptLog | None, config: PractiseConfig) -> Conduct:
    """What the recorded steps tell about how to act."""
    repeatable = replay.repeatability()
    if log is None:
        return Conduct(repeatable)
    listing = practised.table.listing()
    discount = value_discount(listing, config.max_attempt_steps)
    # Compared with c_π, which has forgotten older attempts: the policy was another one.
    recent = log.since(replay.end - config.remembered_steps)
    return Conduct(
        repeatable,
        best_inverse_temperature(log, replay, discount, practised.steps / config.steps),
        success_of_attempts(recent, replay, practised.train_state.policy, listing),
        aliasing_share(log, replay, listing),
        arrival_steps(log, replay, listing),
    )


def with_recorded(
    practised: Practised, replay: Replay, log: AttemptLog | None, space: AttributeSpace, since: int
) -> Practised:
    """The same with what the steps from number `since` on show besides the outcomes of attempts.

    That is transitions, which exploration may never have seen, and the sets that attempts passed on their way.
    """
    counts = TransitionCounts(space.num_words) if practised.counts is None else practised.counts.copy()
    source, target = (np.asarray(space.pack(values)) for values in replay.transitions(since))
    counts.record(source, target)
    table = practised.table.with_pairs(source, target, visits=1)
    if log is not None:
        table = with_passed_sets(table, passed_sets(log, replay, space, since))
    return practised._replace(counts=counts, table=table)


def practise_epoch(
    env: Environment,
    detector: AttributeDetector | None,
    graph: DeviceGraph,
    far: FarSets | None,
    config: PractiseConfig,
    practised: Practised,
    replay: Replay | None = None,
    log: AttemptLog | None = None,
    *,
    until: float = 1.0,
    key: Key,
) -> tuple[Practised, dict]:
    """One epoch: fresh episodes and several rollouts of attempts; the old statistics decay by γ.

    until: the fraction of all steps at which the round ends; the epoch ends there at the latest.
    """
    per_rollout = config.num_envs * config.rollout_length
    rollouts = min(config.rollouts_per_epoch, math.ceil((until * config.steps - practised.steps) / per_rollout))
    run: Any = pure_epoch if isinstance(env, PureEnvironment) else host_epoch
    if replay is not None:
        discount = value_discount(practised.table.listing(), config.max_attempt_steps)
        run = partial(replay_epoch, replay, log, discount)
    train_state, counts, metrics = on_this_host(
        run(
            env,
            detector,
            graph,
            far,
            config,
            practised.train_state,
            jnp.int32(practised.steps),
            jnp.int32(rollouts),
            key,
        )
    )
    steps = practised.steps + rollouts * per_rollout
    attempts, successes, spent = np.asarray(counts, float)[:, : practised.table.listing().num_edges]
    metrics = {
        "steps": steps,
        "success": float(successes.sum() / max(attempts.sum(), 1)),
        "attempts": int(attempts.sum()),
        **{name: float(value) for name, value in metrics.items()},
    }
    require_finite(f"practise, {steps:,} steps", metrics, train_state)
    before, decay = practised.table.listing(), config.decay
    table = practised.table.with_practice(
        decay * before.attempts + attempts,
        decay * before.successes + successes,
        None if before.spent is None else decay * before.spent + spent,
    )
    practised = practised._replace(train_state=train_state, table=table, epoch=practised.epoch + 1, steps=steps)
    return practised, metrics
