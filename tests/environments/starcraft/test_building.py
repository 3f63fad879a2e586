from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.starcraft.building import has_room
from attribute_planner.environments.starcraft.rules import PRODUCTS, Kind, Phase, Rules
from attribute_planner.environments.starcraft.state import new_game, supply_given, supply_used

OPEN_GROUND = (816, 816)
"""The middle of tile (25, 25), far from everything."""


@pytest.mark.parametrize(
    ("name", "kind", "steps"),
    [
        ("build_depot", Kind.DEPOT, 25),  # 600 / 24
        ("build_barracks", Kind.BARRACKS, 50),  # 1200 / 24
        ("build_engineering_bay", Kind.ENGINEERING_BAY, 38),  # 900 / 24 = 37.5
    ],
)
def test_buildings_take_their_time_and_their_ore_at_once(play: Callable, name: str, kind: Kind, steps: int):
    game = play(ore=1000).place(1, OPEN_GROUND).step({1: name})
    assert (game.ore, game.phase(1)) == (1000 - PRODUCTS[kind].ore, Phase.CONSTRUCTING)
    game.step(times=steps - 2)
    assert game.phase(1) == Phase.CONSTRUCTING
    assert game.step().phase(1) == Phase.IDLE
    assert game.position(1) == OPEN_GROUND
    if kind == Kind.BARRACKS:
        assert (game.kind(5), game.phase(5)) == (kind, Phase.IDLE)
    else:
        assert (game.structures(), int(game.game.structures.timer[0])) == ([kind], 0)


def test_a_constructing_scv_obeys_nothing(play: Callable):
    game = play(ore=1000).place(1, OPEN_GROUND).step({1: "build_depot"})
    for order in ("left", "build_barracks", "mine", "up"):
        game.step({1: order})
    assert (game.phase(1), game.position(1), game.ore) == (Phase.CONSTRUCTING, OPEN_GROUND, 900)


def test_a_barracks_needs_no_depot(play: Callable):
    game = play(ore=150).place(1, OPEN_GROUND).step({1: "build_barracks"})
    assert (game.ore, game.kind(5), game.phase(5)) == (0, Kind.BARRACKS, Phase.UNFINISHED)


def test_a_turret_needs_a_finished_engineering_bay(play: Callable):
    game = play(ore=1000).place(1, OPEN_GROUND).place(2, (816, 300)).step({2: "build_turret"})
    assert game.structures() == []
    game.step({1: "build_engineering_bay"}).step({2: "build_turret"}, times=35)
    assert (game.structures(), game.ore) == ([Kind.ENGINEERING_BAY], 875)
    game.step(times=2).step({2: "build_turret"})  # 38 steps after the placement
    assert (game.structures(), game.ore) == ([Kind.ENGINEERING_BAY, Kind.TURRET], 800)
    game.step(times=17)
    assert game.phase(2) == Phase.CONSTRUCTING
    assert game.step().phase(2) == Phase.IDLE  # 19 steps: 450 / 24 = 18.75


def test_too_little_ore_lets_the_previous_order_go_on(play: Callable):
    game = play(ore=99).place(1, (700, 300)).step({1: "right"}).step({1: "build_depot"})
    assert (game.phase(1), game.ore, game.structures()) == (Phase.MOVING, 99, [])
    assert game.position(1)[0] > 774


def test_no_room_lets_mining_go_on(play: Callable):
    game = play(ore=500).place(1, (364, 496)).step({1: "mine"}).step({1: "build_barracks"})
    assert (game.phase(1), game.ore) == (Phase.MINING, 500)


def test_building_is_an_order_that_cancels_mining(play: Callable):
    game = play(ore=100).place(1, (364, 620)).step({1: "mine"})
    game.place(1, (364, 700)).step({1: "build_depot"}, times=26)
    assert (game.phase(1), game.structures()) == (Phase.IDLE, [Kind.DEPOT])


@lru_cache
def compiled_room() -> Callable:
    """Whether buildings fit at the start of a game."""
    rules = Rules("large")
    return jax.jit(lambda tile, kind: has_room(rules, new_game(rules), tile, kind))


@pytest.mark.parametrize(
    ("kind", "tile", "fits"),
    [
        # The command centre covers columns 14 to 17 and rows 14 to 16. A depot covers one column on either side of
        # its tile, and one row above it; a barracks two columns to the left, one to the right, a row above and below.
        (Kind.DEPOT, (19, 15), True),
        (Kind.DEPOT, (18, 15), False),
        (Kind.DEPOT, (15, 13), True),
        (Kind.DEPOT, (15, 14), False),
        (Kind.DEPOT, (15, 18), True),
        (Kind.DEPOT, (15, 17), False),
        (Kind.BARRACKS, (20, 15), True),
        (Kind.BARRACKS, (19, 15), False),
        (Kind.BARRACKS, (15, 12), True),
        (Kind.BARRACKS, (15, 13), False),
        # A mineral field covers columns 9 and 10 of row 10; a turret its tile, the column and the row before.
        (Kind.TURRET, (12, 10), True),
        (Kind.TURRET, (11, 10), False),
        (Kind.TURRET, (10, 12), False),  # that is row 11 and 12: the next field is in row 12
        (Kind.TURRET, (12, 12), True),
        # The map's edge.
        (Kind.DEPOT, (1, 1), True),
        (Kind.DEPOT, (0, 1), False),
        (Kind.DEPOT, (1, 0), False),
        (Kind.BARRACKS, (30, 30), True),
        (Kind.BARRACKS, (31, 30), False),
        (Kind.BARRACKS, (30, 31), False),
    ],
)
def test_a_building_fits_where_nothing_is_in_its_way(kind: Kind, tile: tuple[int, int], fits: bool):
    assert bool(compiled_room()(jnp.array([tile], jnp.int32), jnp.array([kind], jnp.int32))[0]) == fits


