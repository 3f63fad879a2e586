"""Constants of the game (costs, requirements, sizes) and settings of a simulation.

Distances are in pixels, 32 per tile; time is in frames, 23.81 per second. Speeds are integers in 1/256 pixel, as in
Brood War, so that frame counts are exact.
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from attribute_planner.errors import ConfigurationError, unknown_name

FRAMES_PER_SECOND = 23.81
TILE = 32

# Movement of an SCV, in 1/256 pixel: at most 4.92 pixels per frame, changed by 0.262 pixels per frame.
SUBPIXELS = 256
TOP_SPEED = 1260
ACCELERATION = 67
MOVE_DISTANCE = 256
SCV_REACH = 12
"""Distance in pixels from the centre of an SCV to its edge."""

# Mining. A trip takes 176 frames in the game: work, two ways of about 99 pixels, and a pause at either end.
ORE_PER_TRIP = 8
WORK_FRAMES = 80
TURN_FRAMES = 9
"""Frames of the pause before a worker sets off by itself: the rest of the 176."""
MINING_RANGE = 96
"""Largest distance of a field that an SCV can be ordered to mine, and of another field that it takes instead."""

# The start of a game.
START_ORE = 50
START_SCVS = 4
FIELDS = 8


class Kind(IntEnum):
    """Kinds of things on the map."""

    NOTHING = 0
    SCV = 1
    COMMAND_CENTRE = 2
    BARRACKS = 3
    DEPOT = 4
    ENGINEERING_BAY = 5
    TURRET = 6
    MARINE = 7


class Phase(IntEnum):
    """Phase of a unit. If a phase ends by itself, `timer` is the number of frames left."""

    IDLE = 0
    MOVING = 1
    TO_FIELD = 2
    AT_FIELD = 3  # waits: another unit mines its field
    MINING = 4
    RETURNING = 5
    CONSTRUCTING = 6
    UNFINISHED = 7  # being built or trained
    TRAINING = 8


@dataclass(frozen=True)
class Product:
    """Cost and size of a kind.

    ore: cost, paid at the start of production.
    frames: duration of production.
    uses: supply that it uses, from the start of production.
    gives: supply that it provides when finished.
    width, height: footprint in tiles.
    """

    ore: int
    frames: int
    uses: int
    gives: int
    width: int
    height: int


PRODUCTS = {
    Kind.SCV: Product(ore=50, frames=300, uses=1, gives=0, width=1, height=1),
    Kind.MARINE: Product(ore=50, frames=360, uses=1, gives=0, width=1, height=1),
    Kind.DEPOT: Product(ore=100, frames=600, uses=0, gives=8, width=3, height=2),
    Kind.BARRACKS: Product(ore=150, frames=1200, uses=0, gives=0, width=4, height=3),
    Kind.ENGINEERING_BAY: Product(ore=125, frames=900, uses=0, gives=0, width=4, height=3),
    Kind.TURRET: Product(ore=75, frames=450, uses=0, gives=0, width=2, height=2),
    Kind.COMMAND_CENTRE: Product(ore=400, frames=1800, uses=0, gives=10, width=4, height=3),  # present from the start
}

MOVES = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
"""Direction of each move, as (x, y); y increases downwards."""
MINE = "mine"
MAKES = {
    "build_depot": Kind.DEPOT,
    "build_barracks": Kind.BARRACKS,
    "build_engineering_bay": Kind.ENGINEERING_BAY,
    "build_turret": Kind.TURRET,
    "train_scv": Kind.SCV,
    "train_marine": Kind.MARINE,
}
"""The kind that each action with a cost produces."""

VERSIONS: dict[str, tuple[Kind, ...]] = {
    "small": (Kind.SCV, Kind.DEPOT, Kind.BARRACKS, Kind.MARINE),
    "large": (Kind.SCV, Kind.DEPOT, Kind.BARRACKS, Kind.MARINE, Kind.ENGINEERING_BAY, Kind.TURRET),
}
"""The kinds that can be produced in each version of the environment, in the order of the attributes."""

STRUCTURE_LIMITS = {"small": 8, "large": 16}
"""Maximum number of depots, engineering bays and turrets in a game; the size of their arrays."""


@dataclass(frozen=True)
class Rules:
    """The settings of a simulation.

    version: `small` or `large`, which also has engineering bays and turrets.
    frames_per_step: number of frames between two actions.
    unit_limit: maximum number of SCVs, command centres and barracks, including unfinished ones.
    interruptible_mining: whether an SCV accepts orders while it mines; if not, it does after its ore is delivered.
    map_tiles: side of the square map, in tiles.
    """

    version: str = "small"
    frames_per_step: int = 24
    unit_limit: int = 10
    interruptible_mining: bool = True
    map_tiles: int = 32

    def __post_init__(self) -> None:
        if self.version not in VERSIONS:
            raise unknown_name("version of the StarCraft environment", self.version, VERSIONS)
        if self.frames_per_step < 1:
            raise ConfigurationError(f"A step needs at least one frame, not {self.frames_per_step}.")
        if self.unit_limit <= START_SCVS + 1:
            raise ConfigurationError(
                f"A unit limit of {self.unit_limit} is too low: a game starts with {START_SCVS + 1} units."
            )
        if not 24 <= self.map_tiles <= 128:
            raise ConfigurationError(f"map_tiles is {self.map_tiles}; it must be between 24 and 128.")

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that can be produced."""
        return VERSIONS[self.version]

    @property
    def structure_limit(self) -> int:
        return STRUCTURE_LIMITS[self.version]

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """Names of the actions, the same for all units."""
        return (*MOVES, MINE, *(name for name, kind in MAKES.items() if kind in self.kinds))

    @cached_property
    def makes(self) -> tuple[Kind, ...]:
        """The kind that each action produces; `NOTHING` for actions without a cost."""
        return tuple(MAKES.get(name, Kind.NOTHING) for name in self.actions)
