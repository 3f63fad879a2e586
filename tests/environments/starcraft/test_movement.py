from collections.abc import Callable

import numpy as np
import pytest

from attribute_planner.environments.starcraft.movement import HALTING, SPEEDS, TOP_LEVEL, motion_table
from attribute_planner.environments.starcraft.rules import Phase


def test_it_takes_19_frames_to_reach_the_top_speed():
    # 18 · 67 = 1206 is still below 1260 / 256 pixels a frame, 19 · 67 is not.
    assert (TOP_LEVEL, SPEEDS[18], SPEEDS[19]) == (19, 1206, 1260)
    assert HALTING[18] == 67 * 18 * 19 // 2


def test_a_way_of_256_pixels_takes_71_frames():
    # 19 frames to the top speed cover 11457 + 1260 = 12717 / 256 pixels, slowing down from level 18 to 1 another 11457.
    # 65536 − 24174 = 41362 are left for frames of 1260: 32 of them, and a rest of 1042 that costs one frame more
    # at level 15, the fastest whose 1005 fit, and a last one for the 37 that remain.
    assert motion_table().frames[0, 256] == 19 + 32 + 1 + 18 + 1


def test_a_short_way_is_covered_by_hand_worked_frames():
    # One pixel is 256: 67 fits (67 can still halt), 134 would need 201 to halt of the 189 left: so 67 three times,
    # and the 55 that remain.
    assert motion_table().frames[0, 1] == 4
    assert motion_table().frames[0, 0] == 1


@pytest.mark.parametrize("level", [0, 7, TOP_LEVEL])
def test_units_never_gain_more_than_one_level_a_frame_nor_pass_their_target(level: int):
    table = motion_table()
    pixels, levels = table.pixels[level].astype(int), table.levels[level].astype(int)
    lengths = np.arange(pixels.shape[0])
    assert (np.diff(levels, axis=1) <= 1).all()
    assert (np.diff(pixels, axis=1) >= 0).all() and (np.diff(pixels, axis=1) <= 5).all()
    assert (pixels[:, -1] == lengths).all()
    assert (pixels[lengths[1:], table.frames[level, 1:]] == lengths[1:]).all()
    assert (pixels[lengths[1:], table.frames[level, 1:] - 1] < lengths[1:]).all()


def test_a_step_covers_74_pixels_from_a_stand_and_118_at_top_speed(play: Callable):
    # From a stand: 67 · (1 + … + 18) + 6 · 1260 = 19017 / 256; at top speed 24 · 1260 / 256.
    game = play().place(1, (700, 300))
    assert game.step({1: "right"}).position(1) == (774, 300)
    assert game.step({1: "right"}).position(1) == (774 + 118, 300)


def test_a_move_ends_256_pixels_away_and_the_unit_is_idle(play: Callable):
    game = play().place(1, (300, 700)).step({1: "down"}, times=2)
    assert game.phase(1) == Phase.MOVING
    assert game.step().phase(1) == Phase.IDLE
    assert game.position(1) == (300, 956)


def test_turning_costs_the_speed_that_does_not_point_the_new_way(play: Callable):
    game = play().place(1, (500, 700)).step({1: "right"}).step({1: "right"})
    assert game.step({1: "left"}).position(1) == (500 + 192 - 74, 700)
    game = play().place(1, (500, 700)).step({1: "right"})
    assert game.step({1: "up"}).position(1) == (574, 700 - 74)


def test_moves_end_at_the_edge_of_the_map(play: Callable):
    game = play().place(1, (950, 40)).step({1: "right"}, times=3).step({1: "up"}, times=3)
    assert game.position(1) == (1024 - 12, 12)


def test_only_scvs_move(play: Callable):
    game = play().step({0: "left"}, times=2)
    assert (game.position(0), game.phase(0)) == ((512, 496), Phase.IDLE)
