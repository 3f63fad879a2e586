"""One step of the game: orders, then a number of frames."""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Int

from attribute_planner.environments.starcraft.building import order_products
from attribute_planner.environments.starcraft.mining import mine
from attribute_planner.environments.starcraft.movement import on_the_way
from attribute_planner.environments.starcraft.orders import order_journeys
from attribute_planner.environments.starcraft.rules import Phase, Rules
from attribute_planner.environments.starcraft.state import TRAVELLING, Game, Structures, Units, is_any


def play_step(rules: Rules, game: Game, action: Int[jax.Array, "U"]) -> Game:
    """The game after one step, given the action of each unit.

    A unit ignores an order that it cannot execute, and continues what it was doing.
    """
    game = replace(game, units=order_journeys(rules, game.units, action))
    game = order_products(rules, game, action)
    units, delivered = mine(rules, count_down(rules, game.units))
    return Game(
        ore=game.ore + delivered,
        frame=game.frame + rules.frames_per_step,
        units=advance(units),
        structures=construct(rules, game.structures),
    )


def count_down(rules: Rules, units: Units) -> Units:
    """The timers of moves, constructions and trainings after a step; a unit whose timer is 0 is idle."""
    timed = is_any(units.phase, (Phase.MOVING, Phase.CONSTRUCTING, Phase.UNFINISHED, Phase.TRAINING))
    timer = jnp.where(timed, jnp.maximum(units.timer - rules.frames_per_step, 0), units.timer)
    return replace(units, timer=timer, phase=jnp.where(timed & (timer == 0), jnp.int32(Phase.IDLE), units.phase))


def advance(units: Units) -> Units:
    """The positions of the units after a step; units that do not move are at the end of their path."""
    travels = is_any(units.phase, TRAVELLING)
    position, speed = on_the_way(units.way, units.timer)
    return replace(
        units,
        position=jnp.where(travels[:, None], position, units.way.target),
        speed=jnp.where(travels, speed, 0),
    )


def construct(rules: Rules, structures: Structures) -> Structures:
    """Depots, engineering bays and turrets after a step."""
    return replace(structures, timer=jnp.maximum(structures.timer - rules.frames_per_step, 0))
