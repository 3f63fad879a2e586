"""Observation of a unit: a bag of words. A word is a thing with a flag at a cell of the 17 × 17 window around it.

The cells of the window have 32 pixels, and the unit is at the centre of the middle cell. The kind of a thing and its
flag (idle, gathering, constructing, being built) are one word, not two, which halves the number of words. A thing of
several tiles is observed at its centre. The unit itself and the attributes have words without a cell.
"""

from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.spaces import ABSENT, WordsSpec
from attribute_planner.environments.starcraft.layout import door_offset, layout_of
from attribute_planner.environments.starcraft.rules import FIELDS, START_SCVS, TILE, Kind, Phase, Rules
from attribute_planner.environments.starcraft.state import GATHERING, Game, Structures, Units, tile_centre

WINDOW = 17
CELLS = WINDOW * WINDOW

UNIT_FEATURES = (
    *("scv_idle", "scv_moving", "scv_gathering", "scv_constructing"),
    *("command_centre_idle", "command_centre_training"),
    *("barracks_idle", "barracks_training", "barracks_unfinished"),
)
"""Features of units, also of the observing unit itself."""
OTHER_FEATURES = {
    "small": ("mineral_field", "marine", "depot", "depot_unfinished"),
    "large": (
        *("mineral_field", "marine", "depot", "depot_unfinished"),
        *("engineering_bay", "engineering_bay_unfinished", "turret", "turret_unfinished"),
    ),
}
HIDDEN = -1
"""Feature of a thing that is not on the map."""


