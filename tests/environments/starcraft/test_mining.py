from collections.abc import Callable
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.starcraft.layout import layout_of
from attribute_planner.environments.starcraft.rules import FRAMES_PER_SECOND, Kind, Phase

GROUND = layout_of(32)
MINUTES = 500 * 24 / FRAMES_PER_SECOND / 60
BESIDE_FIELD_4 = (364, 496)


def test_one_worker_brings_8_ore_every_168_frames_from_a_near_field(play: Callable):
    # 80 frames of work; 9 of standing and 35 for the 78 pixels, each way. It starts beside its field, where it is
    # in the first frame: the first 8 ore arrive in frame 1 + 80 + 44, and then (12000 − 125) / 168 = 70.7 more times.
    game = play().place(1, BESIDE_FIELD_4).step({1: "mine"}, times=500)
    assert game.ore == 50 + 8 * (1 + 70)


def test_four_workers_bring_65_ore_a_minute_each(play: Callable):
    game = play().step(dict.fromkeys((1, 2, 3, 4), "mine"), times=500)
    assert (game.ore - 50) / 4 / MINUTES == pytest.approx(65, abs=3)


def test_ore_is_credited_on_return_and_the_worker_goes_back_by_itself(play: Callable):
    game = play().place(1, BESIDE_FIELD_4).step({1: "mine"}, times=4)
    assert (game.phase(1), game.cargo(1), game.ore) == (Phase.RETURNING, True, 50)  # frame 96: under way since 82
    game.step()
    assert (game.phase(1), game.cargo(1), game.ore) == (Phase.RETURNING, True, 50)  # frame 120
    game.step()
    assert (game.phase(1), game.cargo(1), game.ore) == (Phase.TO_FIELD, False, 58)  # frame 144


def test_a_worker_at_a_busy_field_takes_the_nearest_free_one(play: Callable):
    game = play().place(1, BESIDE_FIELD_4).place(2, BESIDE_FIELD_4).step({1: "mine", 2: "mine"})
    assert (game.phase(1), int(game.game.units.field[1])) == (Phase.MINING, 4)
    assert (game.phase(2), int(game.game.units.field[2])) == (Phase.TO_FIELD, GROUND.nearest_free[4, 1 << 4])


def test_a_worker_waits_where_no_field_is_free_and_begins_in_the_frame_in_which_its_field_is_left(play: Callable):
    game = _one_at_every_field_and_one_more(play)
    game.step({9: "mine"})
    assert (game.phase(9), int(game.game.units.field[9])) == (Phase.AT_FIELD, 0)
    # Field 1, too, is busy; the others are out of field 0's range. A move calls unit 1 away from field 0 at once:
    # unit 9 begins in the first frame of the step and has 80 − 23 frames of work left at its end.
    game.step({1: "up"})
    assert (game.phase(9), game.timer(9)) == (Phase.MINING, 80 - 23)


def _one_at_every_field_and_one_more(play: Callable):
    """Units 1 to 8 at work on fields 0 to 7, with 500 frames to go, and an idle unit 9 beside field 0."""
    game = play()
    units = game.game.units
    kind = units.kind.at[1:10].set(int(Kind.SCV))
    field = units.field.at[1:9].set(jnp.arange(8, dtype=jnp.int32))
    position = units.position.at[1:9].set(jnp.asarray(GROUND.places[:8])).at[9].set(jnp.asarray(GROUND.places[0]))
    game.game = replace(
        game.game,
        units=replace(
            units,
            kind=kind,
            field=field,
            position=position,
            phase=units.phase.at[1:9].set(int(Phase.MINING)),
            timer=units.timer.at[1:9].set(500),
            way=replace(units.way, origin=position, target=position),
        ),
    )
    return game


def test_never_do_two_work_on_one_field(play: Callable):
    game = _one_at_every_field_and_one_more(play)
    for _ in range(60):
        game.step({9: "mine"})
        at_work = np.asarray(game.game.units.field)[np.asarray(game.game.units.phase) == Phase.MINING]
        assert len(set(at_work)) == len(at_work)


def test_a_move_cancels_mining_at_once_and_the_ore_in_hand_is_kept(play: Callable):
    game = play().place(1, BESIDE_FIELD_4).step({1: "mine"}, times=4)
    assert game.cargo(1)
    game.step({1: "down"}, times=10)
    assert (game.phase(1), game.cargo(1), game.ore) == (Phase.IDLE, True, 50)


def test_a_worker_with_ore_in_hand_that_is_told_to_mine_delivers_it_first(play: Callable):
    game = play().place(1, BESIDE_FIELD_4).step({1: "mine"}, times=4).step({1: "down"})
    game.step({1: "mine"})
    assert (game.phase(1), game.ore) == (Phase.RETURNING, 50)
    game.step(times=3)
    assert (game.cargo(1), game.ore) == (False, 58)


def test_a_move_during_the_work_leaves_nothing_in_hand(play: Callable):
    game = play().place(1, BESIDE_FIELD_4).step({1: "mine"}, times=3).step({1: "right"})
    assert (game.phase(1), game.cargo(1)) == (Phase.MOVING, False)


def test_a_worker_that_is_told_to_mine_again_goes_on_with_it(play: Callable):
    once = play().place(1, BESIDE_FIELD_4).step({1: "mine"}, times=20)
    often = play().place(1, BESIDE_FIELD_4)
    for _ in range(20):
        often.step({1: "mine"})
    assert (once.ore, once.position(1), once.timer(1)) == (often.ore, often.position(1), often.timer(1))


@pytest.mark.parametrize(("x", "phase"), [(352 + 12 + 96, Phase.TO_FIELD), (352 + 12 + 97, Phase.IDLE)])
def test_fields_are_mined_from_up_to_96_pixels_away(play: Callable, x: int, phase: Phase):
    # The fields of the near column end at x = 352; an SCV's edge is 12 pixels from its middle.
    game = play().place(1, (x, 496)).step({1: "mine"})
    assert game.phase(1) == phase


def test_an_order_to_mine_out_of_range_lets_a_move_go_on(play: Callable):
    game = play().place(1, (700, 300)).step({1: "right"}).step({1: "mine"})
    assert (game.phase(1), game.position(1)[0] > 774) == (Phase.MOVING, True)


def test_buildings_do_not_mine(play: Callable):
    assert play().step({0: "mine"}).phase(0) == Phase.IDLE


def test_a_trip_that_cannot_be_interrupted_ends_with_the_delivery(play: Callable):
    game = play(interruptible_mining=False).place(1, BESIDE_FIELD_4).step({1: "mine"})
    for _ in range(4):
        game.step({1: "down"})
        assert game.phase(1) in (Phase.MINING, Phase.RETURNING)
    game.step({1: "build_depot"})
    assert (game.phase(1), game.ore) == (Phase.TO_FIELD, 58)  # frame 144; delivered in 125
    assert game.step({1: "down"}).phase(1) == Phase.MOVING


def test_the_way_to_the_field_cannot_be_interrupted_either_once_ordered(play: Callable):
    # 68 pixels from its start to the field are more than one step's.
    game = play(interruptible_mining=False).step({2: "mine"})
    assert game.phase(2) == Phase.TO_FIELD
    assert game.step({2: "right"}).phase(2) == Phase.MINING
