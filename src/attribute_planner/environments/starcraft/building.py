"""Orders with a cost: build and train. Units share ore, supply and room, in the order of the units."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.starcraft.layout import FIELD_HEIGHT, FIELD_WIDTH, door_offset, layout_of
from attribute_planner.environments.starcraft.movement import choose_way, standing
from attribute_planner.environments.starcraft.rules import PRODUCTS, TILE, Kind, Phase, Rules
from attribute_planner.environments.starcraft.state import (
    Game,
    Structures,
    Units,
    obeys,
    supply_given,
    supply_used,
    tile_centre,
)

MAKERS = {Kind.SCV: Kind.COMMAND_CENTRE, Kind.MARINE: Kind.BARRACKS} | dict.fromkeys(
    (Kind.DEPOT, Kind.BARRACKS, Kind.ENGINEERING_BAY, Kind.TURRET), Kind.SCV
)
"""The kind that produces each kind."""
STRUCTURES = (Kind.DEPOT, Kind.ENGINEERING_BAY, Kind.TURRET)
BUILDINGS = (Kind.COMMAND_CENTRE, Kind.BARRACKS, *STRUCTURES)
NOWHERE = 2**30
"""An index out of bounds."""


def order_products(rules: Rules, game: Game, action: jax.Array) -> Game:
    """Start all orders that are possible."""
    order = jnp.asarray(np.array(rules.makes, np.int32))[action]
    order = jnp.where(accept(rules, game, order), order, Kind.NOTHING)
    ore = game.ore - _look_up({kind: product.ore for kind, product in PRODUCTS.items()}, order).sum()
    units = _add_units(_put_to_work(game.units, order), order)
    return replace(game, ore=ore, units=units, structures=_add_structures(game, order))


def accept(rules: Rules, game: Game, order: jax.Array) -> jax.Array:
    """`[U]` which units start their order, `[U]` kinds: in the order of the units, while the means last."""
    tile = game.units.position // TILE
    possible = can_make(rules, game, order) & (~is_building(order) | has_room(rules, game, tile, order))
    corner, size = footprint(tile, order)
    in_the_way = _as_bits(_overlap(corner, size, corner, size))

    def decide(carry: tuple[jax.Array, jax.Array], unit: tuple[jax.Array, ...]) -> tuple[tuple, jax.Array]:
        means, begun = carry
        number, possible, needs, in_the_way = unit
        accepted = possible & (needs <= means).all() & (begun & in_the_way == 0)
        begun = begun | (accepted.astype(jnp.int32) << number)
        return (jnp.where(accepted, means - needs, means), begun), accepted

    units = (jnp.arange(order.shape[0]), possible, needs(order), in_the_way)
    return jax.lax.scan(decide, (means(game), jnp.int32(0)), units)[1]


def _as_bits(matrix: jax.Array) -> jax.Array:
    """`int32[N]` each row of `bool[N, M]` as a bit mask."""
    return (matrix.astype(jnp.int32) << jnp.arange(matrix.shape[1])[None]).sum(axis=1)


def means(game: Game) -> jax.Array:
    """`[4]` available ore, supply, unit entries and structure entries."""
    supply = supply_given(game) - supply_used(game)
    unit_places = (game.units.kind == Kind.NOTHING).sum()
    return jnp.stack([game.ore, supply, unit_places, (game.structures.kind == Kind.NOTHING).sum()])


def needs(kind: jax.Array) -> jax.Array:
    """`[..., 4]` what a kind `[...]` needs: ore, supply, unit entries, structure entries."""
    table = [
        (product.ore, product.uses, kind in (Kind.SCV, Kind.BARRACKS), kind in STRUCTURES)
        for kind, product in sorted(PRODUCTS.items())
    ]
    return jnp.asarray(np.array([(0, 0, 0, 0), *table], np.int32))[kind]


def can_make(rules: Rules, game: Game, order: jax.Array) -> jax.Array:
    """`[U]` which units can execute their order, `[U]` kinds, given the means and the room."""
    is_maker = (order != Kind.NOTHING) & (game.units.kind == _look_up(dict(MAKERS), order))
    structures = game.structures
    bay = ((structures.kind == Kind.ENGINEERING_BAY) & (structures.timer == 0)).any()
    return is_maker & obeys(rules, game.units) & ((order != Kind.TURRET) | bay)


def has_room(rules: Rules, game: Game, tile: jax.Array, kind: jax.Array) -> jax.Array:
    """`[N]` whether buildings at tiles `[N, 2]` are on the map and do not overlap buildings or mineral fields."""
    corner, size = footprint(tile, kind)
    inside = ((corner >= 0) & (corner + size <= rules.map_tiles)).all(axis=-1)
    fields = jnp.asarray(layout_of(rules.map_tiles).fields)
    field_size = jnp.broadcast_to(jnp.array([FIELD_WIDTH, FIELD_HEIGHT], jnp.int32), fields.shape)
    unit_corner, unit_size = footprint(game.units.position // TILE, game.units.kind)
    structure_corner, structure_size = footprint(game.structures.tile, game.structures.kind)
    taken = jnp.concatenate([unit_corner, structure_corner, fields])
    taken_size = jnp.concatenate([unit_size, structure_size, field_size])
    return inside & ~_overlap(corner, size, taken, taken_size).any(axis=-1)


def _overlap(corner: jax.Array, size: jax.Array, other: jax.Array, other_size: jax.Array) -> jax.Array:
    """`[N, M]` whether two rectangles share a tile; upper left tiles and sizes are `[N, 2]` and `[M, 2]`."""
    # The barrier keeps the compiler from computing the rectangles again for every pair, which is twice as slow.
    corner, size, other, other_size = jax.lax.optimization_barrier((corner, size, other, other_size))
    on_axis = [
        (corner[:, None, axis] < (other + other_size)[None, :, axis])
        & (other[None, :, axis] < (corner + size)[:, None, axis])
        for axis in (0, 1)
    ]
    return on_axis[0] & on_axis[1] & (size[:, None, 0] > 0) & (other_size[None, :, 0] > 0)


def footprint(tile: jax.Array, kind: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Upper left tile and size in tiles, both `[..., 2]`, of buildings at tiles `[..., 2]`; other kinds have size 0."""
    sizes = [(PRODUCTS[kind].width, PRODUCTS[kind].height) if kind in BUILDINGS else (0, 0) for kind in Kind]
    size = jnp.asarray(np.array(sizes, np.int32))[kind]
    return tile - size // 2, size