@dataclass(frozen=True)
class View:
    """The vocabulary of the observations.

    rules: settings of the simulation.
    attributes: the attributes, which every unit observes; `None` if they are not part of the observation.
    """

    rules: Rules
    attributes: AttributeSpace | None

    @property
    def features(self) -> tuple[str, ...]:
        """Features at a cell."""
        return UNIT_FEATURES + OTHER_FEATURES[self.rules.version]

    @property
    def first_of_own(self) -> int:
        """First word of the unit itself."""
        return len(self.features) * CELLS

    @property
    def first_of_attributes(self) -> int:
        return self.first_of_own + len(UNIT_FEATURES)

    @cached_property
    def spec(self) -> WordsSpec:
        """One word for each thing: the unit itself, all units, structures, fields, marines, attributes."""
        shown = () if self.attributes is None else self.attributes.sizes
        things = self.rules.unit_limit + self.rules.structure_limit + FIELDS + _groups_of_marines(self.rules)
        count = 1 + things + len(shown)
        return WordsSpec(count, self.first_of_attributes + int(np.sum(shown)), tuple(range(count)))

    def words(self, game: Game, values: jax.Array, sees: jax.Array) -> jax.Array:
        """`int16[U, count]` words of the units `sees` `bool[U]`, given the attribute values `int32[A]`."""
        rules, units = self.rules, game.units
        own = units_seen_as(units)
        feature = jnp.concatenate([own, _others_seen_as(rules, self.features, game)])
        position = _positions(rules, game) + TILE * WINDOW // 2
        # The barrier keeps the compiler from repeating the look-up of features and positions for every pair.
        feature, position = jax.lax.optimization_barrier((feature, position))
        column, row = ((position[None, :, axis] - units.position[:, None, axis]) // TILE for axis in (0, 1))
        inside = (column >= 0) & (column < WINDOW) & (row >= 0) & (row < WINDOW) & (feature >= 0)[None]
        # The unit itself has its own word.
        inside &= jnp.arange(len(feature))[None] != jnp.arange(rules.unit_limit)[:, None]
        observed = jnp.where(inside, (feature * CELLS)[None] + row * WINDOW + column, ABSENT)
        parts = [(self.first_of_own + own)[:, None], observed]
        if self.attributes is not None:
            words = self.first_of_attributes + jnp.asarray(self.attributes.offsets) + values
            parts.append(jnp.broadcast_to(words[None], (rules.unit_limit, len(words))))
        return jnp.where(sees[:, None], jnp.concatenate(parts, axis=1), ABSENT).astype(jnp.int16)

    def text(self, word: int) -> str:
        """A word as text: `depot 2 up 1 right`."""
        if word == ABSENT:
            return "nothing"
        if word < self.first_of_own:
            feature, cell = divmod(int(word), CELLS)
            row, column = divmod(cell, WINDOW)
            return f"{self.features[feature]} {_from_middle(row - WINDOW // 2, column - WINDOW // 2)}"
        if word < self.first_of_attributes or self.attributes is None:
            return f"I am {UNIT_FEATURES[word - self.first_of_own]}"
        value = word - self.first_of_attributes
        attribute = int(np.searchsorted(self.attributes.offsets, value, side="right")) - 1
        name = self.attributes.attributes[attribute]
        return f"{name.name}={name.text(value - int(self.attributes.offsets[attribute]))}"


def units_seen_as(units: Units) -> jax.Array:
    """`int32[U]` feature of each unit; an SCV in training is not on the map."""
    number = {name: i for i, name in enumerate(UNIT_FEATURES)}
    table = np.full((len(Kind), len(Phase)), HIDDEN, np.int32)
    table[Kind.SCV, :] = number["scv_moving"]
    table[Kind.SCV, Phase.IDLE] = number["scv_idle"]
    table[Kind.SCV, list(GATHERING)] = number["scv_gathering"]
    table[Kind.SCV, Phase.CONSTRUCTING] = number["scv_constructing"]
    table[Kind.SCV, Phase.UNFINISHED] = HIDDEN
    for kind, name in ((Kind.COMMAND_CENTRE, "command_centre"), (Kind.BARRACKS, "barracks")):
        table[kind, Phase.IDLE] = number[f"{name}_idle"]
        table[kind, Phase.TRAINING] = number[f"{name}_training"]
    table[Kind.BARRACKS, Phase.UNFINISHED] = number["barracks_unfinished"]
    return jnp.asarray(table)[units.kind, units.phase]


def _others_seen_as(rules: Rules, features: tuple[str, ...], game: Game) -> jax.Array:
    """`int32[N]` features of structures, fields and marines."""
    fields = jnp.full(FIELDS, np.int32(features.index("mineral_field")))
    some_marines = game.units.marines[-_groups_of_marines(rules) :] > 0
    marines = jnp.where(some_marines, features.index("marine"), HIDDEN).astype(jnp.int32)
    return jnp.concatenate([_structures_seen_as(features, game.structures), fields, marines])


def _structures_seen_as(features: tuple[str, ...], structures: Structures) -> jax.Array:
    table = np.full(len(Kind), HIDDEN, np.int32)
    for kind in (Kind.DEPOT, Kind.ENGINEERING_BAY, Kind.TURRET):
        if kind.name.lower() in features:
            table[kind] = features.index(kind.name.lower())
    # Each feature is followed by its unfinished form.
    finished = jnp.asarray(table)[structures.kind]
    return jnp.where(finished == HIDDEN, HIDDEN, finished + (structures.timer > 0).astype(jnp.int32))


def _positions(rules: Rules, game: Game) -> jax.Array:
    """`int32[N, 2]` positions of units, structures, fields and marines in pixels; marines are at their barracks."""
    boxes = layout_of(rules.map_tiles).field_boxes
    fields = jnp.asarray((boxes[:, :2] + boxes[:, 2:]) // 2)
    doors = game.units.position[-_groups_of_marines(rules) :] + jnp.asarray(door_offset(Kind.BARRACKS))[None]
    return jnp.concatenate([game.units.position, tile_centre(game.structures.tile), fields, doors])


def _groups_of_marines(rules: Rules) -> int:
    """Maximum number of barracks: the units that do not exist at the start."""
    return rules.unit_limit - START_SCVS - 1


def _from_middle(down: int, right: int) -> str:
    vertical = f"{abs(down)} {'down' if down > 0 else 'up'}" if down else ""
    horizontal = f"{abs(right)} {'right' if right > 0 else 'left'}" if right else ""
    return f"{vertical} {horizontal}".strip() or "here"
