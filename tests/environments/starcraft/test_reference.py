"""The simulator and the plain Python version are two programs for one set of rules: they agree to the frame."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attribute_planner.environments.starcraft.layout import layout_of
from attribute_planner.environments.starcraft.reference import GATHERING, ReferenceGame, Unit
from attribute_planner.environments.starcraft.rules import Kind, Phase, Rules
from attribute_planner.environments.starcraft.state import Game, new_game

STEPS = 100
TIMED = (Phase.MINING, Phase.CONSTRUCTING, Phase.UNFINISHED, Phase.TRAINING)
STARTS = {"rich": (3000, 0), "crowded": (400, 5), "plain": (50, 0)}
"""Ore in hand and further SCVs at the start, beside the first mineral field."""
STYLES = {"restless": (1.0, 1.0), "industrious": (0.02, 1.0), "patient": (0.1, 0.05)}
"""How likely each move is, and whatever costs ore, if mining has a weight of 1."""


@pytest.mark.parametrize(
    "rules",
    [Rules("large"), Rules("large", interruptible_mining=False), Rules("small", frames_per_step=7, unit_limit=12)],
    ids=["large", "uninterruptible", "small-with-short-steps"],
)
@settings(max_examples=6, derandomize=True, database=None)
@given(seed=st.integers(0, 2**31), start=st.sampled_from(sorted(STARTS)), style=st.sampled_from(sorted(STYLES)))
def test_games_agree_to_the_frame(compiled: Callable, rules: Rules, seed: int, start: str, style: str):
    reference, game = begin_both(rules, *STARTS[start])
    for number, action in enumerate(random_actions(rules, seed, *STYLES[style])):
        reference.step(action.tolist())
        game = compiled(rules)(game, jnp.asarray(action))
        assert simulated(game) == expected(reference), f"after step {number}"


def begin_both(rules: Rules, ore: int, more_scvs: int) -> tuple[ReferenceGame, Game]:
    """The same start for both."""
    reference, game = ReferenceGame(rules, ore=ore), new_game(rules)
    x, y = layout_of(rules.map_tiles).places[0].tolist()
    reference.units += [Unit(Kind.SCV, (x, y)) for _ in range(more_scvs)]
    places = slice(5, 5 + more_scvs)
    position = game.units.position.at[places].set(jnp.array([x, y], jnp.int32))
    way = replace(game.units.way, origin=position, target=position)
    units = replace(game.units, kind=game.units.kind.at[places].set(int(Kind.SCV)), position=position, way=way)
    return reference, replace(game, ore=jnp.int32(ore), units=units)


def random_actions(rules: Rules, seed: int, moves: float, makes: float) -> np.ndarray:
    """`int32[STEPS, U]`, drawn with these weights."""
    weights = np.array([moves] * 4 + [1.0] + [makes] * (len(rules.actions) - 5))
    random = np.random.default_rng(seed)
    return random.choice(len(weights), (STEPS, rules.unit_limit), p=weights / weights.sum()).astype(np.int32)


def simulated(game: Game) -> dict[str, list]:
    """What is seen of the simulator's game, as plain lists."""
    game = jax.tree.map(np.asarray, game)
    units, structures = game.units, game.structures
    there, stands = units.kind != Kind.NOTHING, structures.kind != Kind.NOTHING
    gathers, timed = there & np.isin(units.phase, GATHERING), there & np.isin(units.phase, TIMED)
    return {
        "ore": [int(game.ore)],
        **{name: getattr(units, name)[there].tolist() for name in ("kind", "phase", "position", "speed")},
        **{name: getattr(units, name)[there].tolist() for name in ("cargo", "committed", "marines")},
        "field": units.field[gathers].tolist(),
        "timer": units.timer[timed].tolist(),
        **{f"structure {name}": getattr(structures, name)[stands].tolist() for name in ("kind", "tile", "timer")},
    }


def expected(game: ReferenceGame) -> dict[str, list]:
    """The same of the plain Python game."""
    units, structures = game.units, game.structures
    return {
        "ore": [game.ore],
        "kind": [unit.kind for unit in units],
        "phase": [unit.phase for unit in units],
        "position": [list(unit.position) for unit in units],
        "speed": [unit.speed for unit in units],
        "cargo": [unit.cargo for unit in units],
        "committed": [unit.committed for unit in units],
        "marines": [unit.marines for unit in units],
        "field": [unit.field for unit in units if unit.phase in GATHERING],
        "timer": [unit.timer for unit in units if unit.phase in TIMED],
        "structure kind": [each.kind for each in structures],
        "structure tile": [list(each.tile) for each in structures],
        "structure timer": [each.timer for each in structures],
    }


def test_random_games_come_to_everything_there_is_to_compare():
    rules = Rules("large", interruptible_mining=False)
    phases: set[Phase] = set()
    kinds: set[Kind] = set()
    marines = 0
    for seed, (start, style) in enumerate(product(STARTS.values(), STYLES.values())):
        reference, _ = begin_both(rules, *start)
        for action in random_actions(rules, seed, *style).tolist():
            reference.step(action)
            phases |= {unit.phase for unit in reference.units}
        kinds |= {each.kind for each in reference.structures}
        marines += sum(unit.marines for unit in reference.units)
    assert phases == set(Phase)
    assert kinds == {Kind.DEPOT, Kind.ENGINEERING_BAY, Kind.TURRET}
    assert marines > 0
