"""Phase 3, practise: learn to move between neighbouring sets, and count how often it succeeds (step 3 of Algorithm
1)."""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.examples import Examples
from attribute_planner.data.replay import Replay, remember
from attribute_planner.data.rollout import advance, scan_steps, start, start_pure
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.errors import AttributePlannerError, ConfigurationError, require_positive_settings, unknown_name
from attribute_planner.learning.dqn import DQNConfig
from attribute_planner.learning.inverse import InverseConfig
from attribute_planner.learning.policy_gradient import TrainState
from attribute_planner.learning.ppo import PPOConfig
from attribute_planner.learning.progress import Watch
from attribute_planner.learning.reachers import REACHERS, Reacher
from attribute_planner.learning.reinforce import ReinforceConfig
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.observation_scaling import ObservationStatistics, with_statistics
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.attempts import (
    HINDSIGHT,
    STEP_REWARD,
    ReachNeighbours,
    attempt_batch,
    count_attempts,
    ended_attempts,
    log_attempts,
    pursued_values,
)
from attribute_planner.phases.device_graph import DeviceGraph, device_graph
from attribute_planner.phases.goal_sampling import (
    GOAL_SAMPLING,
    FarSets,
    optimistic,
    plan_to_far_sets,
    rarely_reached,
    with_shortcuts,
)
from attribute_planner.transitions.table import TransitionTable

Key = jax.Array


@dataclass(frozen=True)
class PractiseConfig:
    """How the agent learns to move between neighbouring attribute sets."""

    steps: int = 10_000_000
    """Environment steps in all environments together: N₂ of Algorithm 1. May be 0 for `inverse`."""
    method: str = "ppo"
    """How π learns: `ppo` or `reinforce`, from the rewards of attempts; `dqn` (discrete actions) or `sac` (actions in a
    box), from a replay buffer with goals in hindsight; or `inverse`, from the steps that exploration recorded, if every
    transition takes a single step. Practice then only measures the success of π. So it does with `given`, an external
    policy."""
    max_attempt_steps: int = 80
    """The number of steps after which an attempt fails: t_max."""
    stop_on_any_change: bool = True
    """Whether an attempt ends with any change of the attributes, as in the paper's Algorithm 1, or only at its target
    or after t_max steps, as in the paper's text."""
    step_reward: float = STEP_REWARD
    """Reward of every step; reaching the target adds 1. The paper has −0.1. If any change ends an attempt, changing a
    nearby attribute then has a higher return than taking ten steps to the target."""
    hindsight: float = HINDSIGHT
    """Fraction of the attempts that ended in another set and are used as examples of reaching it; 0 in the paper."""
    goal_sampling: str = "neighbours"
    """How targets are drawn: `neighbours` of the current set by visit counts, as in the paper; or `planned`, the next
    set on a plan to a random distant set."""
    shortcuts: int = 0
    """Number of distant sets, in each round, towards which transitions that skip sets are added to the graph."""
    visit_exponent: float = 1.0
    """Neighbours are drawn by their visit counts to this power: 1 as in the paper; less favours rare ones."""
    decay: float = 0.9
    """γ: the weight of the statistics of an epoch one epoch later; 1 for plain ratios."""
    num_envs: int = 256
    """Number of parallel environments."""
    rollout_length: int = 40
    """Steps of each environment between two updates of the policy."""
    rollouts_per_epoch: int = 25
    """Updates in an epoch; an epoch begins with fresh episodes."""
    hidden_size: int = 100
    """Units in each hidden layer."""
    deterministic: bool = False
    """Whether π always takes its most probable action, in practice and in execution; otherwise it samples."""
    ppo: PPOConfig = field(default_factory=PPOConfig)
    """Settings of `ppo`."""
    reinforce: ReinforceConfig = field(default_factory=ReinforceConfig)
    """Settings of `reinforce`."""
    inverse: InverseConfig = field(default_factory=InverseConfig)
    """Settings of `inverse`."""
    dqn: DQNConfig = field(default_factory=DQNConfig)
    """Settings of `dqn`."""
    sac: DQNConfig = field(default_factory=DQNConfig)
    """Settings of `sac`."""
    given: ClassVar[None] = None
    """There are no settings of `given`."""

    def __post_init__(self) -> None:
        if self.method not in REACHERS:
            raise unknown_name("learning method", self.method, REACHERS)
        if self.goal_sampling not in GOAL_SAMPLING:
            raise unknown_name("goal sampling", self.goal_sampling, GOAL_SAMPLING)
        require_positive_settings(
            self, "num_envs", "rollout_length", "rollouts_per_epoch", "hidden_size", "max_attempt_steps"
        )
        if self.steps < 0 or (self.steps == 0 and self.method != "inverse"):
            raise ConfigurationError(f"PractiseConfig.steps must be greater than zero; it is {self.steps}.")

    @property
    def value_discount(self) -> float:
        """Discount factor of policies that estimate the probability of arriving: t_max is their horizon."""
        return 1 - 1 / self.max_attempt_steps

    @property
    def reacher(self) -> Reacher:
        """How π learns, with its settings."""
        return REACHERS[self.method](self.method, getattr(self, self.method))


