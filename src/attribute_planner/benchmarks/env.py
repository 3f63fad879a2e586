"""`benchmark env`: environment steps per second on switches, alone, with the policy acting, and while learning."""

import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.benchmarks.measuring import Measurement, rates, seconds
from attribute_planner.data.collecting import collector_for
from attribute_planner.environments.gridworld.switches import ColoredSwitches
from attribute_planner.environments.interface import PureEnvironment
from attribute_planner.environments.spaces import uniform_action
from attribute_planner.learning.reinforce import ReinforceConfig, new_train_state, update
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.attempts import AimAtNeighbours, attempt_batch
from attribute_planner.phases.device_graph import device_graph
from attribute_planner.phases.exploration_policies import FreeRoaming, RandomActions
from attribute_planner.phases.explore import BONUSES, ExploreConfig, count_transitions
from attribute_planner.phases.practise import PractiseConfig
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import table_of_counts

PEER = "MiniGrid's base class under Gymnasium's SyncVectorEnv"
PEER_ENVS, PEER_SECONDS = 16, 3.0


def measure() -> list[Measurement]:
    """Rates of acting and learning against the same task on MiniGrid, and of exploring with and without counting."""
    on_gpu = jax.default_backend() != "cpu"
    env, key = ColoredSwitches(), jax.random.key(0)
    peer = peer_rate()
    return [
        rates("environment alone", alone_rate(env, 2**20 if on_gpu else 1024, key), peer, "steps/s", PEER),
        rates("with the policy acting", acting_rate(env, 2**17 if on_gpu else 256, key), peer, "steps/s", PEER),
        rates("while learning", learning_rate(env, 2**17 if on_gpu else 256, key), peer, "steps/s", PEER),
        rates(
            "random exploration, counting transitions",
            exploring_rate(env, key, counting=True),
            exploring_rate(env, key, counting=False),
            "steps/s",
            "the same without counting",
        ),
    ]


def alone_rate(env: PureEnvironment, num_envs: int, key: jax.Array) -> float:
    """Random actions for one whole episode, the reset that begins it included."""
    actors = (num_envs,) if env.num_units is None else (num_envs, env.num_units)

    @jax.jit
    def episode(key: jax.Array) -> jax.Array:
        reset_key, play_key = jax.random.split(key)
        states = jax.vmap(env.reset)(jax.random.split(reset_key, num_envs))

        def step(states, step_key):
            action = uniform_action(env.actions, actors, key=step_key)
            return jax.vmap(partial(env.step, key=step_key))(states, action), None

        states, _ = jax.lax.scan(step, states, jax.random.split(play_key, env.episode_steps))
        return jnp.sum(jax.vmap(env.describe)(states))

    return num_envs * env.episode_steps / seconds(lambda: episode(key))


def acting_rate(env: PureEnvironment, num_envs: int, key: jax.Array) -> float:
    """The policy observes and samples its actions for one whole episode."""
    policy_key, begin_key, play_key = jax.random.split(key, 3)
    policy = GoalPolicy(env.spec, hidden_size=100, key=policy_key)
    collector = collector_for(env, None, num_envs, key=begin_key)
    steps = env.episode_steps

    def play() -> jax.Array:
        return jnp.asarray(collector.collect(FreeRoaming(policy, env), steps, key=play_key).words)

    return num_envs * steps / seconds(play, repeats=3)


def learning_rate(env: ColoredSwitches, num_envs: int, key: jax.Array) -> float:
    """Attempts at neighbouring sets, and one update of one epoch and one minibatch per rollout."""
    policy_key, graph_key, begin_key, play_key = jax.random.split(key, 4)
    config = PractiseConfig(hindsight=0.0, learning=ReinforceConfig(update_epochs=1, num_minibatches=1))
    train_state = new_train_state(GoalPolicy(env.spec, hidden_size=100, key=policy_key), config.learning)
    graph = _explored_graph(env, graph_key)
    collector = collector_for(env, None, num_envs, key=begin_key)

    def collect_and_update() -> jax.Array:
        actor = AimAtNeighbours(train_state.policy, graph, config.max_attempt_steps)
        trajectories = collector.collect(actor, config.rollout_length, key=play_key)
        batch = attempt_batch(
            graph, trajectories, step_reward=config.step_reward, hindsight_share=config.hindsight, key=play_key
        )
        return update(train_state, batch, config.learning, key=play_key)[1]["return"]

    # Time a whole episode, so that resets are included.
    rollouts = env.episode_steps // config.rollout_length
    return (
        num_envs
        * config.rollout_length
        * rollouts
        / seconds(lambda: [collect_and_update() for _ in range(rollouts)], repeats=3)
    )


def exploring_rate(env: ColoredSwitches, key: jax.Array, *, counting: bool) -> float:
    """Random actions in the default number of environments, with or without counting transitions."""
    begin_key, play_key = jax.random.split(key)
    config, counts = ExploreConfig(), TransitionCounts(env.attributes.num_words)
    collector = collector_for(env, None, config.num_envs, key=begin_key)

    def collect_and_count() -> jax.Array:
        trajectories = collector.collect(RandomActions(env), config.rollout_length, key=play_key)
        if counting:
            count_transitions(trajectories, counts, BONUSES[config.bonus])
        return jnp.asarray(trajectories.words)

    rollouts = env.episode_steps // config.rollout_length
    return (
        config.num_envs
        * config.rollout_length
        * rollouts
        / seconds(lambda: [collect_and_count() for _ in range(rollouts)], repeats=9)
    )


def _explored_graph(env: ColoredSwitches, key: jax.Array):
    begin_key, play_key = jax.random.split(key)
    counts = TransitionCounts(env.attributes.num_words)
    collector = collector_for(env, None, 1024, key=begin_key)
    trajectories = collector.collect(RandomActions(env), env.episode_steps, key=play_key)
    count_transitions(trajectories, counts, BONUSES["share"])
    return device_graph(table_of_counts(env.attributes, counts))


def peer_rate() -> float | None:
    """Steps per second of the same rules on MiniGrid, resets included; `None` if it is not installed."""
    try:
        from attribute_planner.benchmarks.minigrid_switches import vector_env
    except ImportError:
        return None
    envs = vector_env(PEER_ENVS, ColoredSwitches().episode_steps)
    envs.reset(seed=0)
    random = np.random.default_rng(0)
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < PEER_SECONDS:
        envs.step(random.integers(0, 7, PEER_ENVS))
        steps += PEER_ENVS
    taken = time.perf_counter() - start
    envs.close()
    return steps / taken
