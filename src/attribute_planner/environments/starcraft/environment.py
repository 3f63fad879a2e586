"""StarCraft build orders: mine ore, build and train until the goal's number of each kind is reached."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Attribute, AttributeSpace, Goal
from attribute_planner.environments.interface import Key, PureEnvironment
from attribute_planner.environments.spaces import Discrete, UnitObservation, WordsSpec
from attribute_planner.environments.starcraft.observation import View
from attribute_planner.environments.starcraft.rules import START_SCVS, Kind, Rules
from attribute_planner.environments.starcraft.scripted import reaches
from attribute_planner.environments.starcraft.simulator import play_step
from attribute_planner.environments.starcraft.state import Game, count, new_game, obeys
from attribute_planner.environments.starcraft.tasks import build_curriculum, build_tasks
from attribute_planner.environments.tasks import Task
from attribute_planner.errors import ConfigurationError

ORE_PER_VALUE = 25
MOST_ORE_VALUE = 40
MOST_COUNTED = {Kind.DEPOT: 7, Kind.MARINE: 15, Kind.ENGINEERING_BAY: 3, Kind.TURRET: 7}
"""Largest attribute value of each kind; SCVs and barracks are bounded by the unit limit."""


@dataclass(frozen=True)
class StarcraftBuild(PureEnvironment):
    """A simulator of Brood War's economy rules. It is not the game, whose data files cannot be redistributed.

    From the game: costs, durations, requirements and sizes; movement and mining of SCVs; supply. There is no enemy and
    no gas, nothing dies, mineral fields do not run out within an episode, and units do not block each other. From the
    paper: the kinds, the actions, the attributes, and episodes of 500 steps from one start state.

    Our choices, where neither specifies it: the map (one base on 32 × 32 tiles, see `layout`), the upper limits of the
    tasks, the largest attribute values (7 depots, 15 marines, 3 engineering bays, 7 turrets; larger numbers are
    clipped), and at most 8 depots in all (`large`: 16 depots, engineering bays and turrets).

    At every step each unit gets one action from the same list. A unit ignores an action that it cannot execute and
    continues what it was doing. Units that construct, train or are unfinished are not active.

    version: `small` (SCVs, depots, barracks, marines) or `large` (also engineering bays and turrets).
    frames_per_step: frames of the game between two actions.
    unit_limit: maximum number of SCVs, command centres and barracks, including unfinished ones.
    interruptible_mining: whether an SCV accepts orders while it mines; if not, it does after its ore is delivered.
    map_tiles: side of the square map, in tiles of 32 pixels.
    depots, barracks, marines, engineering_bays, turrets: largest number of each in a task's goal.
    shows_attributes: whether the attributes are part of a unit's observation, as in the paper.
    episode_steps: number of steps after which an episode is truncated; also the limit of the tasks.
    """

    version: str = "small"
    frames_per_step: int = 24
    unit_limit: int = 10
    interruptible_mining: bool = True
    map_tiles: int = 32
    depots: int = 3
    barracks: int = 3
    marines: int = 4
    engineering_bays: int = 2
    turrets: int = 3
    shows_attributes: bool = True
    episode_steps: int = 500

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"starcraft-{self.version}")  # not a parameter, because it follows from one
        for name, limit in self.limits.items():
            # Numbers beyond the largest value are clipped to it, so an exact goal must be below it.
            kind = Kind[name.upper()]
            most = self.most(kind) - (kind in MOST_COUNTED)
            if not 0 <= limit <= most:
                raise ConfigurationError(f"The limit of {name} in tasks is {limit}; it must be between 0 and {most}.")
        if not any(self.limits.values()):
            raise ConfigurationError("The tasks need a limit above 0 for at least one kind.")

    @property
    def rules(self) -> Rules:
        return Rules(self.version, self.frames_per_step, self.unit_limit, self.interruptible_mining, self.map_tiles)

    @property
    def limits(self) -> dict[str, int]:
        """Largest number of each kind in a task's goal; goals do not include ore and SCVs."""
        limits = {
            Kind.DEPOT: self.depots,
            Kind.BARRACKS: self.barracks,
            Kind.MARINE: self.marines,
            Kind.ENGINEERING_BAY: self.engineering_bays,
            Kind.TURRET: self.turrets,
        }
        return {kind.name.lower(): limits[kind] for kind in self.rules.kinds if kind in limits}

    @property
    def attributes(self) -> AttributeSpace:
        return _attributes_of(self)

    def most(self, kind: Kind) -> int:
        """Largest attribute value of a kind."""
        if kind == Kind.SCV:
            return self.unit_limit - 1
        return self.unit_limit - 1 - START_SCVS if kind == Kind.BARRACKS else MOST_COUNTED[kind]

    @property
    def num_units(self) -> int:
        return self.unit_limit

    @property
    def actions(self) -> Discrete:
        return Discrete(self.rules.actions)

    @property
    def view(self) -> View:
        """The vocabulary of the observations."""
        return View(self.rules, self.attributes if self.shows_attributes else None)

    @property
    def observation(self) -> WordsSpec:
        return self.view.spec

    def reset(self, key: Key) -> Game:
        """The start state, which is always the same."""
        del key
        return new_game(self.rules)

    def step(self, state: Game, action: jax.Array, key: Key) -> Game:
        del key
        return play_step(self.rules, state, action)

    def observe(self, state: Game) -> UnitObservation:
        active = obeys(self.rules, state.units)
        return UnitObservation(self.view.words(state, self.describe(state), active), active)

    def describe(self, state: Game) -> jax.Array:
        numbers = [jnp.minimum(count(state, kind), self.most(kind)) for kind in self.rules.kinds]
        return jnp.stack([jnp.minimum(state.ore // ORE_PER_VALUE, MOST_ORE_VALUE), *numbers]).astype(jnp.int32)

    @property
    def tasks(self) -> Mapping[str, Task]:
        return _tasks_of(self)

    @property
    def curriculum(self) -> tuple[Task, ...]:
        """Tasks whose limits increase linearly to those of the main task."""
        return _curriculum_of(self)

    def oracle(self, states: Game, goals: Goal, max_steps: int) -> jax.Array:
        """Success of the scripted policy."""
        return reaches(self, states, goals, max_steps)

    def render(self, state: Game) -> np.ndarray:
        from attribute_planner.environments.starcraft.drawing import draw_game

        return draw_game(self.rules, state)


starcraft_small = partial(StarcraftBuild, version="small")
starcraft_large = partial(StarcraftBuild, version="large")


@lru_cache
def _attributes_of(env: StarcraftBuild) -> AttributeSpace:
    numbers = [Attribute(kind.name.lower(), range(env.most(kind) + 1)) for kind in env.rules.kinds]
    return AttributeSpace((Attribute("ore", range(MOST_ORE_VALUE + 1)), *numbers))


# Cached, so that a task is the same object at every call and its functions are compiled once.
@lru_cache
def _tasks_of(env: StarcraftBuild) -> Mapping[str, Task]:
    return build_tasks(env.attributes, env.limits, env.episode_steps)


@lru_cache
def _curriculum_of(env: StarcraftBuild) -> tuple[Task, ...]:
    return build_curriculum(env.attributes, env.limits, env.task(None))
