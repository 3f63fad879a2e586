"""Eight virtual devices give the results of one. Another process asks for them: that must be done before JAX starts."""

import os
import subprocess
import sys

import pytest

PLAYS = """
import jax
import numpy as np

from attribute_planner.data import devices
from attribute_planner.data.random_actions import RandomActions
from attribute_planner.data.rollout import rollout
from tests.probes import RING, TINY

KEY = jax.random.key(0)


def play(num_envs):
    envs = RING.vector_env(num_envs)
    return rollout(RandomActions(RING), envs, 5, space=RING.attributes, key=KEY).next_attributes


def on_one_device(function, *arguments):
    devices._mesh = lambda: None
    jax.clear_caches()
    return function(*arguments)


played, uneven = play(16), play(12)
print(len(played.sharding.device_set), played.addressable_shards[0].data.shape, uneven.shape)
assert np.array_equal(played, on_one_device(play, 16))
"""

TRAINS = """
from dataclasses import replace

import jax
import numpy as np

from attribute_planner.data import devices
from attribute_planner.learning.progress import no_callback
from attribute_planner.phases.explore import explore
from attribute_planner.phases.practise import practise
from attribute_planner.transitions.table import table_of_counts
from tests.probes import RING, TINY

KEY = jax.random.key(0)


def trained():
    explored = explore(RING, None, replace(TINY.explore, steps=800), key=KEY, watch=no_callback)
    table = table_of_counts(RING.attributes, explored.counts)
    config = replace(TINY.practise, steps=640, rollouts_per_epoch=2)
    practised = practise(RING, None, table, config, key=KEY, watch=no_callback)
    listing = practised.table.listing()
    counts = [listing.visits, listing.attempts, listing.successes]
    return counts, [np.asarray(leaf) for leaf in jax.tree.leaves((explored.train_state, practised.train_state))]


counts, leaves = trained()
devices._mesh = lambda: None
jax.clear_caches()
alone, alone_leaves = trained()
assert all(map(np.array_equal, counts, alone))
print(len(leaves), max(float(np.abs(one - other).max(initial=0)) for one, other in zip(leaves, alone_leaves)))
"""


def on_eight_devices(program: str) -> str:
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_environments_are_divided_over_the_devices_and_play_as_on_one():
    # Two of sixteen environments on each of eight devices; twelve cannot be divided evenly.
    assert on_eight_devices(PLAYS) == "8 (5, 2, 1) (5, 12, 1)"


@pytest.mark.slow
def test_training_on_eight_devices_leads_to_the_numbers_of_one():
    number, difference = on_eight_devices(TRAINS).split()
    assert int(number) > 20 and float(difference) < 1e-4
