"""The whole algorithm on one page, in the order of the paper. Read this file first.

Training (Algorithm 1) is three phases, each a function in `phases/`. At test time (Algorithm 2), `reach` plans on the
table that training produced and executes the plan with the policy: `planning/`.
"""

from dataclasses import dataclass, replace

import jax

from attribute_planner.agent import Agent
from attribute_planner.configuration import TrainConfig
from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.examples import symmetric_counts
from attribute_planner.data.replay import Replay
from attribute_planner.environments.interface import Environment
from attribute_planner.evaluation.calibrate import Calibration, calibrate
from attribute_planner.learning.progress import Watch, no_callback
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.observation_scaling import statistics_of
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.detect import Detected, DetectorError, detect
from attribute_planner.phases.explore import Explored, explore
from attribute_planner.phases.forward_model import FittedForwardModel, add_model_edges, fit_forward_model
from attribute_planner.phases.offline import practise_offline
from attribute_planner.phases.practise import Practised, practise
from attribute_planner.phases.refine import HiddenAttribute, attributes_on_the_way, missing_attributes, with_attributes
from attribute_planner.planning.executor import Conduct
from attribute_planner.transitions.counting import TransitionCounts, merged
from attribute_planner.transitions.model import TransitionModel
from attribute_planner.transitions.table import TransitionTable, table_of_counts

Key = jax.Array


@dataclass(frozen=True)
class Progress:
    """What each phase has produced so far; `None` for those that have not begun.

    replay: the replay buffer, for a policy that learns from one.
    log: the attempts, as positions in the replay buffer.
    calibration: how often attempts succeed when goals are pursued, compared with practice.
    """

    detected: Detected | None = None
    explored: Explored | None = None
    fitted_model: FittedForwardModel | None = None
    practised: Practised | None = None
    model_edges: TransitionTable | None = None
    replay: Replay | None = None
    log: AttemptLog | None = None
    calibration: Calibration | None = None


NOTHING_YET = Progress()

REFINE = 0x7266
"""Folded into the key of a run, for the search for missing attributes."""

CALIBRATE = 0x6361
"""Likewise for the episodes of calibration."""


def train(
    env: Environment,
    config: TrainConfig,
    *,
    key: Key,
    begun: Progress = NOTHING_YET,
    given: GoalPolicy | None = None,
    watch: Watch = no_callback,
) -> Agent:
    """Algorithm 1: detect, explore, practise. An interrupted run continues from `begun`.

    given: an external policy, which practice measures.
    """
    detect_key, explore_key, model_key, practise_key, edges_key = jax.random.split(key, 5)
    refine_key = jax.random.fold_in(key, REFINE)

    # 1. f̂: attributes from observations.
    detected = begun.detected or detect(env, config.detect, key=detect_key, watch=watch)
    detector = detected.detector if detected else None

    # 2 and 3 alternate in rounds; the paper has one round.
    replay = begun.replay or new_replay(config)
    log = AttemptLog() if begun.log is None else begun.log
    explored, practised, fitted_model = begun.explored, begun.practised, begun.fitted_model
    for number in range(first_round(explored, config), config.rounds):
        until = (number + 1) / config.rounds
        # 2. c_πe: which transitions are possible.
        explored = explore(
            env,
            detector,
            config.explore,
            key=explore_key,
            record=config.records_steps,
            begun=explored,
            round_number=number,
            until=until,
            known=None if practised is None else (practised.train_state.policy, practised.table),
            replay=replay,
            watch=watch,
        )
        possible = possible_transitions(env, seen(explored, practised), config)
        if possible.num_edges == 0 and until < 1:
            continue
        # Optional: a forward model, from the same steps.
        if config.forward_model.learn and not is_current(fitted_model, explored):
            assert explored.examples is not None
            fitted_model = fit_forward_model(env, explored.examples, config.forward_model, key=model_key, watch=watch)
        # 3. π and c_π: how to take a transition, and how often that succeeds.
        practised = practise(
            env,
            detector,
            possible,
            config.practise,
            key=practise_key,
            examples=explored.examples,
            policy=given or first_policy(explored, config),
            statistics=statistics_of(explored.train_state.policy),
            begun=practised if is_current(practised, explored) else None,
            round_number=number,
            until=until,
            replay=replay,
            log=log,
            watch=watch,
        )
        # Optional: hidden attributes, found in the attempts of the first half.
        number_key = jax.random.fold_in(refine_key, number)
        findings = hidden_attributes(env, config, replay, log, number, key=number_key)
        if findings and replay is not None:
            refined = with_attributes(
                findings,
                env,
                explored,
                practised,
                replay,
                config.explore,
                config.practise,
                config.estimator,
                key=number_key,
            )
            # A run that is resumed from here continues with the next round.
            refined = refined._replace(explored=refined.explored._replace(round_number=number + 1))
            env, explored, practised, _ = refined
            watch("refine", 1.0, {"findings": [each.message for each in findings]}, refined)
            detected = detect(env, config.detect, key=detect_key, watch=watch)
            detector = detected.detector if detected else None
    assert explored is not None and practised is not None
    table = final_table(possible_transitions(env, seen(explored, practised), config), practised.table)
    if fitted_model is not None and config.adds_model_edges:
        assert explored.examples is not None
        table = add_model_edges(
            env, fitted_model.forward_model, explored.examples, table, config.forward_model, key=edges_key
        )
        watch("model_edges", 1.0, {"sets": table.num_nodes, "edges": table.num_edges}, table)
    error = None if detected is None else detected.error
    agent = agent_of(env, config, detector, practised.train_state.policy, table, fitted_model, error, practised.conduct)
    if replay is None or not len(log):
        return agent
    records = log.record(replay, env.attributes, env.observation)
    agent = replace(agent, attempts=lambda: records)
    return calibrated(agent, config, key=jax.random.fold_in(key, CALIBRATE), watch=watch)


