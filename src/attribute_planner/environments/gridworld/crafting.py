"""Crafting: gather wood, iron and stone, and make an axe, a hammer and a sword at the right tables.

The paper names three resources, three products and their tables, but not the recipes. Our recipes do not consume their
ingredients: only such recipes give the 25 transitions between 16 inventories that the paper reports. There is one of
each resource, and a resource in the inventory is no longer on the map. The paper gives no limits for episodes and
tasks; our choice: episodes of 200 steps and, for tasks, t_max = 80 steps (the paper's limit for one transition) times
the maximum number of transitions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.attributes import Attribute, AttributeSpace, Goal
from attribute_planner.environments.gridworld.maps import MOVES, GridMap, MapRules, move, num_draws, pick, random_map
from attribute_planner.environments.gridworld.words import (
    Vocabulary,
    bag_of_words,
    ground_words,
    if_present,
    inventory_words,
    num_ground_words,
)
from attribute_planner.environments.interface import Key, PureEnvironment
from attribute_planner.environments.spaces import Action, Array, Discrete, WordsSpec
from attribute_planner.environments.tasks import Task, complete_goal

ACTIONS = (*MOVES, "grab", "craft")
GRAB, CRAFT = ACTIONS.index("grab"), ACTIONS.index("craft")
MOST_GAINS = 4
"""Number of transitions of the hardest task: wood, iron, axe, sword."""
STEPS_PER_GAIN = 80


class Recipe(NamedTuple):
    """A product, its table, and the items that the agent needs and keeps."""

    product: str
    table: str
    needs: tuple[str, ...]


RECIPES = (
    Recipe("axe", "anvil", ("wood", "iron")),
    Recipe("hammer", "workbench", ("wood", "stone")),
    Recipe("sword", "furnace", ("wood", "axe")),
)
RESOURCES = ("wood", "iron", "stone")
PRODUCTS = tuple(recipe.product for recipe in RECIPES)
TABLES = tuple(recipe.table for recipe in RECIPES)
ITEMS = RESOURCES + PRODUCTS
ATTRIBUTES = AttributeSpace(tuple(Attribute(name) for name in ITEMS))
NEEDS = np.zeros((len(ITEMS), len(ITEMS)), bool)
"""`bool[6, 6]` the items (second axis) that an item needs; none for a resource."""
for recipe in RECIPES:
    NEEDS[ITEMS.index(recipe.product), [ITEMS.index(item) for item in recipe.needs]] = True


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class CraftingState:
    """State of the environment.

    grid: the map, constant within an episode.
    agent: `int8[2]` cell of the agent.
    resources: `int8[3, 2]` cells of the resources; ignored for those in the inventory.
    tables: `int8[3, 2]` cells of the tables.
    inventory: `bool[6]` the items of the agent: resources, then products.
    """

    grid: GridMap
    agent: jax.Array
    resources: jax.Array
    tables: jax.Array
    inventory: jax.Array


@dataclass(frozen=True)
class Crafting(PureEnvironment):
    """Resources to gather, and tables at which items are crafted.

    size: smallest and largest height, and likewise width, of a map.
    max_blocked: largest fraction of a map's cells that is blocked.
    show_corners: whether the corners of the map are observed, as in MazeBase.
    episode_steps: number of steps after which an episode is truncated.
    """

    name = "crafting"

    size: tuple[int, int] = (5, 10)
    max_blocked: float = 0.2
    show_corners: bool = True
    episode_steps: int = 200

    def __post_init__(self) -> None:
        self.rules.check(num_things=len(RESOURCES) + len(TABLES))

    @property
    def rules(self) -> MapRules:
        return MapRules(self.size, self.max_blocked)

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of the observations."""
        return Vocabulary(RESOURCES + TABLES, self.rules, items=ITEMS)

    @property
    def attributes(self) -> AttributeSpace:
        return ATTRIBUTES

    @property
    def observation(self) -> WordsSpec:
        on_ground = num_ground_words(self.rules, show_corners=self.show_corners)
        return bag_of_words(self.vocabulary, [2] * len(RESOURCES) + [1] * (len(TABLES) + len(PRODUCTS) + on_ground))

    @property
    def actions(self) -> Discrete:
        return Discrete(ACTIONS)

    def reset(self, key: Key) -> CraftingState:
        num_things = len(RESOURCES) + len(TABLES)
        draws = jax.random.uniform(key, (num_draws(self.rules, num_things),))
        grid, agent, things = random_map(self.rules, num_things, draws)
        resources, tables = jnp.split(things, [len(RESOURCES)])
        return CraftingState(grid, agent, resources, tables, jnp.zeros(len(ITEMS), bool))

    def reset_with_some_items(self, key: Key) -> CraftingState:
        """A random start state with a random inventory that is not complete."""
        reset_key, inventory_key = jax.random.split(key)
        choices = jnp.asarray(inventories_to_start_from())
        inventory = choices[pick(jax.random.uniform(inventory_key), len(choices))]
        return replace(self.reset(reset_key), inventory=inventory)

    def step(self, state: CraftingState, action: Action, key: Key) -> CraftingState:
        del key
        on_resource = (state.resources == state.agent[None]).all(axis=1)
        on_table = (state.tables == state.agent[None]).all(axis=1)
        gained = jnp.concatenate([on_resource & (action == GRAB), on_table & (action == CRAFT)])
        inventory = state.inventory | (gained & possible_gains(state.inventory))
        return replace(state, agent=move(state.grid, state.agent, action), inventory=inventory)

    def observe(self, state: CraftingState) -> jax.Array:
        """For each resource a word on the map and one in the inventory; then tables, products and ground."""
        first = {name: self.vocabulary.first(name) for name in RESOURCES + TABLES}
        on_map = jnp.array([first[name] for name in RESOURCES], jnp.int16)
        on_map = if_present(
            ~state.inventory[: len(RESOURCES)], on_map + self.vocabulary.locations(state.resources, state.agent)
        )
        tables = jnp.array([first[name] for name in TABLES], jnp.int16)
        tables = tables + self.vocabulary.locations(state.tables, state.agent)
        resources, products = jnp.split(inventory_words(self.vocabulary, state.inventory), [len(RESOURCES)])
        ground = ground_words(self.vocabulary, state.grid, state.agent, show_corners=self.show_corners)
        return jnp.concatenate([jnp.stack([on_map, resources], axis=1).reshape(-1), tables, products, ground])

    def describe(self, state: CraftingState) -> jax.Array:
        return state.inventory.astype(jnp.int32)

    @property
    def tasks(self) -> Mapping[str, Task]:
        craft = Task(
            "craft",
            "one random product; other items are free",
            goal_of_a_product,
            MOST_GAINS * STEPS_PER_GAIN,
        )
        one_step = Task(
            "1-step",
            "one grab or craft from a random inventory",
            goal_one_item_on,
            STEPS_PER_GAIN,
            self.reset_with_some_items,
        )
        return {task.name: task for task in (craft, one_step)}

    @property
    def curriculum(self) -> tuple[Task, ...]:
        """Tasks of one transition, then the main task, which takes several."""
        return (self.task("1-step"), self.task("craft"))

    def render(self, state: CraftingState) -> np.ndarray:
        """The map, and below it the inventory; missing items are pale."""
        from attribute_planner.environments.gridworld.drawing import Board, draw_resource, draw_slot, draw_table

        board = Board(state.grid, state.agent, shelf=len(ITEMS))
        for name, position, is_taken in zip(RESOURCES, state.resources, state.inventory[: len(RESOURCES)], strict=True):
            if not is_taken:
                draw_resource(board.at(position), name)
        for name, position in zip(TABLES, state.tables, strict=True):
            draw_table(board.at(position), name)
        for place, (name, is_owned) in enumerate(zip(ITEMS, state.inventory, strict=True)):
            draw_slot(board.on_shelf(place), name, is_owned=bool(is_owned))
        return board.image()


