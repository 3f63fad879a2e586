"""The state of a game, and functions of it that several rules need."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.environments.starcraft.layout import centre_position, layout_of
from attribute_planner.environments.starcraft.movement import Way, standing
from attribute_planner.environments.starcraft.rules import PRODUCTS, START_ORE, START_SCVS, TILE, Kind, Phase, Rules

GATHERING = (Phase.TO_FIELD, Phase.AT_FIELD, Phase.MINING, Phase.RETURNING)
TRAVELLING = (Phase.MOVING, Phase.TO_FIELD, Phase.RETURNING)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Units:
    """Units, which accept orders: the command centre at index 0, then SCVs and barracks in order of production.

    kind: `int32[U]` a `Kind`; `NOTHING` for an unused entry.
    phase: `int32[U]` a `Phase`.
    timer: `int32[U]` frames until the phase ends.
    position: `int32[U, 2]` in pixels.
    speed: `int32[U]` speed level.
    way: the unit's path; a unit at rest is at its target.
    field: `int32[U]` the mineral field that an SCV gathers from.
    cargo: `bool[U]` whether an SCV carries ore.
    committed: `bool[U]` whether an SCV is on a mining trip that was ordered, or on which it has begun to mine.
    marines: `int32[U]` number of marines of a barracks, including one in training.
    """

    kind: jax.Array
    phase: jax.Array
    timer: jax.Array
    position: jax.Array
    speed: jax.Array
    way: Way
    field: jax.Array
    cargo: jax.Array
    committed: jax.Array
    marines: jax.Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Structures:
    """Depots, engineering bays and turrets, which accept no orders.

    kind: `int32[S]` a `Kind`; `NOTHING` for an unused entry.
    tile: `int32[S, 2]` position.
    timer: `int32[S]` frames until it is finished; 0 if finished.
    """

    kind: jax.Array
    tile: jax.Array
    timer: jax.Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Game:
    """State of a game.

    ore: `int32[]` available ore.
    frame: `int32[]` frames since the start.
    """

    ore: jax.Array
    frame: jax.Array
    units: Units
    structures: Structures


def new_game(rules: Rules) -> Game:
    """The start state: a command centre, four SCVs beside it, 50 ore."""
    ground = layout_of(rules.map_tiles)
    kind = np.full(rules.unit_limit, Kind.NOTHING, np.int32)
    kind[0], kind[1 : 1 + START_SCVS] = Kind.COMMAND_CENTRE, Kind.SCV
    position = np.zeros((rules.unit_limit, 2), np.int32)
    position[0], position[1 : 1 + START_SCVS] = centre_position(ground.centre, Kind.COMMAND_CENTRE), ground.scvs
    numbers, flags = jnp.zeros(rules.unit_limit, jnp.int32), jnp.zeros(rules.unit_limit, bool)
    units = Units(
        kind=jnp.asarray(kind),
        phase=numbers,
        timer=numbers,
        position=jnp.asarray(position),
        speed=numbers,
        way=standing(jnp.asarray(position)),
        field=numbers,
        cargo=flags,
        committed=flags,
        marines=numbers,
    )
    empty = jnp.zeros(rules.structure_limit, jnp.int32)
    structures = Structures(kind=empty, tile=jnp.zeros((rules.structure_limit, 2), jnp.int32), timer=empty)
    return Game(jnp.int32(START_ORE), jnp.int32(0), units, structures)


def is_any(phase: Int[jax.Array, "U"], phases: tuple[Phase, ...]) -> Bool[jax.Array, "U"]:
    """Whether each unit is in one of the phases."""
    return (jnp.uint32(sum(1 << each for each in phases)) >> phase.astype(jnp.uint32)) & 1 == 1


def obeys(rules: Rules, units: Units) -> Bool[jax.Array, "U"]:
    """Which units accept orders."""
    free = is_any(units.phase, (Phase.IDLE, Phase.MOVING, *GATHERING))
    if not rules.interruptible_mining:
        free &= ~units.committed
    return (units.kind != Kind.NOTHING) & free


def count(game: Game, kind: Kind) -> Int[jax.Array, ""]:
    """Number of a kind, including unfinished ones."""
    if kind == Kind.MARINE:
        return game.units.marines.sum()
    among = game.units.kind if kind in (Kind.SCV, Kind.BARRACKS, Kind.COMMAND_CENTRE) else game.structures.kind
    return (among == kind).sum()


def supply_used(game: Game) -> Int[jax.Array, ""]:
    """Supply used by SCVs and marines, including those in training."""
    return sum((PRODUCTS[kind].uses * count(game, kind) for kind in (Kind.SCV, Kind.MARINE)), jnp.int32(0))


def supply_given(game: Game) -> Int[jax.Array, ""]:
    """Supply provided by the command centre and the finished depots."""
    depots = (game.structures.kind == Kind.DEPOT) & (game.structures.timer == 0)
    return PRODUCTS[Kind.COMMAND_CENTRE].gives + PRODUCTS[Kind.DEPOT].gives * depots.sum()


def tile_centre(tile: Int[jax.Array, "*batch 2"]) -> Int[jax.Array, "*batch 2"]:
    """Centres of tiles, in pixels."""
    return tile * TILE + TILE // 2
