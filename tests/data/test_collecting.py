from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.data.collecting import DeviceCollector, HostCollector, Trajectories, collector_for
from attribute_planner.environments.graph_world import GraphWorld, Place
from attribute_planner.environments.interface import Environment
from attribute_planner.phases.exploration_policies import RandomActions
from tests.probes import RING, Hosted

KEY = jax.random.key(0)


@dataclass(frozen=True)
class Mortal(GraphWorld):
    """A ring in which the episode is over for good at value 2."""

    def terminated(self, state: jax.Array) -> jax.Array:
        return self.describe(state)[0] == 2


def collected(env: Environment, steps: int = 12, num_envs: int = 6) -> Trajectories:
    collector = collector_for(env, None, num_envs, key=KEY)
    halves = [collector.collect(RandomActions(env), steps // 2, key=jax.random.key(i)) for i in (1, 2)]
    collector.close()
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *halves)


START = Place((0,))


@pytest.mark.parametrize("env", [replace(RING, start=START, episode_steps=4), Hosted(replace(RING, start=START), 4)])
def test_episodes_are_cut_off_at_their_limit_and_begin_anew(env: Environment):
    trajectories = collected(env)
    before, after = trajectories.words[..., 0], np.asarray(trajectories.arrival.words)[..., 0]
    # Four steps an episode, in every copy at once; also across two calls.
    expected = np.arange(1, 13) % 4 == 0
    np.testing.assert_array_equal(trajectories.arrival.truncated, np.broadcast_to(expected[:, None], (12, 6)))
    assert not np.any(trajectories.arrival.terminated)
    # Within an episode each step begins where the last one ended, and an episode begins at the start.
    np.testing.assert_array_equal(before[1:][~expected[:-1]], after[:-1][~expected[:-1]])
    assert not before[::4].any()
    # The ring has no other steps than these.
    assert set(((after.astype(int) - before) % 5).ravel().tolist()) == {1, 4}


def test_where_an_episode_ended_is_seen_before_it_begins_anew():
    trajectories = collected(Mortal(RING.space, RING.edges, START, episode_steps=50), steps=40)
    died = np.asarray(trajectories.arrival.terminated)
    np.testing.assert_array_equal(died, np.asarray(trajectories.arrival.words)[..., 0] == 2)
    assert died.sum() > 5
    assert not np.any(trajectories.arrival.truncated)
    assert not np.any(trajectories.words[..., 0] == 2)
    assert not trajectories.words[1:][died[:-1]].any()


def test_the_collector_fits_the_environment():
    assert isinstance(collector_for(RING, None, 2, key=KEY), DeviceCollector)
    assert isinstance(collector_for(Hosted(RING), None, 2, key=KEY), HostCollector)


def test_chance_comes_from_the_key_alone():
    one, same = collected(RING), collected(RING)
    assert eqx.tree_equal(one, same)
    collector = collector_for(RING, None, 6, key=KEY)
    other = collector.collect(RandomActions(RING), 6, key=jax.random.key(9))
    assert not jnp.array_equal(other.words, one.words[:6])
