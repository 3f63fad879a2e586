"""A reference implementation of the rules in plain Python: one game at a time, frame by frame.

The simulator is tested against it, frame by frame, and its speed is compared with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isqrt

from attribute_planner.environments.starcraft.layout import FIELD_HEIGHT, FIELD_WIDTH, layout_of
from attribute_planner.environments.starcraft.rules import (
    ACCELERATION,
    FIELDS,
    MAKES,
    MINE,
    MINING_RANGE,
    MOVE_DISTANCE,
    MOVES,
    ORE_PER_TRIP,
    PRODUCTS,
    SCV_REACH,
    START_ORE,
    SUBPIXELS,
    TILE,
    TOP_SPEED,
    TURN_FRAMES,
    WORK_FRAMES,
    Kind,
    Phase,
    Rules,
)

Point = tuple[int, int]
GATHERING = (Phase.TO_FIELD, Phase.AT_FIELD, Phase.MINING, Phase.RETURNING)
TRAVELLING = (Phase.MOVING, Phase.TO_FIELD, Phase.RETURNING)
TRAINED_BY = {Kind.SCV: Kind.COMMAND_CENTRE, Kind.MARINE: Kind.BARRACKS}
STRUCTURES = (Kind.DEPOT, Kind.ENGINEERING_BAY, Kind.TURRET)

SPEEDS = [min(level * ACCELERATION, TOP_SPEED) for level in range(-(-TOP_SPEED // ACCELERATION) + 1)]
HALTING = [sum(SPEEDS[: level + 1]) for level in range(len(SPEEDS))]


@dataclass
class Unit:
    """An SCV, a command centre or a barracks.

    timer: frames until work, construction or training ends.
    stand: frames until it sets off.
    origin, target, length: its path, in pixels.
    left: remaining distance, in 1/256 pixel.
    speed: number of frames of acceleration.
    """

    kind: Kind
    position: Point
    phase: Phase = Phase.IDLE
    timer: int = 0
    stand: int = 0
    origin: Point = (0, 0)
    target: Point = (0, 0)
    length: int = 0
    left: int = 0
    speed: int = 0
    field: int = 0
    cargo: bool = False
    committed: bool = False
    marines: int = 0


@dataclass
class Structure:
    """A depot, an engineering bay or a turret; `timer` is the number of frames until it is finished."""

    kind: Kind
    tile: Point
    timer: int


@dataclass
class ReferenceGame:
    """A game that advances by calls of `step`."""

    rules: Rules
    ore: int = START_ORE
    units: list[Unit] = field(default_factory=list)
    structures: list[Structure] = field(default_factory=list)

    def __post_init__(self) -> None:
        ground = layout_of(self.rules.map_tiles)
        self._fields = [tuple(each) for each in ground.fields.tolist()]
        self._boxes = ground.field_boxes.tolist()
        self._places = [tuple(each) for each in ground.places.tolist()]
        self._side = ground.side
        self.units = [Unit(Kind.COMMAND_CENTRE, (ground.side // 2, ground.side // 2 - TILE // 2))]
        self.units += [Unit(Kind.SCV, (x, y)) for x, y in ground.scvs.tolist()]

    def step(self, actions: Sequence[int]) -> None:
        """Give each unit its order, then simulate the frames of a step."""
        # A copy of the list: units that are added in this step get no order.
        for unit, action in zip(list(self.units), actions, strict=False):
            self._order(unit, self.rules.actions[action])
        for _ in range(self.rules.frames_per_step):
            self._frame()
        for unit in self.units:
            if unit.phase in TRAVELLING:
                unit.position = _position_on_way(unit)

    # Orders

    def _order(self, unit: Unit, name: str) -> None:
        if not self._obeys(unit):
            return
        if name in MAKES:
            self._make(unit, MAKES[name])
        elif unit.kind == Kind.SCV and name in MOVES:
            self._move(unit, MOVES[name])
        elif unit.kind == Kind.SCV and name == MINE and unit.phase not in GATHERING:
            self._mine(unit)

    def _obeys(self, unit: Unit) -> bool:
        if unit.phase in (Phase.CONSTRUCTING, Phase.UNFINISHED, Phase.TRAINING):
            return False
        return self.rules.interruptible_mining or not unit.committed

    def _move(self, unit: Unit, direction: Point) -> None:
        low, high = SCV_REACH, self._side - SCV_REACH
        x, y = (min(max(unit.position[i] + MOVE_DISTANCE * direction[i], low), high) for i in (0, 1))
        self._turn_to(unit, (x, y))
        unit.phase, unit.committed = Phase.MOVING, False

    def _mine(self, unit: Unit) -> None:
        distances = [self._distance_squared(unit.position, box) for box in self._boxes]
        nearest = distances.index(min(distances))
        if distances[nearest] > MINING_RANGE**2:
            return
        unit.field, unit.committed = nearest, True
        unit.phase = Phase.RETURNING if unit.cargo else Phase.TO_FIELD
        self._turn_to(unit, self._places[nearest + (FIELDS if unit.cargo else 0)])

    def _make(self, unit: Unit, kind: Kind) -> None:
        product = PRODUCTS[kind]
        if unit.kind != TRAINED_BY.get(kind, Kind.SCV) or self.ore < product.ore:
            return
        if product.uses and self.supply_used() + product.uses > self.supply_given():
            return
        if kind in (Kind.SCV, Kind.BARRACKS) and len(self.units) == self.rules.unit_limit:
            return
        if kind in STRUCTURES and len(self.structures) == self.rules.structure_limit:
            return
        if kind == Kind.TURRET and not self._has_finished(Kind.ENGINEERING_BAY):
            return
        tile = _tile_of(unit.position)
        if kind not in TRAINED_BY and not self._has_room(tile, kind):
            return
        self.ore -= product.ore
        unit.phase = Phase.TRAINING if kind in TRAINED_BY else Phase.CONSTRUCTING
        unit.timer, unit.committed, unit.speed, unit.left = product.frames, False, 0, 0
        if kind == Kind.MARINE:
            unit.marines += 1
        elif kind in STRUCTURES:
            self.structures.append(Structure(kind, tile, product.frames))
        else:
            position = _middle(tile) if kind == Kind.BARRACKS else _middle((tile[0] - 3, tile[1] + 2))
            self.units.append(Unit(kind, position, Phase.UNFINISHED, product.frames))

    def supply_used(self) -> int:
        return sum(unit.kind == Kind.SCV for unit in self.units) + sum(unit.marines for unit in self.units)

    def supply_given(self) -> int:
        depots = sum(each.kind == Kind.DEPOT and each.timer == 0 for each in self.structures)
        return PRODUCTS[Kind.COMMAND_CENTRE].gives + PRODUCTS[Kind.DEPOT].gives * depots

    def _has_finished(self, kind: Kind) -> bool:
        return any(each.kind == kind and each.timer == 0 for each in self.structures)

    def _has_room(self, tile: Point, kind: Kind) -> bool:
        left, top, right, bottom = _footprint(tile, kind)
        if left < 0 or top < 0 or right > self.rules.map_tiles or bottom > self.rules.map_tiles:
            return False
        taken = [(x, y, x + FIELD_WIDTH, y + FIELD_HEIGHT) for x, y in self._fields]
        taken += [_footprint(_tile_of(unit.position), unit.kind) for unit in self.units if unit.kind != Kind.SCV]
        taken += [_footprint(each.tile, each.kind) for each in self.structures]
        return not any(left < x1 and x0 < right and top < y1 and y0 < bottom for x0, y0, x1, y1 in taken)

    @staticmethod
    def _distance_squared(position: Point, box: Sequence[int]) -> int:
        """From edge to edge, between an SCV and a field."""
        x = max(box[0] - position[0], position[0] - box[2], SCV_REACH) - SCV_REACH
        y = max(box[1] - position[1], position[1] - box[3], SCV_REACH) - SCV_REACH
        return x * x + y * y

    # Frames

    def _frame(self) -> None:
        for structure in self.structures:
            structure.timer = max(structure.timer - 1, 0)
        for unit in self.units:
            if unit.phase in TRAVELLING:
                self._travel(unit)
            elif unit.timer > 0:
                unit.timer -= 1
                if unit.timer == 0:
                    self._finish(unit)
        for unit in self.units:
            if unit.phase == Phase.AT_FIELD and unit.field not in self._busy_fields():
                unit.phase, unit.timer, unit.committed = Phase.MINING, WORK_FRAMES, True
        busy = self._busy_fields()
        for unit in self.units:
            if unit.phase == Phase.AT_FIELD:
                self._take_another_field(unit, busy)

    def _travel(self, unit: Unit) -> None:
        if unit.stand > 0:
            unit.stand -= 1
            return
        unit.speed = _next_speed(unit.speed, unit.left)
        unit.left = max(unit.left - SPEEDS[unit.speed], 0)
        if unit.left == 0:
            self._arrive(unit)

    def _arrive(self, unit: Unit) -> None:
        unit.position, unit.speed = unit.target, 0
        if unit.phase == Phase.MOVING:
            unit.phase = Phase.IDLE
        elif unit.phase == Phase.TO_FIELD:
            unit.phase = Phase.AT_FIELD
        else:
            self.ore += ORE_PER_TRIP
            unit.cargo = unit.committed = False
            self._leave_for(unit, Phase.TO_FIELD, self._places[unit.field])

    def _finish(self, unit: Unit) -> None:
        if unit.phase == Phase.MINING:
            unit.cargo = True
            self._leave_for(unit, Phase.RETURNING, self._places[unit.field + FIELDS])
        else:
            unit.phase = Phase.IDLE

    def _take_another_field(self, unit: Unit, busy: set[int]) -> None:
        here = self._places[unit.field]
        free = [(_distance(here, self._places[other]), other) for other in range(FIELDS) if other not in busy]
        in_range = [each for each in free if each[0] <= MINING_RANGE]
        if in_range:
            unit.field = min(in_range)[1]
            self._leave_for(unit, Phase.TO_FIELD, self._places[unit.field])

    def _busy_fields(self) -> set[int]:
        return {unit.field for unit in self.units if unit.phase == Phase.MINING}

    def _leave_for(self, unit: Unit, phase: Phase, target: Point) -> None:
        """Set off without an order: from rest, after a pause."""
        unit.phase = phase
        _set_off(unit, target, speed=0, stand=TURN_FRAMES)

    def _turn_to(self, unit: Unit, target: Point) -> None:
        """Set off on an order: at once, with the component of the speed in the new direction."""
        _set_off(unit, target, speed=_speed_kept(unit, target), stand=0)


def _next_speed(speed: int, left: int) -> int:
    """Accelerate if the unit can still stop, otherwise keep the speed if it can stop, otherwise decelerate."""
    faster = min(speed + 1, len(SPEEDS) - 1)
    if left >= HALTING[faster]:
        return faster
    return max(speed, 1) if left >= HALTING[speed] else max(speed - 1, 1)


def _set_off(unit: Unit, target: Point, speed: int, stand: int) -> None:
    unit.origin, unit.target, unit.speed, unit.stand = unit.position, target, speed, stand
    unit.length = _distance(unit.origin, target)
    unit.left = unit.length * SUBPIXELS


def _speed_kept(unit: Unit, target: Point) -> int:
    if unit.length == 0 or target == unit.position:
        return 0
    offset = (target[0] - unit.position[0], target[1] - unit.position[1])
    along = offset[0] * (unit.target[0] - unit.origin[0]) + offset[1] * (unit.target[1] - unit.origin[1])
    return min(max(unit.speed * along // (_distance(unit.position, target) * unit.length), 0), unit.speed)


def _position_on_way(unit: Unit) -> Point:
    """The position after a distance along the path, rounded to pixels."""
    gone = unit.length - -(-unit.left // SUBPIXELS)
    x, y = (
        unit.origin[i] + (2 * (unit.target[i] - unit.origin[i]) * gone + unit.length) // (2 * unit.length)
        for i in (0, 1)
    )
    return x, y


def _distance(start: Point, end: Point) -> int:
    """Rounded to pixels."""
    square = (end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2
    return (isqrt(4 * square) + 1) // 2


def _tile_of(position: Point) -> Point:
    return position[0] // TILE, position[1] // TILE


def _middle(tile: Point) -> Point:
    return tile[0] * TILE + TILE // 2, tile[1] * TILE + TILE // 2


def _footprint(tile: Point, kind: Kind) -> tuple[int, int, int, int]:
    """Left, top, right and bottom, in tiles, of a building placed at a tile."""
    product = PRODUCTS[kind]
    left, top = tile[0] - product.width // 2, tile[1] - product.height // 2
    return left, top, left + product.width, top + product.height
