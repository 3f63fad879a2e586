from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.gridworld.crafting import (
    CRAFT,
    GRAB,
    ITEMS,
    PRODUCTS,
    Crafting,
    CraftingState,
    reachable_inventories,
)
from attribute_planner.environments.gridworld.maps import DOWN, LEFT, RIGHT, UP
from attribute_planner.environments.spaces import ABSENT

ENV = Crafting()
KEY = jax.random.key(0)


@pytest.fixture
def state(laid_out) -> CraftingState:
    """Wood, iron, stone in the upper row; anvil, workbench, furnace in the lower one."""
    grid, things = laid_out("wis a.. AWF")
    resources, tables = (jnp.stack([things[sign] for sign in signs]) for signs in ("wis", "AWF"))
    return CraftingState(grid, things["a"], resources, tables, jnp.zeros(6, bool))


step = jax.jit(ENV.step)


def owned(state: CraftingState) -> list[str]:
    return [name for name, has in zip(ITEMS, state.inventory.tolist(), strict=True) if has]


def with_items(state: CraftingState, *names: str) -> CraftingState:
    return replace(state, inventory=jnp.array([name in names for name in ITEMS]))


def acting_at(state: CraftingState, cell: jax.Array, action: int) -> CraftingState:
    return step(replace(state, agent=cell), jnp.int32(action), KEY)


def test_grabbing_takes_the_resource_underfoot_and_nothing_else(state: CraftingState):
    assert owned(acting_at(state, state.resources[1], GRAB)) == ["iron"]
    assert owned(acting_at(state, state.agent, GRAB)) == []
    assert owned(acting_at(state, state.tables[0], GRAB)) == []
    assert owned(acting_at(state, state.resources[1], CRAFT)) == []


@pytest.mark.parametrize(
    ("table", "needs", "product"),
    [(0, ("wood", "iron"), "axe"), (1, ("wood", "stone"), "hammer"), (2, ("wood", "iron", "axe"), "sword")],
)
def test_a_product_needs_its_table_and_all_it_is_made_of_and_uses_up_nothing(state, table, needs, product):
    ready = with_items(state, *needs)
    assert set(owned(acting_at(ready, state.tables[table], CRAFT))) == {*needs, product}
    for other in {0, 1, 2} - {table}:
        assert product not in owned(acting_at(ready, state.tables[other], CRAFT))
    for missing in set(needs) - {"iron" if product == "sword" else ""}:
        lacking = with_items(state, *set(needs) - {missing})
        assert product not in owned(acting_at(lacking, state.tables[table], CRAFT))


def test_a_sword_can_be_made_by_hand(state: CraftingState):
    """Grab wood and iron, make the axe at the anvil, then the sword at the furnace: a plan replayed step by step."""
    way = [UP, GRAB, RIGHT, GRAB, DOWN, DOWN, LEFT, CRAFT, RIGHT, RIGHT, CRAFT]
    for action in way:
        state = step(state, jnp.int32(action), KEY)
    assert owned(state) == ["wood", "iron", "axe", "sword"]


def test_there_are_16_inventories_and_25_transitions(state: CraftingState):
    """Found by acting: everything that a grab or a craft at any thing can lead to, from an empty inventory on."""
    cells, actions = jnp.concatenate([state.resources, state.tables]), jnp.array([GRAB] * 3 + [CRAFT] * 3, jnp.int32)
    act_everywhere = jax.jit(
        jax.vmap(
            lambda cell, action, inventory: ENV.step(replace(state, agent=cell, inventory=inventory), action, KEY),
            (0, 0, None),
        )
    )
    found, edges = [(False,) * 6], set()
    for inventory in found:
        for new in map(tuple, np.asarray(act_everywhere(cells, actions, jnp.array(inventory)).inventory).tolist()):
            edges |= {(inventory, new)} - {(new, new)}
            found += [] if new in found else [new]
    assert (len(found), len(edges)) == (16, 25)
    assert set(found) == set(reachable_inventories())


def test_the_agent_sees_what_lies_around_and_what_it_has(state: CraftingState):
    words = jax.jit(ENV.observe)(with_items(state, "iron", "hammer"))
    told = [ENV.vocabulary.text(word) if word != ABSENT else "" for word in words.tolist()]
    assert told[:12] == [
        *("wood 1 up", ""),
        *("", "iron in the inventory"),
        *("stone 1 up 2 right", ""),
        *("anvil 1 down", "workbench 1 down 1 right", "furnace 1 down 2 right"),
        *("", "hammer in the inventory", ""),
    ]
    assert (words.shape, words.dtype) == (ENV.observation.shape, ENV.observation.dtype)
    assert ENV.observation.items[:13] == (0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9)


def test_episodes_start_with_nothing(crafting_starts: CraftingState):
    assert not crafting_starts.inventory.any()


def test_the_main_task_asks_for_one_product_that_is_missing(state: CraftingState):
    state = with_items(state, "wood", "stone", "hammer")
    draw = jax.jit(jax.vmap(ENV.task(None).goal, (None, None, 0)))
    goals = draw(state, ENV.describe(state), jax.random.split(KEY, 300))
    wanted = [ITEMS[each] for each in np.asarray(goals.wanted).argmax(axis=1)]
    assert np.asarray(goals.wanted).sum(axis=1).tolist() == [1] * 300
    assert set(wanted) == set(PRODUCTS) - {"hammer"}
    assert not np.asarray(goals.satisfied_by(ENV.describe(state)[None])).any()


def test_the_one_step_task_asks_for_the_inventory_with_one_item_more():
    task = ENV.task("1-step")
    assert task.start is not None
    start_key, goal_key = jax.random.split(KEY)
    states = jax.jit(jax.vmap(task.start))(jax.random.split(start_key, 1000))
    values = jax.vmap(ENV.describe)(states)
    goals = jax.jit(jax.vmap(task.goal))(states, values, jax.random.split(goal_key, 1000))
    values, wanted = np.asarray(values), np.asarray(goals.values)
    assert len(np.unique(values, axis=0)) == 15
    assert ((wanted - values).sum(axis=1) == 1).all()
    assert (wanted >= values).all()
    assert np.asarray(goals.wanted).all()
    assert len(np.unique(np.concatenate([values, wanted], axis=1), axis=0)) == 25


def test_the_curriculum_goes_from_one_grab_or_craft_to_several():
    assert [task.name for task in ENV.curriculum] == ["1-step", "craft"]
