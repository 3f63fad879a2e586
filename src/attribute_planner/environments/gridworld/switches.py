"""Coloured switches: four switches with four colours each; a toggle sets the switch under the agent to its next colour.

The rules are the paper's. The attributes are the colours: 256 sets, 4 transitions from each, and at most 12 toggles
between any two sets. Positions and initial colours are random in each episode. The paper gives no limits for episodes
and tasks; our choice: episodes of 200 steps and, for tasks, t_max = 80 steps (the paper's limit for one transition)
times the maximum number of transitions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Attribute, AttributeSpace, Goal
from attribute_planner.environments.gridworld.maps import MOVES, GridMap, MapRules, move, num_draws, pick, random_map
from attribute_planner.environments.gridworld.words import Vocabulary, bag_of_words, ground_words, num_ground_words
from attribute_planner.environments.interface import Key, PureEnvironment
from attribute_planner.environments.spaces import Action, Discrete, WordsSpec
from attribute_planner.environments.tasks import Task, complete_goal

SWITCHES = ("switch_0", "switch_1", "switch_2", "switch_3")
COLORS = ("red", "green", "blue", "yellow")
ACTIONS = (*MOVES, "toggle")
TOGGLE = ACTIONS.index("toggle")
ATTRIBUTES = AttributeSpace(tuple(Attribute(name, COLORS) for name in SWITCHES))
MOST_TOGGLES = len(SWITCHES) * (len(COLORS) - 1)
STEPS_PER_TOGGLE = 80


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class SwitchesState:
    """State of the environment.

    grid: the map, constant within an episode.
    agent: `int8[2]` cell of the agent.
    switches: `int8[4, 2]` cells of the switches.
    colors: `int8[4]` colours of the switches.
    """

    grid: GridMap
    agent: jax.Array
    switches: jax.Array
    colors: jax.Array


@dataclass(frozen=True)
class ColoredSwitches(PureEnvironment):
    """Four switches to set to given colours.

    size: smallest and largest height, and likewise width, of a map.
    max_blocked: largest fraction of a map's cells that is blocked.
    show_corners: whether the corners of the map are observed, as in MazeBase.
    episode_steps: number of steps after which an episode is truncated.
    """

    name = "switches"

    size: tuple[int, int] = (5, 10)
    max_blocked: float = 0.2
    show_corners: bool = True
    episode_steps: int = 200

    def __post_init__(self) -> None:
        self.rules.check(num_things=len(SWITCHES))

    @property
    def rules(self) -> MapRules:
        return MapRules(self.size, self.max_blocked)

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the observations."""
        return Vocabulary(SWITCHES + COLORS, self.rules)

    @property
    def attributes(self) -> AttributeSpace:
        return ATTRIBUTES

    @property
    def observation(self) -> WordsSpec:
        on_ground = num_ground_words(self.rules, show_corners=self.show_corners)
        return bag_of_words(self.vocabulary, [2] * len(SWITCHES) + [1] * on_ground)

    @property
    def actions(self) -> Discrete:
        return Discrete(ACTIONS)

    def reset(self, key: Key) -> SwitchesState:
        draws = jax.random.uniform(key, (len(SWITCHES) + num_draws(self.rules, len(SWITCHES)),))
        color_draws, map_draws = jnp.split(draws, [len(SWITCHES)])
        grid, agent, switches = random_map(self.rules, len(SWITCHES), map_draws)
        colors = pick(color_draws, len(COLORS))
        return SwitchesState(grid, agent, switches, colors.astype(jnp.int8))

    def step(self, state: SwitchesState, action: Action, key: Key) -> SwitchesState:
        del key
        is_toggled = (state.switches == state.agent[None]).all(axis=1) & (action == TOGGLE)
        colors = (state.colors + is_toggled.astype(jnp.int8)) % len(COLORS)
        return replace(state, agent=move(state.grid, state.agent, action), colors=colors)

    def observe(self, state: SwitchesState) -> jax.Array:
        """Two words for each switch, its name and its colour, then the words of the ground."""
        where = self.vocabulary.locations(state.switches, state.agent)
        first_words = jnp.array([self.vocabulary.first(name) for name in SWITCHES], jnp.int16)
        names = first_words + where
        colors = self.vocabulary.first(COLORS[0]) + state.colors.astype(jnp.int16) * self.vocabulary.side**2 + where
        ground = ground_words(self.vocabulary, state.grid, state.agent, show_corners=self.show_corners)
        return jnp.concatenate([jnp.stack([names, colors], axis=1).reshape(-1), ground])

    def describe(self, state: SwitchesState) -> jax.Array:
        return state.colors.astype(jnp.int32)

    @property
    def tasks(self) -> Mapping[str, Task]:
        multi_step = Task(
            "multi-step",
            "a random setting of all four switches",
            goal_within(MOST_TOGGLES),
            MOST_TOGGLES * STEPS_PER_TOGGLE,
        )
        one_step = Task("1-step", "one toggle of one switch", goal_within(1), STEPS_PER_TOGGLE)
        return {task.name: task for task in (multi_step, one_step)}

    @property
    def curriculum(self) -> tuple[Task, ...]:
        """Goals at most 1, 2, …, 12 toggles away; the last is the main task."""
        easier = tuple(
            Task(f"up-to-{most}", f"a setting at most {most} toggles away", goal_within(most), most * STEPS_PER_TOGGLE)
            for most in range(1, MOST_TOGGLES)
        )
        return (*easier, self.task(None))

    def render(self, state: SwitchesState) -> np.ndarray:
        """The map, and below it the switches in order."""
        from attribute_planner.environments.gridworld.drawing import Board, draw_knob

        board = Board(state.grid, state.agent, shelf=len(SWITCHES))
        for number, (position, color) in enumerate(zip(state.switches, state.colors, strict=True)):
            draw_knob(board.at(position), number, COLORS[color])
            draw_knob(board.on_shelf(number), number, COLORS[color])
        return board.image()


@cache
def goal_within(most_toggles: int) -> Callable[[Any, jax.Array, Key], Goal]:
    """Samples, uniformly, a setting of all switches that is 1 to `most_toggles` toggles away."""
    turns = np.array(list(product(range(len(COLORS)), repeat=len(SWITCHES))), np.int32)
    toggles = turns.sum(axis=1)
    near = turns[(toggles > 0) & (toggles <= most_toggles)]

    def draw(state: Any, values: jax.Array, key: Key) -> Goal:
        del state
        turn = jnp.asarray(near)[pick(jax.random.uniform(key), len(near))]
        return complete_goal((values + turn) % len(COLORS))

    return draw
