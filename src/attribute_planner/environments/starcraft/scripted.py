"""A scripted policy that follows a build order to any numbers of units; it shows that a task is possible.

It has access to the full state, unlike a learned policy. It trains workers first, then builds one building at a time in
an order that respects requirements, and trains marines as soon as there is a barracks.
"""

from functools import partial
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.environments.starcraft.building import has_room
from attribute_planner.environments.starcraft.layout import layout_of
from attribute_planner.environments.starcraft.movement import motion_table
from attribute_planner.environments.starcraft.orders import nearest_field
from attribute_planner.environments.starcraft.rules import (
    MAKES,
    MINE,
    MINING_RANGE,
    MOVE_DISTANCE,
    MOVES,
    PRODUCTS,
    TILE,
    Kind,
    Phase,
    Rules,
)
from attribute_planner.environments.starcraft.simulator import play_step
from attribute_planner.environments.starcraft.state import (
    GATHERING,
    Game,
    count,
    is_any,
    obeys,
    supply_given,
    supply_used,
)

if TYPE_CHECKING:
    from attribute_planner.environments.starcraft.environment import StarcraftBuild

MOST_WORKERS = 8
"""Number of workers to train: one per mineral field."""
NEVER = -1
"""Result for a goal that is not reached."""


@partial(jax.jit, static_argnames=("env", "steps"))
def steps_to_reach(env: "StarcraftBuild", start: Game, goal: Goal, steps: int) -> jax.Array:
    """`[]` number of steps in which the scripted policy reaches the goal; `NEVER` if more than `steps`."""

    def step(carry: tuple[Game, jax.Array], number: jax.Array) -> tuple[tuple[Game, jax.Array], None]:
        game, met_at = carry
        game = play_step(env.rules, game, scripted_action(env.rules, game, numbers_wanted(env, goal)))
        met = goal.satisfied_by(env.describe(game))
        return (game, jnp.where((met_at == NEVER) & met, number + 1, met_at)), None

    return jax.lax.scan(step, (start, jnp.int32(NEVER)), jnp.arange(steps))[0][1]


def reaches(env: "StarcraftBuild", states: Game, goals: Goal, steps: int) -> jax.Array:
    """`[B]` whether the scripted policy reaches goals `[B, A]` within `steps` steps from states `[B]`."""
    return jax.vmap(lambda start, goal: steps_to_reach(env, start, goal, steps))(states, goals) != NEVER


def numbers_wanted(env: "StarcraftBuild", goal: Goal) -> dict[Kind, jax.Array]:
    """Number of each kind in a goal; 0 if it is not constrained."""
    asked = jnp.where(goal.wanted, goal.values, 0)
    return {kind: asked[env.attributes.index(kind.name.lower())] for kind in env.rules.kinds}


def scripted_action(rules: Rules, game: Game, wanted: dict[Kind, jax.Array]) -> jax.Array:
    """`int32[U]` what each unit is told next on the way to the wanted numbers.

    Units without another order mine: workers continue to mine, and buildings ignore it.
    """
    missing = {kind: wanted[kind] - count(game, kind) for kind in rules.kinds}
    missing[Kind.SCV] = workers_wanted(rules, game, wanted) - count(game, Kind.SCV)
    action = jnp.full(rules.unit_limit, np.int32(rules.actions.index(MINE)))
    action = _train(rules, game, action, Kind.SCV, Kind.COMMAND_CENTRE, missing)
    action = _train(rules, game, action, Kind.MARINE, Kind.BARRACKS, missing)
    action = _walk_to_fields(rules, game, action)
    return _build(rules, game, action, next_building(rules, game, missing))


def workers_wanted(rules: Rules, game: Game, wanted: dict[Kind, jax.Array]) -> jax.Array:
    """`[]` number of workers to train, minus the units and the supply that barracks and marines need."""
    places = rules.unit_limit - 1 - wanted[Kind.BARRACKS]
    depots = jnp.maximum(wanted[Kind.DEPOT], count(game, Kind.DEPOT))
    supply = PRODUCTS[Kind.COMMAND_CENTRE].gives + PRODUCTS[Kind.DEPOT].gives * depots - wanted[Kind.MARINE]
    return jnp.minimum(jnp.minimum(places, supply), MOST_WORKERS)


def next_building(rules: Rules, game: Game, missing: dict[Kind, jax.Array]) -> jax.Array:
    """`[]` the next building, requirements first; `NOTHING` if none is missing."""
    is_tight = supply_given(game) - supply_used(game) <= 1
    choices = [
        (Kind.BARRACKS, (count(game, Kind.BARRACKS) == 0) & (missing[Kind.MARINE] > 0)),
        (Kind.DEPOT, is_tight & ((missing[Kind.MARINE] > 0) | (missing[Kind.SCV] > 0))),
    ]
    if Kind.TURRET in rules.kinds:
        bays = game.structures.kind == Kind.ENGINEERING_BAY
        choices.append((Kind.ENGINEERING_BAY, ~bays.any() & (missing[Kind.TURRET] > 0)))
        choices.append((Kind.TURRET, (bays & (game.structures.timer == 0)).any()))
        choices.append((Kind.ENGINEERING_BAY, jnp.array(True)))
    choices += [(Kind.BARRACKS, jnp.array(True)), (Kind.DEPOT, jnp.array(True))]
    conditions = [when & (missing[kind] > 0) for kind, when in choices]
    return jnp.select(conditions, [jnp.int32(kind) for kind, _ in choices], jnp.int32(Kind.NOTHING))