def _put_to_work(units: Units, order: jax.Array) -> Units:
    """Units that start an order construct or train, and accept no orders until it is finished."""
    works = order != Kind.NOTHING
    phase = jnp.where(is_building(order), jnp.int32(Phase.CONSTRUCTING), jnp.int32(Phase.TRAINING))
    return replace(
        units,
        phase=jnp.where(works, phase, units.phase),
        timer=jnp.where(works, _frames(order), units.timer),
        way=choose_way(works, standing(units.position), units.way),
        committed=units.committed & ~works,
        marines=units.marines + (order == Kind.MARINE).astype(jnp.int32),
    )


def _add_units(units: Units, order: jax.Array) -> Units:
    """Add unfinished SCVs and barracks at the next unused entries."""
    place = _next_places(units.kind, (order == Kind.SCV) | (order == Kind.BARRACKS))
    here = tile_centre(units.position // TILE)
    at_door = here + jnp.asarray(door_offset(Kind.COMMAND_CENTRE))[None]
    position = _put(units.position, place, jnp.where((order == Kind.SCV)[:, None], at_door, here))
    kind = _put(units.kind, place, order)
    is_new = kind != units.kind
    return replace(
        units,
        kind=kind,
        phase=jnp.where(is_new, jnp.int32(Phase.UNFINISHED), units.phase),
        timer=jnp.where(is_new, _frames(kind), units.timer),
        position=position,
        way=choose_way(is_new, standing(position), units.way),
    )


def _add_structures(game: Game, order: jax.Array) -> Structures:
    structures = game.structures
    place = _next_places(structures.kind, is_structure(order))
    return Structures(
        kind=_put(structures.kind, place, order),
        tile=_put(structures.tile, place, game.units.position // TILE),
        timer=_put(structures.timer, place, _frames(order)),
    )


def _next_places(kinds: jax.Array, adds: jax.Array) -> jax.Array:
    """`[U]` the entries for new things, in order; entries are never freed."""
    first_free = (kinds != Kind.NOTHING).sum()
    return jnp.where(adds, first_free + jnp.cumsum(adds) - 1, NOWHERE)


def _put(numbers: jax.Array, place: jax.Array, new: jax.Array) -> jax.Array:
    """The array `[N, ...]` with new entries `[U, ...]` at indices `[U]`."""
    return numbers.at[place].set(new, mode="drop")


def is_structure(kind: jax.Array) -> jax.Array:
    """`[...]` whether a kind is a building that accepts no orders."""
    return (kind == Kind.DEPOT) | (kind == Kind.ENGINEERING_BAY) | (kind == Kind.TURRET)


def is_building(kind: jax.Array) -> jax.Array:
    """`[...]` whether a kind is a building, which needs room on the map."""
    return (kind == Kind.COMMAND_CENTRE) | (kind == Kind.BARRACKS) | is_structure(kind)


def _frames(kind: jax.Array) -> jax.Array:
    """Production time of a kind."""
    return _look_up({kind: product.frames for kind, product in PRODUCTS.items()}, kind)


def _look_up(numbers: dict[Kind, int], kind: jax.Array) -> jax.Array:
    """The number of each kind; 0 for kinds that are not in `numbers`."""
    return jnp.asarray(np.array([numbers.get(kind, 0) for kind in Kind], np.int32))[kind]
