import pytest

from attribute_planner.environments.starcraft.rules import (
    ACCELERATION,
    FRAMES_PER_SECOND,
    PRODUCTS,
    SUBPIXELS,
    TOP_SPEED,
    Kind,
    Rules,
)
from attribute_planner.errors import ConfigurationError, UnknownNameError


@pytest.mark.parametrize(
    ("kind", "ore", "frames", "uses", "gives", "width", "height"),
    [
        (Kind.SCV, 50, 300, 1, 0, 1, 1),
        (Kind.MARINE, 50, 360, 1, 0, 1, 1),
        (Kind.DEPOT, 100, 600, 0, 8, 3, 2),
        (Kind.BARRACKS, 150, 1200, 0, 0, 4, 3),
        (Kind.ENGINEERING_BAY, 125, 900, 0, 0, 4, 3),
        (Kind.TURRET, 75, 450, 0, 0, 2, 2),
    ],
)
def test_costs_times_supply_and_footprints_are_the_games(
    kind: Kind, ore: int, frames: int, uses: int, gives: int, width: int, height: int
):
    product = PRODUCTS[kind]
    assert (product.ore, product.frames, product.uses) == (ore, frames, uses)
    assert (product.gives, product.width, product.height) == (gives, width, height)


def test_speeds_are_the_games():
    assert round(TOP_SPEED / SUBPIXELS, 2) == 4.92
    assert round(ACCELERATION / SUBPIXELS, 3) == 0.262


def test_an_episode_of_500_steps_is_8_4_minutes_of_play():
    assert 500 * Rules().frames_per_step / FRAMES_PER_SECOND / 60 == pytest.approx(8.4, abs=0.01)


def test_all_units_share_one_list_of_actions():
    assert Rules("small").actions == (
        *("up", "down", "left", "right", "mine"),
        *("build_depot", "build_barracks", "train_scv", "train_marine"),
    )
    assert set(Rules("large").actions) - set(Rules("small").actions) == {"build_engineering_bay", "build_turret"}


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(UnknownNameError, match="medium"):
        Rules("medium")
    with pytest.raises(ConfigurationError, match="frame"):
        Rules(frames_per_step=0)
    with pytest.raises(ConfigurationError, match="5 units"):
        Rules(unit_limit=5)
    with pytest.raises(ConfigurationError, match="tiles"):
        Rules(map_tiles=8)
