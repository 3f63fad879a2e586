"""The numbers of the game: what each kind of thing costs, needs and measures, and the settings of a simulation.

Distances are in pixels, 32 to a tile; time is in frames, 23.81 to a second of play. Speeds are kept as Brood War keeps
them, as whole numbers of 1/256 pixel, so that every count of frames is exact.
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from attribute_planner.errors import ConfigurationError, unknown_name

FRAMES_PER_SECOND = 23.81
TILE = 32

# Movement of an SCV, in 1/256 pixel: 4.92 pixels a frame at most, gained and lost by 0.262 pixels a frame.
SUBPIXELS = 256
TOP_SPEED = 1260
ACCELERATION = 67
MOVE_DISTANCE = 256
SCV_REACH = 12
"""How far an SCV's edge is from its centre, in pixels: what it touches lies this far away."""

# Mining. The trip of 176 frames that the game shows is work, two ways of about 99 pixels, and a stand at either end.
ORE_PER_TRIP = 8
WORK_FRAMES = 80
TURN_FRAMES = 9
"""How long a worker stands before it sets off by itself, for its turn and the game's delays: the rest of the 176."""
MINING_RANGE = 96
"""How far away a field may be to be told to mine it, and how far another one may be to be taken in its place."""

# The start of a game.
START_ORE = 50
START_SCVS = 4
FIELDS = 8


class Kind(IntEnum):
    """What can be on the map."""

    NOTHING = 0
    SCV = 1
    COMMAND_CENTRE = 2
    BARRACKS = 3
    DEPOT = 4
    ENGINEERING_BAY = 5
    TURRET = 6
    MARINE = 7


class Phase(IntEnum):
    """What a unit is doing. `timer` counts the frames that are left of it, where it ends by itself."""

    IDLE = 0
    MOVING = 1
    TO_FIELD = 2
    AT_FIELD = 3  # waits: its field is being mined by another one
    MINING = 4
    RETURNING = 5
    CONSTRUCTING = 6
    UNFINISHED = 7  # is itself being built or trained
    TRAINING = 8


@dataclass(frozen=True)
class Product:
    """What a kind of thing costs and measures.

    ore: taken when it is begun.
    frames: how long it takes.
    uses: supply that it takes up, from when it is begun.
    gives: supply that it adds, once finished.
    width, height: its footprint in tiles.
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
    Kind.COMMAND_CENTRE: Product(ore=400, frames=1800, uses=0, gives=10, width=4, height=3),  # stands from the start
}

MOVES = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
"""Which way each move leads, as (x, y); y grows downwards."""
MINE = "mine"
MAKES = {
    "build_depot": Kind.DEPOT,
    "build_barracks": Kind.BARRACKS,
    "build_engineering_bay": Kind.ENGINEERING_BAY,
    "build_turret": Kind.TURRET,
    "train_scv": Kind.SCV,
    "train_marine": Kind.MARINE,
}
"""What each action that costs ore begins."""

VERSIONS: dict[str, tuple[Kind, ...]] = {
    "small": (Kind.SCV, Kind.DEPOT, Kind.BARRACKS, Kind.MARINE),
    "large": (Kind.SCV, Kind.DEPOT, Kind.BARRACKS, Kind.MARINE, Kind.ENGINEERING_BAY, Kind.TURRET),
}
"""What can be made in each version of the environment, in the order of the attributes."""

STRUCTURE_LIMITS = {"small": 8, "large": 16}
"""How many depots, engineering bays and turrets may stand in a game: room for them is set aside beforehand."""


@dataclass(frozen=True)
class Rules:
    """The settings of a simulation.

    version: `small` or `large`, which has engineering bays and turrets as well.
    frames_per_step: how many frames pass between two orders.
    unit_limit: how many SCVs, command centres and barracks there can be, unfinished ones too.
    interruptible_mining: whether an SCV obeys while it mines; if not, it obeys again once its ore is delivered.
    map_tiles: the side of the square map.
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
                f"A unit limit of {self.unit_limit} is too low: {START_SCVS + 1} units are there from the start."
            )
        if not 24 <= self.map_tiles <= 128:
            raise ConfigurationError(f"A map has between 24 and 128 tiles a side, not {self.map_tiles}.")

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What can be made."""
        return VERSIONS[self.version]

    @property
    def structure_limit(self) -> int:
        return STRUCTURE_LIMITS[self.version]

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions, one list for all units."""
        return (*MOVES, MINE, *(name for name, kind in MAKES.items() if kind in self.kinds))

    @cached_property
    def makes(self) -> tuple[Kind, ...]:
        """What each action begins; `NOTHING` for those that cost nothing."""
        return tuple(MAKES.get(name, Kind.NOTHING) for name in self.actions)
