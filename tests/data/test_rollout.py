from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.data.random_actions import RandomActions
from attribute_planner.data.rollout import advance, rollout, start
from attribute_planner.data.trajectories import Actor, Trajectories, concatenate
from attribute_planner.environments.graph_world import GraphWorld, Place, graph_world
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.vector_env import TimeStep
from tests.probes import RING, Hosted, HostedWorlds

KEY = jax.random.key(0)
START = Place((0,))
SHORT = replace(RING, start=START, episode_steps=4)
BOTH = pytest.mark.parametrize("env", [SHORT, Hosted(replace(RING, start=START), 4)], ids=["pure", "host"])


@dataclass(frozen=True)
class Mortal(GraphWorld):
    """A ring in which an episode terminates at value 2."""

    def terminated(self, state: jax.Array) -> jax.Array:
        return self.describe(state)[0] == 2


def recorded(env: Environment, actor: Actor | None = None, length: int = 12, num_envs: int = 6, **how: Any):
    return rollout(
        actor or RandomActions(env),
        env.vector_env(num_envs),
        length,
        space=env.attributes,
        key=how.pop("key", KEY),
        **how,
    ).on_host()


def follows(trajectories: Trajectories) -> None:
    """Within an episode each step begins where the last one ended; elsewhere at the start."""
    before, after, over = trajectories.attributes, trajectories.next_attributes, trajectories.over
    np.testing.assert_array_equal(before[1:][~over[:-1]], after[:-1][~over[:-1]])
    assert not before[1:][over[:-1]].any()
    assert not before[0].any()
    assert set(((after.astype(int) - before) % 5).ravel().tolist()) == {1, 4}, "the ring has no other steps"


@BOTH
def test_episodes_are_truncated_at_their_limit_and_others_follow(env: Environment):
    trajectories = recorded(env)
    expected = np.arange(1, 13) % 4 == 0
    np.testing.assert_array_equal(trajectories.truncated, np.broadcast_to(expected[:, None], (12, 6)))
    assert not trajectories.terminated.any()
    follows(trajectories)


@pytest.mark.parametrize("env", [RING, Hosted(RING, 100)], ids=["pure", "host"])
def test_a_limit_that_is_given_counts_from_each_reset(env: Environment):
    trajectories = recorded(env, num_envs=1, episode_steps=4)
    assert trajectories.truncated[:, 0].tolist() == (np.arange(1, 13) % 4 == 0).tolist()


@BOTH
def test_a_rollout_continues_where_the_last_one_stopped(env: Environment):
    envs, actor = env.vector_env(6), RandomActions(env)
    episodes, parts = start(actor, envs, key=KEY), []
    for number in range(2):
        episodes, part = advance(actor, envs, episodes, 6, space=env.attributes, key=jax.random.key(number))
        parts.append(part.on_host())
    trajectories = concatenate(*parts)
    np.testing.assert_array_equal(trajectories.truncated[:, 0], np.arange(1, 13) % 4 == 0)
    follows(trajectories)


@BOTH
def test_the_time_limit_can_be_shorter(env: Environment):
    assert recorded(env, episode_steps=1).truncated.all()
    # Each episode has the whole limit: its steps are counted from its own start.
    assert recorded(env, episode_steps=3, length=7).truncated[:, 0].tolist() == [False, False, True] * 2 + [False]


def test_where_an_episode_terminated_is_recorded_before_the_reset():
    trajectories = recorded(Mortal(RING.space, RING.edges, START, episode_steps=50), length=40)
    np.testing.assert_array_equal(trajectories.terminated, trajectories.next_attributes[..., 0] == 2)
    assert trajectories.terminated.sum() > 5
    assert not trajectories.truncated.any()
    follows(trajectories)


class LeavesAtTwo(RandomActions):
    """Wants a reset at value 2."""

    def wants_reset(self, memory: Any, timestep: TimeStep) -> Any:
        return timestep.attributes[:, 0] == 2  # pyright: ignore[reportOptionalSubscript]


