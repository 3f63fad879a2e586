from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.starcraft.environment import StarcraftBuild, starcraft_large, starcraft_small
from attribute_planner.environments.starcraft.state import Game
from attribute_planner.errors import ConfigurationError


def test_two_versions_have_their_names_units_and_attributes():
    small, large = starcraft_small(), starcraft_large()
    assert (small.name, large.name) == ("starcraft-small", "starcraft-large")
    assert (small.num_units, large.num_units) == (10, 10)
    assert small.attributes.names == ("ore", "scv", "depot", "barracks", "marine")
    assert large.attributes.names == (*small.attributes.names, "engineering_bay", "turret")


def test_a_game_begins_with_50_ore_and_4_scvs():
    env = starcraft_large()
    values = env.describe(env.reset(jax.random.key(0)))
    assert env.attributes.decode(values) == {
        **{"ore": 2, "scv": 4, "depot": 0, "barracks": 0, "marine": 0},
        **{"engineering_bay": 0, "turret": 0},
    }


@pytest.mark.parametrize(("ore", "value"), [(0, 0), (24, 0), (25, 1), (999, 39), (1000, 40), (1025, 40)])
def test_ore_is_described_in_steps_of_25_up_to_40(play: Callable, ore: int, value: int):
    assert int(starcraft_large().describe(play(ore=ore).game)[0]) == value


def test_units_under_construction_count(play: Callable):
    env = starcraft_large()
    game = play(ore=1000).place(1, (816, 816)).place(2, (816, 300))
    game.step({0: "train_scv", 1: "build_depot", 2: "build_barracks"})
    values = env.attributes.decode(env.describe(game.game))
    assert (values["scv"], values["depot"], values["barracks"]) == (5, 1, 1)


def test_steps_of_many_games_at_once_compile_once_and_do_as_one_does(compiled: Callable):
    env = StarcraftBuild(version="large")
    traced = []

    def step(state: Game, action: jax.Array, key: jax.Array) -> Game:
        traced.append(1)
        return env.step(state, action, key)

    keys = jax.random.split(jax.random.key(0), 5)
    many, batched = jax.vmap(env.reset)(keys), jax.jit(jax.vmap(step))
    alone = env.reset(keys[2])
    for actions in np.random.default_rng(0).integers(0, env.actions.count, (10, 5, 10), dtype=np.int32):
        many = batched(many, jnp.asarray(actions), keys)
        alone = compiled(env.rules)(alone, jnp.asarray(actions[2]))
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a[2] == b).all()), many, alone))
    assert len(traced) == 1


def test_limits_that_no_goal_could_keep_are_refused():
    with pytest.raises(ConfigurationError, match="limit of depot in tasks is 7; it must be between 0 and 6"):
        StarcraftBuild(depots=7)
    with pytest.raises(ConfigurationError, match="limit of barracks in tasks is 6; it must be between 0 and 5"):
        StarcraftBuild(barracks=6)
    with pytest.raises(ConfigurationError, match="above 0"):
        StarcraftBuild(depots=0, barracks=0, marines=0)


def test_environments_are_values():
    assert StarcraftBuild() == StarcraftBuild() and hash(StarcraftBuild()) == hash(StarcraftBuild())
    assert StarcraftBuild().tasks is StarcraftBuild().tasks
