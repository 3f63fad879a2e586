from dataclasses import replace
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path

from attribute_planner.environments.gridworld.maps import DOWN, LEFT, RIGHT, UP
from attribute_planner.environments.gridworld.switches import (
    COLORS,
    TOGGLE,
    ColoredSwitches,
    SwitchesState,
    goal_within,
)
from attribute_planner.environments.spaces import ABSENT

ENV = ColoredSwitches()
KEY = jax.random.key(0)
RED, GREEN, BLUE, YELLOW = range(4)


@pytest.fixture
def state(laid_out) -> SwitchesState:
    grid, things = laid_out("0a1 .#. 2.3")
    switches = jnp.stack([things[number] for number in "0123"])
    return SwitchesState(grid, things["a"], switches, jnp.array([RED, GREEN, BLUE, YELLOW], jnp.int8))


step = jax.jit(ENV.step)


def after(state: SwitchesState, *actions: int) -> SwitchesState:
    for action in actions:
        state = step(state, jnp.int32(action), KEY)
    return state


def test_toggling_turns_only_the_switch_underfoot(state: SwitchesState):
    assert after(state, LEFT, TOGGLE).colors.tolist() == [GREEN, GREEN, BLUE, YELLOW]
    assert after(state, RIGHT, DOWN, DOWN, TOGGLE).colors.tolist() == [RED, GREEN, BLUE, RED]


def test_four_toggles_bring_the_first_colour_back(state: SwitchesState):
    colors = [after(state, LEFT, *[TOGGLE] * number).colors[0].item() for number in range(5)]
    assert colors == [RED, GREEN, BLUE, YELLOW, RED]


def test_toggling_where_there_is_no_switch_does_nothing(state: SwitchesState):
    assert after(state, TOGGLE).colors.tolist() == state.colors.tolist()


def test_moving_changes_no_colour_and_stops_at_blocks(state: SwitchesState):
    moved = after(state, DOWN, UP, LEFT, LEFT, DOWN)
    assert moved.colors.tolist() == state.colors.tolist()
    assert moved.agent.tolist() == [1, 0]


def test_the_agent_sees_name_and_colour_of_each_switch_at_its_place(state: SwitchesState):
    words = jax.jit(ENV.observe)(state)
    told = [ENV.vocabulary.text(word) for word in words.tolist() if word != ABSENT]
    assert told[:9] == [
        "switch_0 1 left",
        "red 1 left",
        "switch_1 1 right",
        "green 1 right",
        "switch_2 2 down 1 left",
        "blue 2 down 1 left",
        "switch_3 2 down 1 right",
        "yellow 2 down 1 right",
        "block 1 down",
    ]
    assert (words.shape, words.dtype) == (ENV.observation.shape, ENV.observation.dtype)
    assert ENV.observation.items[:9] == (0, 0, 1, 1, 2, 2, 3, 3, 4)


def test_without_corners_there_are_four_words_less():
    assert (ENV.observation.count, ColoredSwitches(show_corners=False).observation.count) == (32, 28)


def test_the_attribute_graph_has_256_sets_1024_edges_and_paths_of_up_to_12(state: SwitchesState):
    every_set = np.array(list(product(range(4), repeat=4)), np.int8)

    def toggle_at(cell: jax.Array, colors: jax.Array) -> jax.Array:
        return ENV.step(replace(state, agent=cell, colors=colors), jnp.int32(TOGGLE), KEY).colors

    reached = jax.jit(jax.vmap(jax.vmap(toggle_at, (0, None)), (None, 0)))(state.switches, every_set)
    edges = {
        (ENV.attributes.key(source), ENV.attributes.key(target))
        for source, targets in zip(every_set, np.asarray(reached), strict=True)
        for target in targets
    }
    assert len({source for source, _ in edges}) == 256
    assert len(edges) == 1024
    graph = csr_matrix((np.ones(1024), np.array(sorted(edges)).T), shape=(256, 256))
    assert shortest_path(graph, unweighted=True).max() == 12


def test_switches_start_on_different_cells_with_random_colours(switches_starts: SwitchesState):
    assert all(len({tuple(cell) for cell in cells}) == 4 for cells in switches_starts.switches.tolist())
    frequency = np.bincount(np.asarray(switches_starts.colors).ravel(), minlength=4) / 1600
    np.testing.assert_allclose(frequency, 0.25, atol=0.05)


@pytest.mark.parametrize("most", [1, 3, 12])
def test_goals_are_at_most_so_many_toggles_away_and_never_none(most: int):
    start = jnp.array([RED, BLUE, YELLOW, YELLOW], jnp.int32)
    goals = jax.jit(jax.vmap(goal_within(most), (None, None, 0)))(None, start, jax.random.split(KEY, 2000))
    toggles = np.asarray((goals.values - start[None]) % len(COLORS)).sum(axis=1)
    assert (toggles.min(), toggles.max()) == (1, most)
    assert np.asarray(goals.wanted).all()


def test_every_other_setting_is_an_equally_likely_goal_of_the_main_task():
    start = jnp.array([RED, BLUE, YELLOW, YELLOW], jnp.int32)
    draw = jax.jit(jax.vmap(ENV.task(None).goal, (None, None, 0)))
    goals = draw(ENV.reset(KEY), start, jax.random.split(KEY, 25_500))
    _, number = np.unique(np.asarray(goals.values), axis=0, return_counts=True)
    assert len(number) == 255
    assert np.abs(number - 100).max() < 50


def test_the_curriculum_rises_to_the_main_task():
    assert [task.name for task in ENV.curriculum][:2] == ["up-to-1", "up-to-2"]
    assert len(ENV.curriculum) == 12
    assert ENV.curriculum[-1] == ENV.task(None) == ENV.task("multi-step")