def test_buildings_do_not_overlap_those_that_were_placed_before(play: Callable):
    game = play(ore=1000).place(1, OPEN_GROUND).place(2, (816 + 2 * 32, 816)).place(3, (816 + 3 * 32, 816))
    game.step({1: "build_depot"}).step({2: "build_depot", 3: "build_depot"})
    assert [game.phase(unit) for unit in (1, 2, 3)] == [Phase.CONSTRUCTING, Phase.IDLE, Phase.CONSTRUCTING]
    assert game.game.structures.tile[:2].tolist() == [[25, 25], [28, 25]]


def test_of_two_that_want_the_same_ground_in_one_step_the_first_gets_it(play: Callable):
    game = play(ore=1000).place(2, OPEN_GROUND).place(3, OPEN_GROUND).step({2: "build_depot", 3: "build_barracks"})
    assert (game.phase(2), game.phase(3), game.ore) == (Phase.CONSTRUCTING, Phase.IDLE, 900)


def test_ore_that_one_spends_is_gone_for_the_next(play: Callable):
    game = play(ore=160).place(2, OPEN_GROUND).place(3, (816, 300))
    game.step({2: "build_depot", 3: "build_depot", 0: "train_scv"})
    # The command centre comes first: 160 − 50 − 100.
    assert (game.ore, game.phase(0), game.phase(2), game.phase(3)) == (
        10,
        Phase.TRAINING,
        Phase.CONSTRUCTING,
        Phase.IDLE,
    )


def test_an_scv_takes_300_frames_and_appears_at_the_lower_left_corner(play: Callable):
    game = play().step({0: "train_scv"}, times=12)
    assert (game.ore, game.kind(5), game.phase(5), game.timer(5)) == (0, Kind.SCV, Phase.UNFINISHED, 12)
    game.step()
    # One tile left of column 14, one below row 16.
    assert (game.phase(5), game.phase(0), game.position(5)) == (Phase.IDLE, Phase.IDLE, (13 * 32 + 16, 17 * 32 + 16))
    assert game.step({5: "mine"}).phase(5) == Phase.TO_FIELD


def test_a_building_trains_one_unit_at_a_time(play: Callable):
    game = play(ore=500).step({0: "train_scv"}).step({0: "train_scv"})
    assert (game.ore, game.kind(6)) == (450, Kind.NOTHING)


def test_a_marine_takes_a_finished_barracks_and_360_frames(play: Callable):
    game = play(ore=1000).place(1, OPEN_GROUND).step({1: "build_barracks"}).step({5: "train_marine"}, times=49)
    assert int(game.game.units.marines[5]) == 0
    game.step({5: "train_marine"}, times=14)
    assert (int(game.game.units.marines[5]), game.phase(5), game.ore) == (1, Phase.TRAINING, 1000 - 150 - 50)
    assert game.step().phase(5) == Phase.IDLE  # 15 steps


def test_training_stops_when_supply_runs_out_until_a_depot_is_finished(play: Callable):
    game = play(ore=1000)
    # 4 SCVs and 6 marines use the command centre's 10.
    units = replace(game.game.units, marines=game.game.units.marines.at[0].set(6))
    game.game = replace(game.game, units=units)
    assert (int(supply_used(game.game)), int(supply_given(game.game))) == (10, 10)
    game.place(1, OPEN_GROUND).step({0: "train_scv", 1: "build_depot"}, times=24)
    assert (game.ore, int(supply_given(game.game))) == (900, 10)
    assert game.step({0: "train_scv"}).phase(0) == Phase.IDLE
    assert int(supply_given(game.game)) == 18
    assert game.step({0: "train_scv"}).phase(0) == Phase.TRAINING
    assert int(supply_used(game.game)) == 11


def test_ten_units_are_the_limit_unfinished_ones_too(play: Callable):
    game = play(ore=5000)
    for number in range(5):
        unit = 1 + number % 4
        game.place(unit, (112 + 160 * number, 816)).step({unit: "build_barracks"}, times=51 if number == 3 else 1)
    assert np.asarray(game.game.units.kind).tolist() == [2, 1, 1, 1, 1, 3, 3, 3, 3, 3]
    ore = game.ore
    game.place(2, (816, 112)).step({0: "train_scv", 2: "build_barracks"})
    assert (game.ore, game.phase(0), game.phase(2)) == (ore, Phase.IDLE, Phase.IDLE)


def test_the_unit_limit_is_a_setting(play: Callable):
    rules = Rules("large", unit_limit=6)
    assert new_game(rules).units.kind.shape == (6,)


def test_structures_are_limited_too(play: Callable):
    game = play(ore=5000).place(1, OPEN_GROUND)
    structures = game.game.structures
    # All places but one are taken.
    kind = structures.kind.at[:-1].set(int(Kind.DEPOT))
    game.game = replace(game.game, structures=replace(structures, kind=kind, tile=structures.tile + 1))
    game.place(2, (816, 300)).step({1: "build_depot", 2: "build_depot"})
    assert (game.phase(1), game.phase(2), game.ore) == (Phase.CONSTRUCTING, Phase.IDLE, 4900)


@pytest.mark.parametrize(
    ("unit", "order"), [(1, "train_scv"), (1, "train_marine"), (0, "train_marine"), (0, "build_depot")]
)
def test_what_a_unit_cannot_make_it_does_not_make(play: Callable, unit: int, order: str):
    game = play(ore=1000).place(1, OPEN_GROUND).step({unit: order})
    assert (game.ore, game.phase(unit)) == (1000, Phase.IDLE)
