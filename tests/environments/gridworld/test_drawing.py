from dataclasses import replace
from functools import cache

import jax
import numpy as np
import pytest
from PIL import ImageColor

from attribute_planner.environments.gridworld.crafting import ITEMS, Crafting
from attribute_planner.environments.gridworld.drawing import AGENT, BOARD_SIDE, KNOBS, SHELF_HEIGHT
from attribute_planner.environments.gridworld.icons import ICONS
from attribute_planner.environments.gridworld.switches import COLORS, ColoredSwitches

SWITCHES, CRAFTING = ColoredSwitches(), Crafting()


@cache
def start(env: ColoredSwitches | Crafting):
    return jax.tree.map(np.asarray, jax.jit(env.reset)(jax.random.key(1)))


def pixels_of(picture: np.ndarray, color: str) -> int:
    return int((picture == np.array(ImageColor.getrgb(color))).all(axis=-1).sum())


@pytest.mark.parametrize("env", [SWITCHES, CRAFTING])
def test_pictures_have_one_size_whatever_the_world(env: ColoredSwitches | Crafting):
    picture = env.draw(start(env))
    assert picture.shape == (BOARD_SIDE + SHELF_HEIGHT, BOARD_SIDE, 3)
    assert picture.dtype == np.uint8


@pytest.mark.parametrize("color", COLORS)
def test_switches_show_their_colour(color: str):
    state = replace(start(SWITCHES), colors=np.full(4, COLORS.index(color), np.int8))
    picture = SWITCHES.draw(state)
    assert {each: pixels_of(picture, KNOBS[each]) > 500 for each in COLORS} == {each: each == color for each in COLORS}


def test_a_toggled_switch_looks_different_and_the_rest_the_same():
    state = start(SWITCHES)
    toggled = replace(state, colors=(state.colors + np.array([1, 0, 0, 0], np.int8)) % 4)
    changed = (SWITCHES.draw(state) != SWITCHES.draw(toggled)).any(axis=-1).mean()
    assert 0.001 < changed < 0.05


def test_the_agent_is_seen_and_does_not_hide_the_switch_it_stands_on():
    state = start(SWITCHES)
    away, on_switch = SWITCHES.draw(state), SWITCHES.draw(replace(state, agent=state.switches[0]))
    knob = KNOBS[COLORS[state.colors[0]]]
    assert pixels_of(away, AGENT) > pixels_of(on_switch, AGENT) > 20
    assert pixels_of(on_switch, knob) > 0.7 * pixels_of(away, knob)


def test_what_is_grabbed_moves_from_the_board_to_the_shelf():
    state = start(CRAFTING)
    before, after = CRAFTING.draw(state), CRAFTING.draw(replace(state, inventory=np.arange(6) == 0))
    changed = (before != after).any(axis=-1)
    assert changed[:BOARD_SIDE].any()
    assert changed[BOARD_SIDE:].any()


def test_there_is_an_icon_for_everything_in_the_crafting_world():
    assert set(ICONS) == {*ITEMS, "anvil", "workbench", "furnace"}
