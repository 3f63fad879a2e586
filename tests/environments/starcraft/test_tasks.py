import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.starcraft.environment import StarcraftBuild
from attribute_planner.environments.starcraft.tasks import possible_numbers
from attribute_planner.environments.tasks import Task


def drawn(env: StarcraftBuild, task: Task | None = None, number: int = 300) -> list[dict]:
    """Goals of a task, by default of the main one, as people write them."""
    values = jnp.zeros(len(env.attributes), jnp.int32)
    draw = jax.jit(jax.vmap((task or env.task(None)).goal, in_axes=(None, None, 0)))
    goals = jax.tree.map(np.asarray, draw(None, values, jax.random.split(jax.random.key(1), number)))
    return [goals[i].named(env.attributes) for i in range(number)]


def test_numbers_that_cannot_be_are_not_asked_for():
    # Of 2 · 2 · 3 numbers, marines without a barracks cannot be (2 · 2 of them), and none of anything is no task.
    numbers = possible_numbers({"depot": 1, "barracks": 1, "marine": 2})
    assert len(numbers) == 12 - 4 - 1
    assert [0, 1, 2] in numbers.tolist() and [0, 0, 1] not in numbers.tolist() and [0, 0, 0] not in numbers.tolist()


def test_small_and_large_have_63_and_575_goals():
    # 4 · (1 + 3 · 5) − 1, and 4 · (1 + 3 · 5) · (1 + 2 · 4) − 1.
    assert len(possible_numbers(StarcraftBuild().limits)) == 63
    assert len(possible_numbers(StarcraftBuild(version="large").limits)) == 575


@pytest.mark.parametrize("version", ["small", "large"])
def test_goals_ask_for_every_kind_but_ore_and_scvs_up_to_the_limits(version: str):
    env = StarcraftBuild(version=version)
    goals = drawn(env)
    assert all(set(goal) == set(env.limits) for goal in goals)
    assert {kind: max(goal[kind] for goal in goals) for kind in env.limits} == env.limits
    assert {kind: min(goal[kind] for goal in goals) for kind in env.limits} == dict.fromkeys(env.limits, 0)
    assert all(any(goal.values()) for goal in goals)


def test_goals_are_equally_likely():
    goals = drawn(StarcraftBuild(depots=1, barracks=1, marines=1), number=2000)
    counts = np.unique([tuple(goal.values()) for goal in goals], axis=0, return_counts=True)[1]
    assert len(counts) == 5
    assert abs(counts - 400).max() < 80  # four standard deviations


def test_the_curriculum_raises_the_limits_linearly_and_ends_in_the_main_task():
    env = StarcraftBuild(marines=4, depots=4, barracks=2)
    largest = [{kind: max(goal[kind] for goal in drawn(env, stage)) for kind in env.limits} for stage in env.curriculum]
    assert [each["marine"] for each in largest] == [1, 2, 3, 4]
    assert [each["barracks"] for each in largest] == [1, 1, 2, 2]
    assert env.curriculum[-1] is env.task(None)


def test_tasks_may_take_a_whole_episode_and_the_main_one_is_exact():
    env = StarcraftBuild()
    assert (env.task(None).name, env.task(None).max_steps, env.episode_steps) == ("build", 500, 500)
    goal = env.task(None).goal(None, jnp.zeros(5, jnp.int32), jax.random.key(0))
    more = goal.values + np.where(goal.wanted, 1, 0).astype(np.int32)
    assert bool(goal.satisfied_by(goal.values)) and not bool(goal.satisfied_by(more))


def test_more_than_asked_is_fine_where_the_task_says_so():
    env = StarcraftBuild()
    goal = env.task("build-at-least").goal(None, jnp.zeros(5, jnp.int32), jax.random.key(0))
    more = goal.values + np.where(goal.wanted, 1, 0).astype(np.int32)
    assert bool(goal.satisfied_by(goal.values)) and bool(goal.satisfied_by(more))
    assert not bool(goal.satisfied_by(np.zeros_like(more)))