class Practised(NamedTuple):
    """The results of practice so far.

    train_state: the policy π, with its optimiser.
    table: the explored graph with attempts, successes and steps, decayed sums over epochs.
    epoch: epochs so far.
    steps: environment steps so far.
    fitted_on: the number of recorded steps that π was fitted to; 0 if it is not fitted.
    round_number: the last round that has begun.
    """

    train_state: TrainState
    table: TransitionTable
    epoch: int
    steps: int
    fitted_on: int = 0
    round_number: int = 0


def practise(
    env: Environment,
    detector: AttributeDetector | None,
    explored: TransitionTable,
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
    round_number: the round that is practised; shortcuts are added to the graph when it begins.
    until: the fraction of all steps after which to stop.
    replay: the replay buffer, for a policy that learns from one.
    log: where attempts are recorded, with a replay buffer.
    """
    if explored.num_edges == 0:
        raise AttributePlannerError(
            "Exploration saw no attribute change at all, so there is nothing to practise: explore for more steps, "
            "or check with ap.check_environment whether the attributes can change."
        )
    if begun is not None and begun.steps >= until * config.steps:
        return begun
    policy_key, fit_key, epochs_key, plans_key, state_key, shortcuts_key = jax.random.split(key, 6)
    if begun is not None:
        explored = explored.with_edges(begun.table)
    if config.shortcuts and (begun is None or begun.round_number != round_number):
        round_key = jax.random.fold_in(shortcuts_key, 0 if begun is None else begun.steps)
        explored = with_shortcuts(explored, config.shortcuts, key=round_key)
    if begun is None:
        policy = policy or with_statistics(
            config.reacher.new_policy(env.spec, config.hidden_size, key=policy_key), statistics
        )
        policy = config.reacher.fit(env, policy, examples, key=fit_key, watch=watch)
        fitted_on = 0 if examples is None or not config.reacher.fits else examples.size
        nothing = np.zeros(explored.num_edges)
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
    graph = device_graph(explored, config.visit_exponent, padded=replay is not None)
    if replay is not None:
        replay.cut()
    while practised.steps < until * config.steps:
        epoch_key = jax.random.fold_in(epochs_key, practised.epoch)
        far = None
        if config.goal_sampling == "planned":
            plan_key = jax.random.fold_in(plans_key, practised.epoch)
            table, weight = practised.table, None
            if replay is not None:
                table, weight = optimistic(practised.table), rarely_reached(practised.table)
            far = plan_to_far_sets(table, weight, padded_to=len(graph.words), key=plan_key)
        practised, metrics = practise_epoch(
            env, detector, graph, far, config, practised, replay, log, until=until, key=epoch_key
        )
        watch("practise", practised.steps / config.steps, metrics, practised)
    return practised


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
    run: Any = _pure_epoch if isinstance(env, PureEnvironment) else _host_epoch
    if replay is not None:
        run = partial(_replay_epoch, replay, log)
    size = (3, len(graph.target))
    counts = jnp.zeros(size, jnp.int32) if replay is None else np.zeros(size)
    train_state, counts, metrics = run(
        env,
        detector,
        graph,
        far,
        config,
        practised.train_state,
        counts,
        jnp.int32(practised.steps),
        jnp.int32(rollouts),
        key,
    )
    steps = practised.steps + rollouts * per_rollout
    attempts, successes, spent = np.asarray(counts, float)[:, : practised.table.num_edges]
    metrics = {
        "steps": steps,
        "success": float(successes.sum() / max(attempts.sum(), 1)),
        "attempts": int(attempts.sum()),
        **{name: float(value) for name, value in metrics.items()},
    }
    before, decay = practised.table, config.decay
    table = before.with_practice(
        decay * before.attempts + attempts,
        decay * before.successes + successes,
        None if before.spent is None else decay * before.spent + spent,
    )
    practised = practised._replace(train_state=train_state, table=table, epoch=practised.epoch + 1, steps=steps)
    return practised, metrics


@eqx.filter_jit
def _pure_epoch(
    env: PureEnvironment,
    detector: AttributeDetector | None,
    graph: DeviceGraph,
    far: FarSets | None,
    config: PractiseConfig,
    train_state: TrainState,
    counts: jax.Array,
    steps: jax.Array,
    rollouts: jax.Array,
    key: Key,
) -> tuple[TrainState, jax.Array, dict]:
    """A whole epoch as one compiled call."""
    start_key, rollouts_key = jax.random.split(key)
    dynamic, static = eqx.partition(train_state, eqx.is_array)
    actor = partial(_actor, graph, far, config, last_start=env.episode_steps)
    episodes = start_pure(actor(train_state.policy), env, config.num_envs, key=start_key, detector=detector)
    # An attempt in progress at the time limit of the episode continues to its end.
    limit = env.episode_steps + config.max_attempt_steps

    def one(number: Any, carry: tuple) -> tuple:
        episodes, dynamic, counts, _ = carry
        train_state = eqx.combine(dynamic, static)
        rollout_key, learn_key = jax.random.split(jax.random.fold_in(rollouts_key, number))
        episodes, trajectories = scan_steps(
            actor(train_state.policy),
            env,
            episodes,
            config.rollout_length,
            rollout_key,
            detector=detector,
            episode_steps=limit,
        )
        train_state, counts, metrics = _learn(
            graph, config, train_state, counts, trajectories, steps, number, rollouts, learn_key
        )
        return episodes, eqx.filter(train_state, eqx.is_array), counts, metrics

    shapes = eqx.filter_eval_shape(one, 0, (episodes, dynamic, counts, None))[3]
    nothing = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    _, dynamic, counts, metrics = jax.lax.fori_loop(0, rollouts, one, (episodes, dynamic, counts, nothing))
    return eqx.combine(dynamic, static), counts, metrics


def _host_epoch(
    env: Environment,
    detector: AttributeDetector | None,
    graph: DeviceGraph,
    far: FarSets | None,
    config: PractiseConfig,
    train_state: TrainState,
    counts: jax.Array,
    steps: jax.Array,
    rollouts: jax.Array,
    key: Key,
) -> tuple[TrainState, jax.Array, dict]:
    """The same with environments that are stepped from the host."""
    start_key, rollouts_key = jax.random.split(key)
    # These environments end their episodes themselves: no attempt begins too late to be finished. If t_max is longer
    # than half an episode, attempts may begin in the first half.
    last_start = env.episode_steps - min(config.max_attempt_steps, env.episode_steps // 2)
    actor = partial(_actor, graph, far, config, last_start=last_start)
    envs, metrics = env.vector_env(config.num_envs), {}
    try:
        episodes = start(actor(train_state.policy), envs, key=start_key, detector=detector)
        for number in range(int(rollouts)):
            rollout_key, learn_key = jax.random.split(jax.random.fold_in(rollouts_key, number))
            episodes, trajectories = advance(
                actor(train_state.policy),
                envs,
                episodes,
                config.rollout_length,
                space=env.attributes,
                key=rollout_key,
                detector=detector,
            )
            train_state, counts, metrics = _compiled_learn(
                graph, config, train_state, counts, trajectories, steps, jnp.int32(number), rollouts, learn_key
            )
    finally:
        envs.close()
    return train_state, counts, metrics


def _replay_epoch(
    replay: Replay,
    log: AttemptLog | None,
    env: Environment,
    detector: AttributeDetector | None,
    graph: DeviceGraph,
    far: FarSets | None,
    config: PractiseConfig,
    train_state: TrainState,
    counts: np.ndarray,
    steps: jax.Array,
    rollouts: jax.Array,
    key: Key,
) -> tuple[TrainState, np.ndarray, dict]:
    """The same with a policy that learns from all recorded steps."""
    start_key, rollouts_key, sample_key = jax.random.split(key, 3)
    random = np.random.default_rng(np.asarray(jax.random.key_data(sample_key)))
    actor = partial(_actor, graph, far, config, last_start=env.episode_steps)
    envs, metrics = env.vector_env(config.num_envs), {}
    reacher, length = config.reacher, config.rollout_length
    replay.cut()
    try:
        episodes = start(actor(train_state.policy), envs, key=start_key, detector=detector)
        for number in range(int(rollouts)):
            rollout_key = jax.random.fold_in(rollouts_key, number)
            episodes, trajectories = advance(
                actor(train_state.policy),
                envs,
                episodes,
                length,
                space=env.attributes,
                key=rollout_key,
                detector=detector,
            )
            last = number == rollouts - 1
            ended = ended_attempts(trajectories, config.max_attempt_steps, last=bool(last))
            counts = counts + ended.counts(counts.shape[1])
            remember(replay, env.attributes, trajectories, pursued_values(env.attributes, trajectories))
            if log is not None:
                log_attempts(log, trajectories, replay.end - length)
            remaining = max(1 - (int(steps) + number * length * config.num_envs) / config.steps, 0.0)
            train_state, learned = reacher.learn(
                train_state, replay, discount=config.value_discount, remaining=remaining, random=random
            )
            metrics = learned or metrics
    finally:
        envs.close()
    return train_state, counts, metrics


def _actor(
    graph: DeviceGraph, far: FarSets | None, config: PractiseConfig, policy: GoalPolicy, *, last_start: int
) -> ReachNeighbours:
    return ReachNeighbours(
        policy,
        graph,
        config.max_attempt_steps,
        config.deterministic,
        far,
        config.stop_on_any_change,
        last_start,
        draws_far=config.reacher.replays,
    )


def _learn(
    graph: DeviceGraph,
    config: PractiseConfig,
    train_state: TrainState,
    counts: jax.Array,
    trajectories: Trajectories,
    steps: Any,
    number: Any,
    rollouts: Any,
    key: Key,
) -> tuple[TrainState, jax.Array, dict]:
    """Count and learn from the attempts of rollout `number` of an epoch that began after `steps` steps."""
    batch_key, update_key = jax.random.split(key)
    length = config.rollout_length
    # Attempts that the end of the epoch may cut off are learned from, but do not count.
    steps_left = (rollouts - number) * length - 1 - jnp.arange(length)
    horizon = jnp.minimum(config.max_attempt_steps, rollouts * length // 2)
    counts = count_attempts(counts, trajectories, steps_left, horizon)
    batch = attempt_batch(
        graph, trajectories, step_reward=config.step_reward, hindsight_share=config.hindsight, key=batch_key
    )
    done = jnp.asarray(steps + number * length * config.num_envs, jnp.float32)
    remaining = jnp.maximum(1 - done / config.steps, 0.0)
    train_state, metrics = config.reacher.update(train_state, batch, remaining=remaining, key=update_key)
    return train_state, counts, metrics


_compiled_learn = eqx.filter_jit(_learn)