def possible_gains(inventory: Bool[Array, "6"]) -> Bool[Array, "6"]:
    """The items that an agent with this inventory can grab or craft next."""
    return (inventory[None] | ~NEEDS).all(axis=1) & ~inventory


def goal_of_a_product(state: CraftingState, values: jax.Array, key: Key) -> Goal:
    """A random product that the agent does not have; any product if it has all."""
    del state
    is_product = jnp.arange(len(ITEMS)) >= len(RESOURCES)
    is_missing = is_product & (values == 0)
    candidates = jnp.where(is_missing.any(), is_missing, is_product)
    wanted = jnp.arange(len(ITEMS)) == random_item(candidates, key)
    return Goal(wanted.astype(jnp.int32), wanted)


def goal_one_item_on(state: CraftingState, values: jax.Array, key: Key) -> Goal:
    """The inventory with one more item that can be grabbed or crafted next; unchanged if there is none."""
    del state
    candidates = possible_gains(values == 1)
    gained = (jnp.arange(len(ITEMS)) == random_item(candidates, key)) & candidates
    return complete_goal(values | gained.astype(jnp.int32))


def random_item(candidates: Bool[Array, "6"], key: Key) -> Int[jax.Array, ""]:
    """A uniformly random item among the candidates."""
    rank = pick(jax.random.uniform(key), candidates.sum())
    return (jnp.cumsum(candidates) <= rank).sum()


def inventories_to_start_from() -> Bool[np.ndarray, "15 6"]:
    """All reachable inventories except the complete one."""
    return np.array([inventory for inventory in reachable_inventories() if not all(inventory)])


def reachable_inventories() -> list[tuple[bool, ...]]:
    """All inventories that are reachable from the empty one, which is first."""
    found: list[tuple[bool, ...]] = [(False,) * len(ITEMS)]
    for inventory in found:
        for item in np.flatnonzero(possible_gains(np.array(inventory))):
            grown = (*inventory[:item], True, *inventory[item + 1 :])
            if grown not in found:
                found.append(grown)
    return found