def _train(
    rules: Rules, game: Game, action: jax.Array, kind: Kind, trainer: Kind, missing: dict[Kind, jax.Array]
) -> jax.Array:
    """Idle trainers train the missing units."""
    idle = (game.units.kind == trainer) & (game.units.phase == Phase.IDLE)
    return jnp.where(idle & (jnp.cumsum(idle) <= missing[kind]), _action_that_makes(rules, kind), action)


def _walk_to_fields(rules: Rules, game: Game, action: jax.Array) -> jax.Array:
    """SCVs out of mining range move towards the mineral fields."""
    position = game.units.position
    field, distance = nearest_field(rules, position)
    boxes = layout_of(rules.map_tiles).field_boxes
    middle = jnp.asarray((boxes[:, :2] + boxes[:, 2:]) // 2)[field]
    is_away = (game.units.kind == Kind.SCV) & ~is_any(game.units.phase, GATHERING) & (distance > MINING_RANGE**2)
    return jnp.where(is_away, _move_towards(rules, middle - position), action)


def _build(rules: Rules, game: Game, action: jax.Array, kind: jax.Array) -> jax.Array:
    """When there is enough ore, one SCV builds at its position, or moves to where there is room."""
    builder = _builder(rules, game)
    position = game.units.position[builder]
    prices = np.array([PRODUCTS[each].ore if each in PRODUCTS else 0 for each in Kind], np.int32)
    makes = np.array([rules.makes.index(each) if each in rules.makes else 0 for each in Kind], np.int32)
    fits = has_room(rules, game, position[None] // TILE, kind[None])[0]
    walks = game.units.phase[builder] == Phase.MOVING
    # An order that an SCV cannot execute lets it continue its move.
    walk = jnp.where(walks, _action_that_makes(rules, Kind.MARINE), _move_to_room(rules, game, position, kind))
    order = jnp.where(fits, jnp.asarray(makes)[kind], walk)
    is_due = (kind != Kind.NOTHING) & (game.ore >= jnp.asarray(prices)[kind])
    return jnp.where(is_due & (jnp.arange(rules.unit_limit) == builder), order, action)


def _move_to_room(rules: Rules, game: Game, position: jax.Array, kind: jax.Array) -> jax.Array:
    """`[]` the move by which an SCV at `[2]` first reaches, at the end of a step, a position with room."""
    pixels = motion_table().pixels[0, MOVE_DISTANCE].astype(np.int32)
    stops = pixels[np.minimum(np.arange(1, 5) * rules.frames_per_step, len(pixels) - 1)]
    ahead = np.array([[(stop * x, stop * y) for x, y in MOVES.values()] for stop in stops], np.int32)
    tiles = (position[None] + jnp.asarray(ahead.reshape(-1, 2))) // TILE
    room = has_room(rules, game, tiles, jnp.broadcast_to(kind, tiles.shape[:1]))
    return (jnp.argmax(room) % len(MOVES)).astype(jnp.int32)


def _builder(rules: Rules, game: Game) -> jax.Array:
    """`[]` the SCV to build: preferably one that does not gather, or has just delivered."""
    units = game.units
    can = (units.kind == Kind.SCV) & obeys(rules, units)
    free = ~is_any(units.phase, GATHERING)
    preferences = (can, can & ~units.cargo, can & (units.phase == Phase.TO_FIELD), can & free)
    score = sum((wish.astype(jnp.int32) << weight for weight, wish in enumerate(preferences)), jnp.int32(0))
    return jnp.argmax(score).astype(jnp.int32)


def _move_towards(rules: Rules, offset: jax.Array) -> jax.Array:
    """`[N]` the move along the larger component of each offset `[N, 2]`."""
    moves = {direction: rules.actions.index(name) for name, direction in MOVES.items()}
    x, y = offset[:, 0], offset[:, 1]
    sideways = jnp.where(x > 0, moves[(1, 0)], moves[(-1, 0)])
    upright = jnp.where(y > 0, moves[(0, 1)], moves[(0, -1)])
    return jnp.where(jnp.abs(x) > jnp.abs(y), sideways, upright).astype(jnp.int32)


def _action_that_makes(rules: Rules, kind: Kind) -> jax.Array:
    return jnp.int32(next(rules.actions.index(name) for name, made in MAKES.items() if made == kind))
