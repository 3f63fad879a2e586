from collections.abc import Callable

import jax
import numpy as np

from attribute_planner.environments.starcraft.drawing import BARS, PANEL, TILE_SIZE
from attribute_planner.environments.starcraft.environment import StarcraftBuild

ENV = StarcraftBuild(version="large")


def pixels_of(picture: np.ndarray, color: str, box: tuple[int, int, int, int]) -> int:
    """How many pixels of a box of the map, in tiles, have a colour."""
    left, top, right, bottom = (each * TILE_SIZE for each in box)
    wanted = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    return int((picture[top:bottom, left:right] == wanted).all(axis=-1).sum())


def test_a_picture_shows_the_map_and_a_panel(play: Callable):
    picture = ENV.render(jax.tree.map(np.asarray, play().game))
    assert (picture.shape, picture.dtype) == ((640, 640 + PANEL, 3), np.uint8)
    assert pixels_of(picture, "#57c7ff", (8, 10, 11, 19)) > 500  # mineral fields


def test_progress_grows_while_a_building_is_built(play: Callable):
    game = play(ore=1000).place(1, (816, 816)).step({1: "build_depot"}, times=5)
    early = pixels_of(ENV.render(game.game), BARS["being built"], (24, 24, 27, 26))
    late = pixels_of(ENV.render(game.step(times=15).game), BARS["being built"], (24, 24, 27, 26))
    done = pixels_of(ENV.render(game.step(times=5).game), BARS["being built"], (24, 24, 27, 26))
    # 120, 480 and 600 of 600 frames.
    assert 0 < early < late / 2
    assert done < early


def test_training_is_shown_on_the_command_centre(play: Callable):
    game = play().step({0: "train_scv"}, times=10)
    assert pixels_of(ENV.render(game.game), BARS["training a unit"], (14, 14, 18, 17)) > 100
