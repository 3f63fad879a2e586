"""`benchmark env`: environment steps per second on switches, alone, with the policy acting, and while learning."""

import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.benchmarks.measuring import Measurement, rates, seconds
from attribute_planner.data.random_actions import RandomActions
from attribute_planner.data.rollout import advance, rollout, start
from attribute_planner.environments.gridworld.switches import ColoredSwitches
from attribute_planner.environments.interface import PureEnvironment
from attribute_planner.environments.spaces import uniform_action
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.bonuses import BONUSES, count_transitions
from attribute_planner.phases.device_graph import device_graph
from attribute_planner.phases.exploration_policies import ExplorationPolicy
from attribute_planner.phases.explore import ExploreConfig
from attribute_planner.phases.practise import Practised, practise_epoch
from attribute_planner.phases.practise_config import PractiseConfig
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import TransitionTable, table_of_counts

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
    """The policy observes and samples its actions, over one whole episode."""
    policy_key, play_key = jax.random.split(key)
    actor = ExplorationPolicy(GoalPolicy(env.spec, hidden_size=100, key=policy_key))
    envs, steps = env.vector_env(num_envs), env.episode_steps

    def play() -> jax.Array:
        return rollout(actor, envs, steps, space=env.attributes, key=play_key).attributes

    return num_envs * steps / seconds(play, repeats=3)


def learning_rate(env: ColoredSwitches, num_envs: int, key: jax.Array) -> float:
    """One epoch of practice by REINFORCE: attempts at neighbours and one update per rollout."""
    explore_key, policy_key, epoch_key = jax.random.split(key, 3)
    table = explored_table(env, explore_key)
    per_rollout = num_envs * PractiseConfig.rollout_length
    rollouts = env.episode_steps // PractiseConfig.rollout_length
    config = PractiseConfig(
        steps=per_rollout * rollouts, method="reinforce", hindsight=0.0, num_envs=num_envs, rollouts_per_epoch=rollouts
    )
    policy = GoalPolicy(env.spec, config.hidden_size, key=policy_key)
    practised = Practised(config.reacher.train_state(policy, env.spec, key=policy_key), table, epoch=0, steps=0)
    graph = device_graph(table)

    def epoch() -> jax.Array:
        after, _ = practise_epoch(env, None, graph, None, config, practised, key=epoch_key)
        return after.train_state.policy.action_head.bias

    return config.steps / seconds(epoch, repeats=3)


def exploring_rate(env: ColoredSwitches, key: jax.Array, *, counting: bool) -> float:
    """Random actions in the default number of environments, with or without counting transitions."""
    start_key, play_key = jax.random.split(key)
    config, counts = ExploreConfig(), TransitionCounts(env.attributes.num_words)
    envs, actor = env.vector_env(config.num_envs), RandomActions(env)
    episodes = start(actor, envs, key=start_key)

    def play() -> jax.Array:
        _, trajectories = advance(
            actor, envs, episodes, config.rollout_length, space=env.attributes, key=play_key, keep="nothing"
        )
        if counting:
            count_transitions(trajectories, counts, BONUSES[config.bonus])
        return trajectories.attributes

    rollouts = env.episode_steps // config.rollout_length
    steps = config.num_envs * config.rollout_length * rollouts
    return steps / seconds(lambda: [play() for _ in range(rollouts)], repeats=9)


def explored_table(env: ColoredSwitches, key: jax.Array) -> TransitionTable:
    """The transitions that one episode of random actions finds in each of 1,024 environments."""
    counts = TransitionCounts(env.attributes.num_words)
    trajectories = rollout(
        RandomActions(env), env.vector_env(1024), env.episode_steps, space=env.attributes, key=key, keep="nothing"
    )
    count_transitions(trajectories, counts, BONUSES["share"])
    return table_of_counts(env.attributes, counts)


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
