"""StarCraft build orders: mine ore, build, train, until there is so much of each kind as was asked for."""

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
"""Up to which number each kind is told apart; SCVs and barracks are bounded by the unit limit."""


@dataclass(frozen=True)
class StarcraftBuild(PureEnvironment):
    """A simulator of Brood War's economy rules. It is not the game, which needs data files that cannot be passed on.

    From the game: what things cost, how long they take, what they need and measure; how SCVs move and mine; supply.
    There is no enemy and no gas, nothing dies, mineral fields do not run out within an episode, and nothing blocks a
    unit's way. From the paper: what may be made, the actions, the attributes, 500 steps an episode from one start.

    Our choices, where neither says: the map (one base on 32 × 32 tiles, see `layout`), the upper limits of the tasks,
    up to which number the attributes count (7 depots, 15 marines, 3 engineering bays, 7 turrets: more look the same),
    and room for 8 depots in all (`large`: for 16 depots, engineering bays and turrets).

    Every step each unit is told one action out of one list for all; what it cannot do it ignores, and goes on with what
    it was doing. Units that nothing can be told, because they construct, train or are unfinished, are not active.

    version: `small` (SCVs, depots, barracks, marines) or `large` (engineering bays and turrets as well).
    frames_per_step: frames of the game between two actions.
    unit_limit: how many SCVs, command centres and barracks there can be, unfinished ones too.
    interruptible_mining: whether an SCV obeys while it mines; if not, it obeys again once its ore is delivered.
    map_tiles: the side of the square map, in tiles of 32 pixels.
    depots, barracks, marines, engineering_bays, turrets: the largest number of each that a task asks for.
    shows_attributes: whether the attributes are part of what a unit sees, as in the paper.
    episode_steps: after how many steps an episode is cut off; a task may take as many.
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
        object.__setattr__(self, "name", f"starcraft-{self.version}")  # follows from a parameter, so it is none itself
        for name, limit in self.limits.items():
            # Where more than the last number look like it, an exact goal must stay below it.
            kind = Kind[name.upper()]
            most = self.most(kind) - (kind in MOST_COUNTED)
            if not 0 <= limit <= most:
                raise ConfigurationError(f"A task can ask for 0 to {most} {name}, not {limit}.")
        if not any(self.limits.values()):
            raise ConfigurationError("The tasks need an upper limit above 0 for at least one kind.")

    @property
    def rules(self) -> Rules:
        return Rules(self.version, self.frames_per_step, self.unit_limit, self.interruptible_mining, self.map_tiles)

    @property
    def limits(self) -> dict[str, int]:
        """The largest number of each kind that a task asks for; ore and SCVs are never asked for."""
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
        """The largest number of a kind that is told apart."""
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
        """The words that the units' observations are made of."""
        return View(self.rules, self.attributes if self.shows_attributes else None)

    @property
    def observation(self) -> WordsSpec:
        return self.view.spec

    def reset(self, key: Key) -> Game:
        """The start, which is always the same."""
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
        """Tasks whose upper limits rise linearly to the main task's."""
        return _curriculum_of(self)

    def oracle(self, states: Game, goals: Goal, max_steps: int) -> jax.Array:
        """The scripted player's success."""
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


# A task keeps its identity, so that what is compiled for it once serves whenever it is asked for.
@lru_cache
def _tasks_of(env: StarcraftBuild) -> Mapping[str, Task]:
    return build_tasks(env.attributes, env.limits, env.episode_steps)


@lru_cache
def _curriculum_of(env: StarcraftBuild) -> tuple[Task, ...]:
    return build_curriculum(env.attributes, env.limits, env.task(None))
