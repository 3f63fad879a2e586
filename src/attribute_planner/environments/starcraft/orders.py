"""Orders without a cost: move and mine. They are independent of each other and executed at once."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.starcraft.layout import layout_of
from attribute_planner.environments.starcraft.movement import choose_way, frames_on, level_towards, way
from attribute_planner.environments.starcraft.rules import (
    FIELDS,
    MINE,
    MINING_RANGE,
    MOVE_DISTANCE,
    MOVES,
    SCV_REACH,
    Kind,
    Phase,
    Rules,
)
from attribute_planner.environments.starcraft.state import GATHERING, Units, is_any, obeys


def order_journeys(rules: Rules, units: Units, action: jax.Array) -> Units:
    """SCVs that are ordered to move or mine set off at once, and keep the ore that they carry.

    The order to mine has no effect on an SCV that gathers already. An SCV that carries ore delivers it first.
    """
    field, distance = nearest_field(rules, units.position)
    listens = (units.kind == Kind.SCV) & obeys(rules, units)
    moves = listens & (action < len(MOVES))
    mines = listens & (action == rules.actions.index(MINE)) & ~is_any(units.phase, GATHERING)
    mines &= distance <= MINING_RANGE**2
    places = jnp.asarray(layout_of(rules.map_tiles).places)
    place = places[field + jnp.where(units.cargo, FIELDS, 0)]
    target = jnp.where(moves[:, None], _move_target(rules, units, action), place)
    new_way = way(units.position, target, level_towards(target - units.position, units.way, units.speed))
    mining_phase = jnp.where(units.cargo, jnp.int32(Phase.RETURNING), jnp.int32(Phase.TO_FIELD))
    return replace(
        units,
        phase=jnp.where(moves, jnp.int32(Phase.MOVING), jnp.where(mines, mining_phase, units.phase)),
        timer=jnp.where(moves | mines, frames_on(new_way), units.timer),
        way=choose_way(moves | mines, new_way, units.way),
        field=jnp.where(mines, field, units.field),
        committed=(units.committed | mines) & ~moves,
    )


def nearest_field(rules: Rules, position: jax.Array) -> tuple[jax.Array, jax.Array]:
    """`[U]` the field nearest to an SCV at each position `[U, 2]`, and its squared distance from edge to edge."""
    left, top, right, bottom = jnp.asarray(layout_of(rules.map_tiles).field_boxes).T[:, None]
    x, y = position[:, None, 0], position[:, None, 1]
    beyond_x = jnp.maximum(jnp.maximum(left - x, x - right) - SCV_REACH, 0)
    beyond_y = jnp.maximum(jnp.maximum(top - y, y - bottom) - SCV_REACH, 0)
    squares = beyond_x * beyond_x + beyond_y * beyond_y
    # Distance and index in one integer, so that one minimum gives both.
    least = (squares * FIELDS + jnp.arange(FIELDS)[None]).min(axis=-1)
    return least % FIELDS, least // FIELDS


def _move_target(rules: Rules, units: Units, action: jax.Array) -> jax.Array:
    """`[U, 2]` target of a move, clipped to the map."""
    directions = jnp.asarray(np.array(list(MOVES.values()), np.int32))[jnp.minimum(action, len(MOVES) - 1)]
    side = layout_of(rules.map_tiles).side
    return jnp.clip(units.position + MOVE_DISTANCE * directions, SCV_REACH, side - SCV_REACH)
