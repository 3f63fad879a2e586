from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.gridworld.maps import (
    DOWN,
    LEFT,
    NOWHERE,
    RIGHT,
    UP,
    MapRules,
    cells,
    corners,
    count,
    is_in,
    move,
    num_draws,
    pick,
    place_blocks,
    random_map,
    reachable,
    rectangle,
    take_cell,
)
from attribute_planner.errors import ConfigurationError

NUM_MAPS, NUM_THINGS = 600, 6


def random_maps(rules: MapRules):
    draws = jax.random.uniform(jax.random.key(0), (NUM_MAPS, num_draws(rules, NUM_THINGS)))
    maps = jax.jit(jax.vmap(lambda each: random_map(rules, NUM_THINGS, each)))(draws)
    return jax.tree.map(np.asarray, maps)


@pytest.fixture(scope="module")
def default_maps():
    return random_maps(MapRules())


@pytest.fixture(scope="module")
def crowded_maps():
    return random_maps(MapRules((3, 5), max_blocked=0.7))


def free_cells(walls: np.ndarray) -> set[tuple[int, int]]:
    return {(r, c) for r, row in enumerate(walls) for c in range(16) if not row >> c & 1}


def walk_everywhere(start: tuple[int, int], free: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """A plain flood fill, to compare with."""
    found, edge = {start}, [start]
    while edge:
        row, column = edge.pop()
        for cell in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
            if cell in free and cell not in found:
                found.add(cell)
                edge.append(cell)
    return found


@pytest.mark.parametrize("maps", ["default_maps", "crowded_maps"])
def test_all_things_stand_apart_and_can_be_walked_to(maps, request):
    grid, agents, things = request.getfixturevalue(maps)
    for walls, agent, each in zip(grid.walls, agents, things, strict=True):
        cells_of_things = [tuple(map(int, cell)) for cell in each]
        start = (int(agent[0]), int(agent[1]))
        assert len({start, *cells_of_things}) == NUM_THINGS + 1
        assert set(cells_of_things) <= walk_everywhere(start, free_cells(walls))


@pytest.mark.parametrize("maps", ["default_maps", "crowded_maps"])
def test_walls_are_the_blocks_and_everything_outside_the_map(maps, request):
    grid, _, _ = request.getfixturevalue(maps)
    for walls, blocks, (height, width) in zip(grid.walls, grid.blocks, grid.size, strict=True):
        inside = {(r, c) for r in range(height) for c in range(width)}
        listed = [tuple(map(int, block)) for block in blocks if block[0] != NOWHERE]
        assert len(set(listed)) == len(listed)
        assert free_cells(walls) == inside - set(listed)


def test_sizes_and_numbers_of_blocks_are_uniform(default_maps):
    grid, _, _ = default_maps
    for side in grid.size.T:
        seen = Counter(side.tolist())
        assert set(seen) == {5, 6, 7, 8, 9, 10}
        assert all(abs(number - NUM_MAPS / 6) < 4 * np.sqrt(NUM_MAPS / 6) for number in seen.values())
    share = (grid.blocks[:, :, 0] != NOWHERE).sum(axis=1) / grid.size.prod(axis=1, dtype=int)
    assert share.max() <= 0.2
    assert abs(share.mean() - 0.1) < 0.01
    assert share.std() == pytest.approx(0.2 / np.sqrt(12), abs=0.01)


def test_a_map_too_crowded_for_its_things_loses_its_blocks(crowded_maps):
    """With 0 to 6 of 9 cells blocked, more than 2 leave too little room; others may be split by their blocks."""
    grid, _, _ = crowded_maps
    number = (grid.blocks[:, :, 0] != NOWHERE).sum(axis=1)[grid.size.prod(axis=1, dtype=int) == 9]
    assert set(number.tolist()) == {0, 1, 2}
    assert (number == 0).mean() > 4 / 7


def test_maps_may_have_no_blocks():
    grid, agent, things = random_maps(MapRules((3, 3), max_blocked=0.0))
    assert grid.blocks.shape == (NUM_MAPS, 0, 2) and agent.shape == (NUM_MAPS, 2) and things.shape[1] == NUM_THINGS
    assert {len(free_cells(walls)) for walls in grid.walls} == {9}


def test_blocks_fall_on_every_set_of_cells_equally_often():
    draws = jax.random.uniform(jax.random.key(0), (6000, 3))
    blocks = jax.jit(jax.vmap(lambda draw: place_blocks(jnp.array([2, 2]), jnp.array(2), draw)))(draws)
    assert (blocks[:, 2] == NOWHERE).all()
    pairs = Counter(frozenset(map(tuple, pair)) for pair in np.asarray(blocks[:, :2]).tolist())
    assert len(pairs) == 6
    assert all(abs(number - 1000) < 4 * np.sqrt(1000) for number in pairs.values())


def test_moves_go_one_cell_and_stop_at_walls_and_edges(laid_out):
    grid, things = laid_out("a#. ... ..b")
    a, b = things["a"], things["b"]
    go = jax.jit(move)
    after = {
        (name, action): go(grid, start, jnp.int32(action)).tolist()
        for name, start in things.items()
        for action in range(5)
    }
    assert after["a", UP] == after["a", LEFT] == after["a", RIGHT] == after["a", 4] == a.tolist()
    assert after["a", DOWN] == [1, 0]
    assert after["b", DOWN] == after["b", RIGHT] == b.tolist()
    assert after["b", UP] == [1, 2]
    assert after["b", LEFT] == [2, 1]


def test_the_edge_of_the_padded_map_stops_too(laid_out):
    grid, things = laid_out(" ".join([".........."] * 9 + [".........a"]))
    for action in (DOWN, RIGHT):
        assert jax.jit(move)(grid, things["a"], jnp.int32(action)).tolist() == [9, 9]


def test_what_can_be_reached_ends_at_blocks(laid_out):
    grid, things = laid_out("a.# ##. ..#")
    reached = reachable(things["a"], ~grid.walls)
    assert free_cells(np.asarray(~reached)) == {(0, 0), (0, 1)}


def test_winding_ways_are_followed_to_their_end(laid_out):
    grid, things = laid_out("a.... ####. ..... .#### ....b")
    assert bool(is_in(reachable(things["a"], ~grid.walls), things["b"]))
    assert int(count(reachable(things["a"], ~grid.walls))) == 17


def test_draws_run_through_the_cells_of_a_set_in_order():
    held = jnp.array([[0, 1], [0, 9], [3, 0], [9, 4]], jnp.int8)
    rows, take = cells(held, 10), jax.jit(take_cell)
    for number, expected in enumerate(held.tolist()):
        position, left = take(rows, jnp.float32((number + 0.5) / 4))
        assert position.tolist() == expected
        assert not is_in(left, position)
        assert int(count(left)) == 3


def test_the_largest_draw_still_picks_within_range():
    just_below_one = jnp.full(256, np.nextafter(np.float32(1), np.float32(0)))
    assert pick(just_below_one, jnp.arange(1, 257)).tolist() == list(range(256))


def test_rectangles_and_corners_are_where_they_should_be(laid_out):
    assert rectangle(jnp.array([2, 3]), largest=4).tolist() == [0b111, 0b111, 0, 0]
    assert rectangle(jnp.array([16, 16]), largest=16).tolist() == [2**16 - 1] * 16
    grid, _ = laid_out("..... ..... .....")
    assert corners(grid).tolist() == [[0, 0], [0, 4], [2, 0], [2, 4]]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (MapRules((6, 5)), r"size is \(6, 5\)"),
        (MapRules((5, 17)), "≤ 16"),
        (MapRules((2, 5)), "6 things and the agent need more cells"),
        (MapRules(max_blocked=1.0), "max_blocked is 1.0"),
    ],
)
def test_impossible_maps_are_refused(rules, message):
    with pytest.raises(ConfigurationError, match=message):
        rules.check(num_things=NUM_THINGS)