@pytest.mark.parametrize("env", [replace(RING, start=START), Hosted(replace(RING, start=START), 50)])
def test_a_reset_that_the_actor_wants_is_a_truncation(env: Environment):
    trajectories = recorded(env, LeavesAtTwo(env), length=15)
    np.testing.assert_array_equal(trajectories.truncated, trajectories.next_attributes[..., 0] == 2)
    follows(trajectories)


class Countdown(Actor[int]):
    """In Python: action 0 until each environment has made as many steps as its number; its memory counts steps."""

    def begin(self, num_envs: int, *, key: jax.Array) -> int:
        return 0

    def act(self, memory: int, observation: Any, attributes: Any, *, key: jax.Array) -> tuple[int, Any, Any]:
        assert isinstance(attributes, np.ndarray)
        return memory, np.zeros(len(attributes), np.int32), None

    def observe(self, memory: int, timestep: TimeStep) -> tuple[int, None]:
        return memory + 1, None

    def active(self, memory: int) -> np.ndarray:
        return np.arange(4) > memory


def test_an_actor_in_python_can_stop_early_and_is_not_reset_behind_its_back():
    env = replace(RING, start=START, episode_steps=2)
    trajectories = recorded(env, Countdown(), length=50, num_envs=4)
    assert trajectories.terminated.shape == (3, 4), "the last environment takes three steps"
    assert recorded(env, Countdown(), length=50, num_envs=4, episode_steps=99).next_attributes[:, 3, 0].tolist() == [
        1,
        2,
        3,
    ]


def test_snapshots_show_the_observations_again():
    observed, kept, dropped = (recorded(RING, keep=what) for what in ("observation", "snapshot", "nothing"))
    again = RING.observe_batch(jax.tree.map(jnp.asarray, kept.flat().observation))
    np.testing.assert_array_equal(again, observed.flat().observation)
    assert dropped.observation is None
    np.testing.assert_array_equal(dropped.attributes, observed.attributes)


def test_chance_comes_from_the_key_alone():
    one, same, other = (recorded(RING, key=jax.random.key(seed)) for seed in (1, 1, 2))
    assert eqx.tree_equal(one, same)
    assert not np.array_equal(one.attributes, other.attributes)


def test_the_first_held_action_depends_on_the_key():
    actor = RandomActions(RING, action_repeat=1e9)
    actions = [recorded(RING, actor, length=1, num_envs=64, key=jax.random.key(seed)).action for seed in range(2)]
    assert not np.array_equal(*actions)


class KeyedWorlds(HostedWorlds):
    """Worlds that keep the keys that they are given."""

    def __init__(self, env: Hosted, num_envs: int) -> None:
        super().__init__(env, num_envs)
        self.keys: list[bytes] = []

    def step(self, action: Any, key: jax.Array) -> TimeStep:
        self.keys.append(np.asarray(jax.random.key_data(key)).tobytes())
        return super().step(action, key)

    def reset_where(self, which: np.ndarray, key: jax.Array, task: Any = None) -> TimeStep:
        self.keys.append(np.asarray(jax.random.key_data(key)).tobytes())
        return super().reset_where(which, key, task)


def test_no_step_and_no_reset_on_the_host_share_a_key():
    env = Hosted(replace(RING, start=START), 2)
    envs = KeyedWorlds(env, 3)
    rollout(RandomActions(env), envs, 6, space=env.attributes, key=KEY)
    assert len(envs.keys) == 9, "six steps and three resets"
    assert len(set(envs.keys)) == len(envs.keys)


def test_every_environment_has_a_chance_of_its_own():
    coin = graph_world(RING.space, [((0,), 0, (1,), 0.5), ((1,), 0, (2,), 0.5)], start=(0,), episode_steps=20)
    trajectories = recorded(coin, length=1, num_envs=40)
    assert 5 < (trajectories.next_attributes[0, :, 0] == 1).sum() < 35
