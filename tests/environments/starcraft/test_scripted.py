import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.environments.starcraft.environment import StarcraftBuild
from attribute_planner.environments.starcraft.scripted import NEVER, steps_to_reach
from attribute_planner.environments.starcraft.state import new_game
from attribute_planner.environments.starcraft.tasks import possible_numbers


def all_goals(env: StarcraftBuild, every: int) -> Goal:
    """Every so-manieth goal of the main task, and the hardest one."""
    numbers = possible_numbers(env.limits)
    numbers = np.concatenate([numbers[::every], numbers[-1:]])
    values, wanted = np.zeros((len(numbers), len(env.attributes)), np.int32), np.zeros(len(env.attributes), bool)
    positions = [env.attributes.index(name) for name in env.limits]
    values[:, positions], wanted[positions] = numbers, True
    return Goal(jnp.asarray(values), jnp.asarray(np.broadcast_to(wanted, values.shape)))


def test_every_kind_of_task_can_be_done_in_time():
    env = StarcraftBuild(version="large")
    steps = np.asarray(
        jax.vmap(lambda goal: steps_to_reach(env, new_game(env.rules), goal, 500))(all_goals(env, every=13))
    )
    assert (steps != NEVER).all()
    # The hardest one costs 300 + 450 + 200 + 250 + 225 ore, of which 50 are there at the start; nine workers bring at
    # most 65 · 9 ore a minute, and a step is 24 / 23.81 seconds.
    assert steps[-1] > (1425 - 50) / (65 * 9) * 60 * 23.81 / 24


def test_the_oracle_tells_what_can_be_done_in_time():
    env, easy = StarcraftBuild(), [0, 0, 1, 0, 0]
    values = jnp.array([easy, [0, 0, 3, 3, 4]], jnp.int32)
    goals = Goal(values, jnp.broadcast_to(jnp.array([False, False, True, True, True]), values.shape))
    states = jax.vmap(lambda key: env.reset(key))(jax.random.split(jax.random.key(0), 2))
    # A depot costs 100 ore: four workers have it in about twelve steps. The rest takes hundreds.
    assert np.asarray(env.oracle(states, goals, 60)).tolist() == [True, False]