def calibrated(agent: Agent, config: TrainConfig, *, key: Key, watch: Watch) -> Agent:
    """The agent, whose plans say how likely they succeed: practice counts attempts, a few episodes pursue goals."""
    calibration = calibrate(agent, config.steps, key=key)
    if calibration is None:
        return agent
    watch("calibrate", 1.0, calibration.metrics, calibration)
    return replace(agent, odds=calibration.odds)


def train_offline(
    env: Environment, config: TrainConfig, *, key: Key, begun: Progress, watch: Watch = no_callback
) -> Agent:
    """The same from recorded steps alone, which exploration and the replay buffer have `begun` with."""
    assert begun.explored is not None and begun.replay is not None
    practise_key = jax.random.split(key, 5)[3]
    watch("explore", 1.0, {"steps": 0, "edges": len(begun.explored.counts.pairs)}, begun.explored)
    possible = possible_transitions(env, begun.explored.counts, config)
    practised = practise_offline(
        env.spec,
        possible,
        config.practise,
        begun.replay,
        statistics=statistics_of(begun.explored.train_state.policy),
        key=practise_key,
        watch=watch,
    )
    table = final_table(possible, practised.table)
    return agent_of(env, config, None, practised.train_state.policy, table)


def hidden_attributes(
    env: Environment, config: TrainConfig, replay: Replay | None, log: AttemptLog, number: int, *, key: Key
) -> list[HiddenAttribute]:
    """The hidden attributes to add after a round: waypoints in the first half, missing ones at its end."""
    done = number + 1
    if replay is None or done > config.rounds // 2:
        return []
    if config.refine and done == config.rounds // 2:
        return [*missing_attributes(env, replay, log, key=key)]
    if not config.waypoints:
        return []
    return [*attributes_on_the_way(env, replay, log, wait=config.rounds // 2 / done, key=key)]


def first_round(explored: Explored | None, config: TrainConfig) -> int:
    """The round in which training continues: the one that was interrupted, or an earlier one if steps were added."""
    if explored is None:
        return 0
    return min(explored.round_number, explored.steps * config.rounds // config.explore.steps, config.rounds - 1)


def new_replay(config: TrainConfig) -> Replay | None:
    """An empty replay buffer, for a policy that learns from one."""
    practise = config.practise
    return Replay(getattr(practise, practise.method).capacity) if practise.reacher.replays else None


def seen(explored: Explored, practised: Practised | None) -> TransitionCounts:
    """All transitions that were seen: in exploration, and in practice where its steps are recorded."""
    if practised is None or practised.counts is None:
        return explored.counts
    return merged(explored.counts, practised.counts)


def possible_transitions(env: Environment, counts: TransitionCounts, config: TrainConfig) -> TransitionTable:
    """The table of the transitions that exploration counted, without practice."""
    counts = symmetric_counts(env, counts) if config.explore.symmetric else counts
    return table_of_counts(env.attributes, counts, config.estimator)


def final_table(possible: TransitionTable, practised: TransitionModel) -> TransitionTable:
    """c_π: all transitions that were seen or tried, with the statistics of practice."""
    return possible.with_edges(practised).with_practice_of(practised)


def is_current(product: FittedForwardModel | Practised | None, explored: Explored) -> bool:
    """Whether an earlier product can be used: it is not fitted to the recorded steps, or to all of them."""
    if product is None:
        return False
    return product.fitted_on == 0 or (explored.examples is not None and product.fitted_on == explored.examples.size)


def first_policy(explored: Explored, config: TrainConfig) -> GoalPolicy | None:
    """The policy with which practice begins: that of graph exploration, which has learned to take transitions."""
    same_size = config.explore.hidden_size == config.practise.hidden_size
    return explored.train_state.policy if config.explore.policy == "graph" and same_size else None


def agent_so_far(env: Environment, config: TrainConfig, progress: Progress) -> Agent | None:
    """The agent at this point of the training; `None` before practice, or without the detector that it needs."""
    explored, practised, detected = progress.explored, progress.practised, progress.detected
    if (
        explored is None
        or practised is None
        or (detected is None and (config.detect.learn or not env.has_attribute_fn))
    ):
        return None
    detector, error = (None, None) if detected is None else detected
    table = final_table(possible_transitions(env, seen(explored, practised), config), practised.table)
    return agent_of(
        env, config, detector, practised.train_state.policy, table, progress.fitted_model, error, practised.conduct
    )


def agent_of(
    env: Environment,
    config: TrainConfig,
    detector: AttributeDetector | None,
    policy: GoalPolicy,
    table: TransitionTable,
    fitted_model: FittedForwardModel | None = None,
    detector_error: DetectorError | None = None,
    conduct: Conduct = Conduct(),
) -> Agent:
    """The agent made of these parts, with the settings that its training gives it."""
    forward_model, model_error = (None, 0.0) if fitted_model is None else fitted_model[:2]
    return Agent(
        env,
        detector,
        policy,
        table,
        config.practise.max_attempt_steps,
        config.practise.deterministic,
        forward_model,
        model_error,
        config.practise.stop_on_any_change,
        detector_error,
        conduct=conduct,
    )
