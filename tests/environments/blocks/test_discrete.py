import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.blocks.discrete import (
    Blocks,
    Configuration,
    after_random_change,
    describe,
    drop,
    is_covered,
    random_configuration,
)
from attribute_planner.environments.blocks.scene import BLOCKS, CELL_NAMES
from attribute_planner.environments.blocks.verification import all_configurations
from attribute_planner.environments.registry import make
from attribute_planner.errors import ConfigurationError

ENV = Blocks()


def configuration(cells: list[int], levels: list[int]) -> Configuration:
    return Configuration(jnp.array(cells), jnp.array(levels))


def as_lists(state: Configuration) -> tuple[list[int], list[int]]:
    return state.cells.tolist(), state.levels.tolist()


def act(state: Configuration, block: str, cell: str) -> tuple[list[int], list[int]]:
    action = ENV.actions.names.index(f"{block} to {cell}")
    return as_lists(ENV.step(state, jnp.array(action), jax.random.key(0)))


@pytest.mark.parametrize(
    ("block", "cell", "cells", "levels"),
    [
        ("red", "back-right", [8, 1, 1, 4], [0, 0, 1, 0]),
        ("red", "front-centre", [1, 1, 1, 4], [2, 0, 1, 0]),
        ("blue", "middle-centre", [0, 1, 4, 4], [0, 0, 1, 0]),
        ("blue", "front-centre", [0, 1, 1, 4], [0, 0, 1, 0]),
        ("green", "back-right", [0, 1, 1, 4], [0, 0, 1, 0]),
    ],
    ids=["to an empty cell", "onto a stack", "off a stack", "back to its own place", "covered, so it stays"],
)
def test_a_block_falls_on_top_of_its_cell(block: str, cell: str, cells: list[int], levels: list[int]):
    # Red at the front left, blue on green beside it, yellow in the middle.
    assert act(configuration([0, 1, 1, 4], [0, 0, 1, 0]), block, cell) == (cells, levels)


def test_actions_are_numbered_block_by_block():
    names = ENV.actions.names
    assert (len(names), names[0], names[9 * 2 + 5]) == (
        36,
        f"red to {CELL_NAMES[0]}",
        f"{BLOCKS[2]} to {CELL_NAMES[5]}",
    )


def test_only_the_top_of_a_stack_is_uncovered():
    assert is_covered(configuration([3, 3, 3, 3], [1, 3, 0, 2])).tolist() == [True, False, True, True]


def test_there_are_11880_configurations_3720_attribute_sets_and_134976_edges():
    states = all_configurations()
    blocks, cells = np.divmod(np.arange(36), 9)
    after = jax.vmap(lambda state: jax.vmap(drop, (None, 0, 0))(state, jnp.asarray(blocks), jnp.asarray(cells)))
    before_sets = keys(described(states))
    after_sets = keys(jax.jit(jax.vmap(jax.vmap(describe)))(jax.jit(after)(states)))
    edges = np.stack([np.repeat(before_sets, 36), after_sets.ravel()], axis=1)
    edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    assert (len(states.cells), len(np.unique(before_sets)), len(edges)) == (11_880, 3_720, 134_976)


def described(states: Configuration) -> np.ndarray:
    return np.asarray(jax.jit(jax.vmap(describe))(states))


def keys(values: jax.Array | np.ndarray) -> np.ndarray:
    words = np.asarray(ENV.attributes.pack(np.asarray(values))).astype(np.uint64)
    return words[..., 0] | (words[..., 1] << np.uint64(32))


def test_no_two_configurations_look_alike():
    states = jax.tree.map(lambda leaf: leaf[::60], all_configurations())
    pictures = np.asarray(jax.jit(jax.vmap(ENV.observe))(states))
    assert len({picture.tobytes() for picture in pictures}) == len(pictures)


def test_random_configurations_are_physical_and_all_of_them_occur():
    drawn = jax.jit(jax.vmap(random_configuration))(jax.random.split(jax.random.key(0), 200_000))
    every = {tuple(row) for row in np.concatenate(jax.tree.leaves(all_configurations()), axis=1)}
    seen = {tuple(row) for row in np.concatenate(jax.tree.leaves(drawn), axis=1)}
    assert seen <= every
    # The rarest, a tower in a certain order, has a chance of 9⁻⁴ / 24: some 1.3 of 200,000.
    assert len(seen) > 0.98 * len(every)


def test_a_quarter_of_random_actions_change_no_attribute():
    state_key, action_key = jax.random.split(jax.random.key(1))
    states = jax.jit(jax.vmap(random_configuration))(jax.random.split(state_key, 20_000))
    actions = jax.random.randint(action_key, (20_000,), 0, 36)
    after = jax.jit(jax.vmap(drop))(states, actions // 9, actions % 9)
    unchanged = (described(states) == described(after)).all(axis=1)
    assert unchanged.mean() == pytest.approx(0.26, abs=0.015)


def test_a_random_change_is_one_drop_and_changes_the_attributes():
    key, change_key = jax.random.split(jax.random.key(2))
    states = jax.jit(jax.vmap(random_configuration))(jax.random.split(key, 500))
    after = jax.jit(jax.vmap(after_random_change))(states, jax.random.split(change_key, 500))
    assert (described(states) != described(after)).any(axis=1).all()
    assert ((states.cells != after.cells).sum(axis=1) == 1).all()


def test_a_step_is_compiled_once():
    traces = 0

    def step(state: Configuration, action: jax.Array, key: jax.Array) -> Configuration:
        nonlocal traces
        traces += 1
        return ENV.step(state, action, key)

    compiled, state = jax.jit(step), ENV.reset(jax.random.key(0))
    for action in range(3):
        state = compiled(state, jnp.array(action), jax.random.key(action))
    assert traces == 1


def test_observation_and_description_are_what_the_environment_promises():
    state = ENV.reset(jax.random.key(3))
    picture, values = jax.jit(ENV.observe)(state), ENV.describe(state)
    assert (picture.shape, picture.dtype) == (ENV.observation.shape, ENV.observation.dtype)
    assert (values.shape, values.dtype) == ((36,), np.int32)
    assert np.asarray(ENV.vector_env(2).reset(jax.random.key(4)).observation).shape == (2, 128, 128, 3)


def test_pictures_can_be_smaller_but_not_too_small():
    env = Blocks(image_size=32)
    picture = jax.jit(env.observe)(env.reset(jax.random.key(0)))
    assert picture.shape == env.observation.shape == (32, 32, 3)
    with pytest.raises(ConfigurationError, match=r"image_size is 8; .* 16 pixels"):
        make("blocks", image_size=8)
