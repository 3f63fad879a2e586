from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.attributes import Goal
from attribute_planner.environments.blocks.attributes import ATTRIBUTES, describe_cells
from attribute_planner.environments.blocks.discrete import Blocks, Configuration, describe, drop
from attribute_planner.environments.tasks import Task

ENV = Blocks()
COUNT = 200


@lru_cache
def drawn(name: str) -> tuple[Configuration, jax.Array, Goal]:
    """States to start from, their attribute values, and a goal of the task for each."""
    return draw(ENV.tasks[name])


def draw(task: Task) -> tuple[Configuration, jax.Array, Goal]:
    @jax.jit
    @jax.vmap
    def one(key: jax.Array) -> tuple[Configuration, jax.Array, Goal]:
        state_key, goal_key = jax.random.split(key)
        state = ENV.reset(state_key)
        values = ENV.describe(state)
        return state, values, task.goal(state, values, goal_key)

    return one(jax.random.split(jax.random.key(0), COUNT))


@jax.jit
@jax.vmap
def reachable_in_one_drop(state: Configuration, goal: Goal) -> jax.Array:
    actions = jnp.arange(36)
    after = jax.vmap(drop, (None, 0, 0))(state, actions // 9, actions % 9)
    return jnp.any(jax.vmap(goal.satisfied_by)(jax.vmap(describe)(after)))


def test_the_main_task_comes_first_and_all_are_there():
    names = ["multi-step", "1-step", "4-stack", "1-step-underspecified", "multi-step-underspecified"]
    assert list(ENV.tasks) == names
    assert ENV.task(None).name == "multi-step"
    assert all(task.max_steps <= ENV.episode_steps for task in ENV.tasks.values())


@pytest.mark.parametrize("name", ["1-step", "1-step-underspecified"])
def test_one_drop_reaches_a_one_step_goal(name: str):
    states, _, goals = drawn(name)
    assert reachable_in_one_drop(states, goals).all()


def test_a_one_step_goal_is_complete_and_never_solved_at_the_start():
    _, values, goals = drawn("1-step")
    assert goals.wanted.all()
    assert not jax.vmap(Goal.satisfied_by)(goals, values).any()


def test_a_multi_step_goal_is_a_complete_configuration_mostly_out_of_reach_of_one_drop():
    states, _, goals = drawn("multi-step")
    assert goals.wanted.all()
    assert reachable_in_one_drop(states, goals).mean() < 0.1


@pytest.mark.parametrize("name", ["1-step-underspecified", "multi-step-underspecified"])
def test_underspecified_goals_mention_25_of_36_attributes_and_not_always_the_same(name: str):
    _, _, goals = drawn(name)
    assert (goals.wanted.sum(axis=1) == 25).all()
    assert goals.wanted.mean(axis=0) == pytest.approx(np.full(36, 25 / 36), abs=0.15)


def test_the_tower_is_asked_for_by_its_three_on_top_relations_alone():
    _, _, goals = drawn("4-stack")
    wanted = {name for name, wanted in zip(ATTRIBUTES.names, goals[5].wanted, strict=True) if wanted}
    assert wanted == {"red_on_top_of_green", "green_on_top_of_blue", "blue_on_top_of_yellow"}
    assert (goals[5].values[goals[5].wanted] == 1).all()


def test_the_tower_may_stand_in_any_cell_but_not_upside_down():
    goal = drawn("4-stack")[2][0]
    cells = jnp.repeat(jnp.arange(9)[:, None], 4, axis=1)
    for from_ground, is_wanted in (([3, 2, 1, 0], True), ([0, 1, 2, 3], False)):
        values = jax.vmap(describe_cells, (0, None))(cells, jnp.array(from_ground))
        np.testing.assert_array_equal(jax.vmap(jax.tree.map(jnp.asarray, goal).satisfied_by)(values), [is_wanted] * 9)


def test_the_curriculum_starts_one_drop_away_and_ends_in_the_main_task():
    first, *_, last = ENV.curriculum
    states, _, goals = draw(first)
    assert reachable_in_one_drop(states, goals).all()
    assert last is ENV.task(None)
