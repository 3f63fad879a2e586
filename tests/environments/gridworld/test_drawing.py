from dataclasses import replace
from operator import itemgetter

import jax
import numpy as np
import pytest
from PIL import ImageColor

from attribute_planner.environments.gridworld.crafting import ITEMS, Crafting, CraftingState
from attribute_planner.environments.gridworld.drawing import AGENT, BOARD_SIDE, KNOBS, SHELF_HEIGHT
from attribute_planner.environments.gridworld.icons import ICONS
from attribute_planner.environments.gridworld.switches import COLORS, ColoredSwitches, SwitchesState

SWITCHES, CRAFTING = ColoredSwitches(), Crafting()


@pytest.fixture
def switches(switches_starts: SwitchesState) -> SwitchesState:
    return jax.tree.map(itemgetter(1), switches_starts)


@pytest.fixture
def crafting(crafting_starts: CraftingState) -> CraftingState:
    return jax.tree.map(itemgetter(1), crafting_starts)


def pixels_of(picture: np.ndarray, color: str) -> int:
    return int((picture == np.array(ImageColor.getrgb(color))).all(axis=-1).sum())


def test_images_have_the_same_size_in_all_environments(switches_starts: SwitchesState, crafting: CraftingState):
    sizes = {tuple(size) for size in switches_starts.grid.size[:5].tolist()}
    states = [jax.tree.map(itemgetter(number), switches_starts) for number in range(5)]
    assert len(sizes) > 1
    for picture in (*map(SWITCHES.render, states), CRAFTING.render(crafting)):
        assert picture.shape == (BOARD_SIDE + SHELF_HEIGHT, BOARD_SIDE, 3)
        assert picture.dtype == np.uint8


@pytest.mark.parametrize("color", COLORS)
def test_switches_show_their_colour(color: str, switches: SwitchesState):
    state = replace(switches, colors=np.full(4, COLORS.index(color), np.int8))
    picture = SWITCHES.render(state)
    assert {each: pixels_of(picture, KNOBS[each]) > 500 for each in COLORS} == {each: each == color for each in COLORS}


def test_a_toggled_switch_looks_different_and_the_rest_the_same(switches: SwitchesState):
    toggled = replace(switches, colors=(switches.colors + np.array([1, 0, 0, 0], np.int8)) % 4)
    changed = (SWITCHES.render(switches) != SWITCHES.render(toggled)).any(axis=-1).mean()
    assert 0.001 < changed < 0.05


def test_the_agent_is_seen_and_does_not_hide_the_switch_it_stands_on(switches: SwitchesState):
    away, on_switch = SWITCHES.render(switches), SWITCHES.render(replace(switches, agent=switches.switches[0]))
    knob = KNOBS[COLORS[switches.colors[0]]]
    assert pixels_of(away, AGENT) > pixels_of(on_switch, AGENT) > 20
    assert pixels_of(on_switch, knob) > 0.7 * pixels_of(away, knob)


def test_what_is_grabbed_moves_from_the_board_to_the_shelf(crafting: CraftingState):
    before, after = CRAFTING.render(crafting), CRAFTING.render(replace(crafting, inventory=np.arange(6) == 0))
    changed = (before != after).any(axis=-1)
    assert changed[:BOARD_SIDE].any()
    assert changed[BOARD_SIDE:].any()


def test_there_is_an_icon_for_everything_in_crafting():
    assert set(ICONS) == {*ITEMS, "anvil", "workbench", "furnace"}
