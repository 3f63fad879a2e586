"""An epoch of practice: in a compiled call, on the host, or with a replay buffer."""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.replay import Replay, remember
from attribute_planner.data.rollout import advance, start
from attribute_planner.data.scan import draw_start_states, scan_steps, start_pure
from attribute_planner.data.seeds import batched
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.learning.finite import all_finite, require_finite
from attribute_planner.learning.policy_gradient import TrainState
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.attempt_batch import attempt_batch
from attribute_planner.phases.attempt_counts import count_attempts, ended_attempts, log_attempts
from attribute_planner.phases.attempts import ReachNeighbours, pursued_values
from attribute_planner.phases.device_graph import DeviceGraph
from attribute_planner.phases.goal_sampling import (
    FarSets,
)
from attribute_planner.phases.learning_thread import LearningThread
from attribute_planner.phases.practise_config import PractiseConfig
from attribute_planner.phases.temperatures import inverse_temperatures

Key = jax.Array


@batched
def pure_epoch(
    env: PureEnvironment,
    detector: AttributeDetector | None,
    graph: DeviceGraph,
    far: FarSets | None,
    config: PractiseConfig,
    train_state: TrainState,
    steps: jax.Array,
    rollouts: jax.Array,
    key: Key,
) -> tuple[TrainState, jax.Array, dict]:
    """A whole epoch as one compiled call."""
    start_key, starts_key, rollouts_key = jax.random.split(key, 3)
    dynamic, static = eqx.partition(train_state, eqx.is_array)
    actor = partial(_actor, graph, far, config, last_start=env.episode_steps)
    # An attempt in progress at the time limit of the episode continues to its end.
    limit = env.episode_steps + config.max_attempt_steps
    rounds = 2 + config.rollouts_per_epoch * config.rollout_length // limit
    starts = draw_start_states(env, detector, config.num_envs, rounds, key=starts_key)
    episodes, starts = start_pure(actor(train_state.policy), env, starts, config.num_envs, key=start_key)

    def one(carry: tuple) -> tuple:
        number, episodes, starts, dynamic, counts, _ = carry
        train_state = eqx.combine(dynamic, static)
        rollout_key, learn_key = jax.random.split(jax.random.fold_in(rollouts_key, number))
        episodes, starts, trajectories = scan_steps(
            actor(train_state.policy),
            env,
            episodes,
            starts,
            config.rollout_length,
            rollout_key,
            detector=detector,
            episode_steps=limit,
        )
        train_state, counts, metrics = _learn(
            graph, config, train_state, counts, trajectories, steps, number, rollouts, learn_key
        )
        return number + 1, episodes, starts, eqx.filter(train_state, eqx.is_array), counts, metrics

    def continues(carry: tuple) -> jax.Array:
        """Until the last rollout, or an update that is not finite."""
        return (carry[0] < rollouts) & all_finite(carry[-1])

    first = (jnp.int32(0), episodes, starts, dynamic, _no_counts(graph))
    shapes = eqx.filter_eval_shape(one, (*first, None))[-1]
    nothing = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    _, _, _, dynamic, counts, metrics = jax.lax.while_loop(continues, one, (*first, nothing))
    return eqx.combine(dynamic, static), counts, metrics


def host_epoch(
    env: Environment,
    detector: AttributeDetector | None,
    graph: DeviceGraph,
    far: FarSets | None,
    config: PractiseConfig,
    train_state: TrainState,
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
    counts = _no_counts(graph)
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
            require_finite(f"practise, rollout {number + 1} after {int(steps):,} steps", metrics)
    finally:
        envs.close()
    return train_state, counts, metrics


def replay_epoch(
    replay: Replay,
    log: AttemptLog | None,
    discount: float,
    env: Environment,
    detector: AttributeDetector | None,
    graph: DeviceGraph,
    far: FarSets | None,
    config: PractiseConfig,
    train_state: TrainState,
    steps: jax.Array,
    rollouts: jax.Array,
    key: Key,
) -> tuple[TrainState, np.ndarray, dict]:
    """The same with a policy that learns from all recorded steps."""
    start_key, rollouts_key, sample_key = jax.random.split(key, 3)
    random = np.random.default_rng(np.asarray(jax.random.key_data(sample_key)))
    factors = jnp.asarray(inverse_temperatures(config.num_envs, int(steps) / config.steps))
    actor = partial(_actor, graph, far, config, last_start=env.episode_steps, inverse_temperature=factors)
    envs, metrics = env.vector_env(config.num_envs), {}
    reacher, length = config.reacher, config.rollout_length
    learning, policy = LearningThread(config.overlap), train_state.policy
    counts = np.zeros((3, len(graph.target)))
    replay.cut()
    try:
        episodes = start(actor(policy), envs, key=start_key, detector=detector)
        for number in range(int(rollouts)):
            rollout_key = jax.random.fold_in(rollouts_key, number)
            episodes, trajectories = advance(
                actor(policy),
                envs,
                episodes,
                length,
                space=env.attributes,
                key=rollout_key,
                detector=detector,
            )
            trajectories = trajectories.on_host()
            train_state, metrics = learning.wait(train_state, metrics)
            policy = train_state.policy
            last = bool(number == rollouts - 1)
            ended = ended_attempts(trajectories, config.max_attempt_steps, last=last)
            counts = counts + ended.counts(counts.shape[1])
            remember(replay, env.attributes, trajectories, pursued_values(env.attributes, trajectories))
            if log is not None:
                log_attempts(log, trajectories, replay.end - length, last=last)
            remaining = max(1 - (int(steps) + number * length * config.num_envs) / config.steps, 0.0)
            learn = partial(reacher.learn, discount=discount, remaining=remaining, random=random)
            learning.start(partial(learn, train_state, replay))
            if not config.overlap:
                train_state, metrics = learning.wait(train_state, metrics)
                policy = train_state.policy
        train_state, metrics = learning.wait(train_state, metrics)
    finally:
        learning.close()
        envs.close()
    return train_state, counts, metrics


def _no_counts(graph: DeviceGraph) -> jax.Array:
    """Attempts, successes and steps of each edge, before the first rollout."""
    return jnp.zeros((3, len(graph.target)), jnp.int32)


def _actor(
    graph: DeviceGraph,
    far: FarSets | None,
    config: PractiseConfig,
    policy: GoalPolicy,
    *,
    last_start: int,
    inverse_temperature: jax.Array | None = None,
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
        inverse_temperature=inverse_temperature,
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
