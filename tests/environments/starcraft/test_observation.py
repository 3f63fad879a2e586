from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.spaces import ABSENT
from attribute_planner.environments.starcraft.environment import StarcraftBuild
from attribute_planner.environments.starcraft.observation import CELLS, UNIT_FEATURES
from attribute_planner.environments.starcraft.rules import Kind
from attribute_planner.environments.starcraft.state import Game

ENV = StarcraftBuild(version="large")


@lru_cache
def compiled_view(env: StarcraftBuild) -> Callable:
    return jax.jit(env.observe)


def said(env: StarcraftBuild, game: Game, unit: int) -> list[str]:
    """The words of a unit's observation, as people say them."""
    words = np.asarray(compiled_view(env)(game).values[unit])
    return [env.view.text(int(word)) for word in words if word != ABSENT]


def test_an_scv_sees_what_is_around_it_and_the_attributes():
    # It stands at (432, 464); the command centre's middle is at (512, 496): (80 + 16) / 32 = 3 cells to the right,
    # (32 + 16) / 32 = 1 down. The first field's middle is at (320, 336): (−112 + 16) / 32 = −3, (−128 + 16) / 32 = −4,
    # rounded down.
    assert said(ENV, ENV.reset(jax.random.key(0)), 1) == [
        *("I am scv_idle", "command_centre_idle 1 down 3 right"),
        *("scv_idle 1 down", "scv_idle 2 down", "scv_idle 3 down"),
        *("mineral_field 4 up 3 left", "mineral_field 2 up 3 left", "mineral_field 1 up 4 left"),
        *("mineral_field 4 left", "mineral_field 1 down 3 left", "mineral_field 2 down 4 left"),
        *("mineral_field 3 down 4 left", "mineral_field 4 down 3 left"),
        *("ore=2", "scv=4", "depot=0", "barracks=0", "marine=0", "engineering_bay=0", "turret=0"),
    ]


def test_units_see_what_others_do_and_what_is_unfinished(play: Callable):
    game = play(ore=1000).place(1, (816, 816)).place(2, (816, 656)).place(3, (700, 720))
    game.step({0: "train_scv", 1: "build_depot", 2: "build_barracks", 3: "right", 4: "mine"})
    words = said(ENV, game.game, 4)
    # On the 68 pixels to its field it has come to (370, 562): (142 + 16) / 32 and (−66 + 16) / 32.
    assert {"I am scv_gathering", "command_centre_training 2 up 4 right"} <= set(words)
    words = said(ENV, game.game, 3)  # at (774, 720)
    assert {"scv_constructing 3 down 1 right", "depot_unfinished 3 down 1 right"} <= set(words)
    assert {"scv_constructing 2 up 1 right", "barracks_unfinished 2 up 1 right"} <= set(words)
    assert "ore=28" in words  # 1000 − 50 − 100 − 150 = 700
    assert said(ENV, game.game, 1) == []  # it constructs, and obeys nobody


def test_marines_are_seen_at_the_corner_of_their_barracks(play: Callable):
    game = play(ore=1000).place(1, (816, 816)).step({1: "build_barracks"}, times=50).step({5: "train_marine"})
    # The corner is three tiles left and two below: (720, 880) from (816, 816).
    assert "marine 2 down 3 left" in said(ENV, game.game, 1)
    assert "barracks_training here" in said(ENV, game.game, 1)


def test_nothing_beyond_the_window_is_seen(play: Callable):
    at_edge = play().place(1, (512 - 271, 496)).game
    beyond = play().place(1, (512 - 272, 496)).game
    assert "command_centre_idle 8 right" in said(ENV, at_edge, 1)
    assert not any("command_centre" in word for word in said(ENV, beyond, 1))


def test_only_units_that_obey_are_active(play: Callable):
    game = play(ore=1000).place(1, (816, 816))
    assert np.flatnonzero(compiled_view(ENV)(game.game).active).tolist() == [0, 1, 2, 3, 4]
    game.step({0: "train_scv", 1: "build_depot", 2: "mine"})
    assert np.flatnonzero(compiled_view(ENV)(game.game).active).tolist() == [2, 3, 4]


def test_a_worker_on_a_trip_that_cannot_be_interrupted_is_not_active(play: Callable):
    env = StarcraftBuild(version="large", interruptible_mining=False)
    game = play(interruptible_mining=False).step({2: "mine"})
    assert np.flatnonzero(compiled_view(env)(game.game).active).tolist() == [0, 1, 3, 4]


@pytest.mark.parametrize("version", ["small", "large"])
def test_words_are_as_the_specification_says(version: str):
    env = StarcraftBuild(version=version)
    observation = compiled_view(env)(env.reset(jax.random.key(0)))
    assert observation.values.shape == (10, *env.observation.shape)
    assert observation.values.dtype == env.observation.dtype
    assert int(observation.values.max()) < env.observation.vocabulary < 2**15
    assert len(env.observation.items) == env.observation.count


def test_every_word_of_the_vocabulary_can_be_said():
    texts = [ENV.view.text(word) for word in range(ENV.observation.vocabulary)]
    assert len(set(texts)) == len(texts) == 17 * CELLS + len(UNIT_FEATURES) + int(ENV.attributes.sizes.sum())


def test_attributes_can_be_left_out_of_the_view():
    env = StarcraftBuild(shows_attributes=False)
    assert not any("=" in word for word in said(env, env.reset(jax.random.key(0)), 1))


def test_full_numbers_stay_within_the_vocabulary(play: Callable):
    game = play(ore=99999).game
    structures = replace(game.structures, kind=jnp.full_like(game.structures.kind, int(Kind.TURRET)))
    units = replace(game.units, marines=game.units.marines + 50)
    full = replace(game, units=units, structures=structures)
    assert ENV.attributes.decode(ENV.describe(full)) == {
        **{"ore": 40, "scv": 4, "depot": 0, "barracks": 0, "marine": 15},
        **{"engineering_bay": 0, "turret": 7},
    }
    assert {"ore=40", "marine=15", "turret=7"} <= set(said(ENV, full, 1))
