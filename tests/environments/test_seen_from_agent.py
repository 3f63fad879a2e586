"""Grids and images seen from the agent: what the actions move is found, the rest is told by where it is from there."""

import json
from pathlib import Path
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.configuration import config_for
from attribute_planner.data.dataset import Dataset
from attribute_planner.data.refill import refill
from attribute_planner.data.replay import Replay
from attribute_planner.environments.finding_agent import cell_keys, cell_types, cells_of_agent, place_in
from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment, from_gymnasium
from attribute_planner.environments.gymnasium_bridge.bridge import Recipe, build_bridge
from attribute_planner.environments.gymnasium_bridge.observations import Encoder
from attribute_planner.environments.seen_from_agent import (
    LARGEST_CROP,
    ReadPart,
    distances,
    for_acting,
    markers_in,
    surroundings,
    turned,
    view_from,
    with_views,
)
from attribute_planner.environments.space_specs import FlatSpec, Marker, Part
from attribute_planner.environments.spec_json import spec_from_json, spec_to_json
from attribute_planner.environments.splits import component_name, flat_observation, given_observation
from attribute_planner.errors import DamagedFileError
from attribute_planner.models.encoders import encoder_for
from attribute_planner.models.given_policy import decoded
from attribute_planner.storage.description import describe_run, description_bytes, description_from_json
from attribute_planner.storage.run_directory import RunDirectory

SIDE, AGENT, LADEN, STONE, GHOST = 8, 1, 2, 3, 4
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))


class Yard(gymnasium.Env):
    """An agent that looks different on the left half, a stone somewhere else in every episode, and a ghost."""

    action_space = spaces.Discrete(4)
    observation_space: spaces.Space = spaces.Box(0, 9, (SIDE, SIDE), np.int64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.agent, self.stone, self.ghost = self.np_random.integers(0, SIDE, (3, 2))
        return self.shown(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.agent = np.clip(self.agent + MOVES[action], 0, SIDE - 1)
        self.ghost = np.clip(self.ghost + MOVES[self.np_random.integers(4)], 0, SIDE - 1)
        return self.shown(), 0.0, bool(self.np_random.random() < 0.05), False, {}

    def grid(self) -> np.ndarray:
        cells = np.zeros((SIDE, SIDE), np.int64)
        cells[tuple(self.stone)], cells[tuple(self.ghost)] = STONE, GHOST
        cells[tuple(self.agent)] = self.look()
        return cells

    def look(self) -> int:
        return LADEN if self.agent[1] < SIDE // 2 else AGENT

    def shown(self) -> Any:
        return self.grid()


class Pictured(Yard):
    """The same as an image, each cell of 3 × 3 pixels."""

    observation_space = spaces.Box(0, 255, (3 * SIDE, 3 * SIDE, 3), np.uint8)
    COLOURS = np.array([[0, 0, 0], [0, 255, 0], [0, 255, 255], [90, 90, 90], [255, 0, 0]], np.uint8)

    def shown(self) -> np.ndarray:
        return np.kron(self.COLOURS[self.grid()], np.ones((3, 3, 1), np.uint8))


class Walker(Yard):
    """Turns and walks; beside what is in a cell, its code tells where the agent faces."""

    action_space = spaces.Discrete(3)
    observation_space = spaces.Box(0, 9, (SIDE, SIDE, 2), np.int64)
    faces = 0

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.faces = (self.faces + (0, 1, 3)[action]) % 4
        before = self.agent
        shown = super().step(self.faces)
        if action:
            self.agent = before
            return self.shown(), *shown[1:]
        return shown

    def look(self) -> int:
        return AGENT

    def shown(self) -> np.ndarray:
        cells = np.stack([self.grid(), np.zeros((SIDE, SIDE), np.int64)], axis=-1)
        cells[*self.agent, 1] = self.faces
        return cells


class Planes(Yard):
    """The same as planes of zeros and ones, channels first, beside a number."""

    observation_space = spaces.Dict(
        {"planes": spaces.Box(0, 1, (4, SIDE, SIDE), np.int8), "time": spaces.Box(0, 1, (1,), np.float32)}
    )

    def shown(self) -> dict[str, np.ndarray]:
        planes = np.stack([self.grid() == key for key in (AGENT, LADEN, STONE, GHOST)]).astype(np.int8)
        return {"planes": planes, "time": np.zeros(1, np.float32)}


class Passive(Yard):
    """Nobody in it does what the actions say."""

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return super().step(int(self.np_random.integers(4)))


def spec_of(make: type[Yard]) -> FlatSpec:
    found = build_bridge(Recipe(make, (Attribute("left"),), None, None, None)).encoder.spec
    assert isinstance(found, FlatSpec)
    return found


def place_of(marker: Marker, keys: np.ndarray) -> tuple[int, int] | None:
    return place_in(cells_of_agent(marker, keys), marker.size)


def marker_of(make: type[Yard]) -> Marker:
    (marker,) = {part.seen_from for part in spec_of(make).parts if part.seen_from is not None}
    return marker


def by_part(encoder: Encoder, observation: Any) -> dict[str, np.ndarray]:
    """The values of each part of an observation, in its shape."""
    parts = encoder.spec.parts
    values = np.split(encoder.encode(observation), np.cumsum([part.size for part in parts])[:-1])
    return {part.name: value.reshape(part.shape) for part, value in zip(parts, values, strict=True)}


def test_what_the_actions_move_is_found_in_a_grid_with_both_its_looks():
    assert set(marker_of(Yard).keys) == {AGENT, LADEN}
    assert marker_of(Yard).size == (1, 1)


def test_where_it_faces_is_a_look_and_not_what_it_is():
    """The code of a direction is in the agent's cell, too, but only while it faces that way."""
    marker = marker_of(Walker)
    assert marker.keys == (AGENT,)
    bridge, env = build_bridge(Recipe(Walker, (Attribute("left"),), None, None, None)), Walker()
    env.reset(seed=0)
    middles = set()
    for env.faces in range(4):
        around = by_part(bridge.encoder, env.shown())["around the agent"]
        assert around.shape == (2 * SIDE - 1, 2 * SIDE - 1), "all of the grid, wherever the agent is"
        middles.add(int(around[SIDE - 1, SIDE - 1]))
    assert len(marker.looks) == len(middles) == 4, "the network sees where it faces, wherever it is"


def test_it_sees_the_same_wherever_it_faces_if_the_world_is_turned_with_it():
    bridge, env = build_bridge(Recipe(Walker, (Attribute("left"),), None, None, None)), Walker()
    env.reset(seed=0)
    env.ghost = np.array((3, 3))  # the agent hides it
    views = []
    for env.faces, ahead in enumerate(MOVES):
        env.agent, env.stone = np.array((3, 3)), np.array((3, 3)) + 2 * np.array(ahead)
        parts = by_part(bridge.encoder, env.shown())
        around = parts["around the agent"]
        assert np.argwhere(around == marker_of(Walker).others.index(STONE)).tolist() == [[SIDE - 3, SIDE - 1]], "ahead"
        views.append(parts["as distances from the agent"])
    present, row, column = np.array(views)[:, :-1].transpose(2, 0, 1)
    far, thing = SIDE - 1, [key for key in marker_of(Walker).known if key != AGENT].index(STONE)
    assert (present[:, thing] == 1).all() and (row[:, thing] == far - 2).all() and (column[:, thing] == far).all()


@pytest.mark.parametrize("make", [Yard, Planes, Pictured])
def test_where_no_key_tells_which_way_it_goes_nothing_is_turned(make: type[Yard]):
    """The agent looks different on the left half, where it goes every way, too."""
    assert marker_of(make).headings == ()


@given(st.integers(0, 2**32 - 1), st.integers(0, 3))
@settings(max_examples=20)
def test_distances_turn_like_the_grid(seed: int, turns: int):
    random = np.random.default_rng(seed)
    grid = np.full((7, 7), -1)
    places = [(row, column) for row, column in np.ndindex(7, 7) if (row, column) != (3, 3)]
    for key, place in enumerate(random.choice(len(places), 5, replace=False).tolist()):
        grid[places[place]] = key
    after = distances(np.rot90(grid, turns)[..., None], (3, 3), range(5))
    assert turned(distances(grid[..., None], (3, 3), range(5)), turns).tolist() == after.tolist()


def test_it_is_found_in_an_image_and_in_planes():
    assert marker_of(Pictured).size == (3, 3)
    assert set(marker_of(Pictured).keys) == set(cell_types(Pictured.COLOURS[None, [AGENT, LADEN]]).ravel().tolist())
    keys = cell_keys(np.ones((1, 1, 4), int), image=False)[0, 0]
    assert set(marker_of(Planes).keys) == {int(keys[0]), int(keys[1])}


def test_without_an_agent_everything_stays_as_it_is():
    assert [part.seen_from for part in spec_of(Passive).parts] == [None]


@pytest.mark.parametrize("shift", [(0, 0), (1, 2)])
def test_what_is_seen_from_the_agent_does_not_depend_on_where_it_is(shift: tuple[int, int]):
    agent, stone = np.array([3, 4]) + shift, np.array([2, 2]) + shift
    cells = np.zeros((SIDE, SIDE, 1), np.int64)
    cells[tuple(agent)], cells[tuple(stone)] = AGENT, STONE
    keys = cell_keys(cells, image=False)
    place = place_of(marker_of(Yard), keys)
    assert place == tuple(agent)
    seen = surroundings(cells, place, (5, 5), outside=9)
    assert seen[1, 0] == STONE and (seen == STONE).sum() == (seen == AGENT).sum() == 1
    assert distances(cell_keys(cells, image=False), place, (STONE, GHOST)).tolist() == [[1, -1, -2], [0, 0, 0]]


def test_beyond_the_edge_is_outside():
    cells = np.zeros((SIDE, SIDE, 1), np.uint8)
    seen = surroundings(cells, (0, SIDE - 1), (3, 5), outside=300)
    assert seen.shape == (3, 5, 1)
    assert (seen[..., 0] == 300).tolist() == [[True] * 5, *[[False] * 3 + [True] * 2] * 2]
    assert (surroundings(cells, None, (3, 5), outside=9) == 9).all()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_distances_are_those_of_the_nearest_cell(seed: int):
    random = np.random.default_rng(seed)
    types, place = random.integers(0, 12, (5, 7)), (int(random.integers(5)), int(random.integers(7)))
    for key, (present, row, column) in enumerate(distances(types[..., None], place, range(12)).tolist()):
        at = np.argwhere(types == key)
        assert bool(present) == bool(len(at))
        if present:
            assert [place[0] + row, place[1] + column] in at.tolist()
            assert abs(row) + abs(column) == np.abs(at - place).sum(axis=1).min()


def test_a_look_that_was_never_seen_is_the_agent_if_nothing_else_can_be():
    marker = Marker("", (AGENT,), (0, AGENT, STONE), (0, STONE), (1, 1))
    cells = np.zeros((SIDE, SIDE, 1), np.int64)
    cells[1, 2], cells[5, 5] = STONE, 9
    assert place_of(marker, cells) == (5, 5)
    cells[4, 4] = AGENT
    assert place_of(marker, cells) == (4, 4)
    assert place_of(marker, np.zeros_like(cells)) is None
    assert not distances(cells, None, (0, STONE)).any()


def test_workers_and_files_keep_the_agent_that_was_found():
    env = from_gymnasium(Yard, attributes=[Attribute("left")], describe=lambda *_: {"left": True})
    spec = env.spec.observation
    assert isinstance(spec, FlatSpec)
    assert spec_from_json(spec_to_json(env.spec)).observation == spec
    again = build_bridge(Recipe(Passive, (Attribute("left"),), None, None, None), markers=markers_in(spec))
    assert again.encoder.spec == spec


def test_encoded_observations_hold_the_grid_then_what_is_around_then_the_distances():
    bridge = build_bridge(Recipe(Yard, (Attribute("left"),), None, None, None))
    spec, env = bridge.encoder.spec, Yard()
    env.reset(seed=3)
    env.agent, env.stone, env.ghost = (np.array(place) for place in ((6, 6), (5, 6), (0, 0)))
    parts = by_part(bridge.encoder, env.shown())
    assert list(parts) == ["", "around the agent", "place of the agent", "as distances from the agent"]
    whole, window, number, ways = parts.values()
    assert spec.given == whole.size
    assert whole.tolist() == env.grid().tolist()
    others = marker_of(Yard).others
    assert others == (0, STONE, GHOST)
    middle = SIDE - 1
    assert window[middle - 1, middle] == others.index(STONE) and window[-1, -1] == 20, "beyond the edge"
    assert window[middle, middle] == 21 + marker_of(Yard).looks.index(AGENT), "after it come the looks of the agent"
    assert number == 6 * SIDE + 6
    far = SIDE - 1
    *things, place = ways
    assert (things - np.array([0, far, far])).tolist() == [[1, 0, -1], [1, -1, 0], [1, -6, -6]]
    assert place.tolist() == [1, 6, 6]
    name = component_name(spec)
    assert [name(spec.shape[0] - left) for left in (2, 1)] == ["the agent's row", "the agent's column"]


def test_an_image_is_moved_so_that_the_agent_is_in_its_middle():
    bridge = build_bridge(Recipe(Pictured, (Attribute("left"),), None, None, None))
    env = Pictured()
    env.reset(seed=1)
    env.agent, env.stone, env.ghost = (np.array(place) for place in ((6, 6), (5, 6), (0, 0)))
    image, around, _ = bridge.encoder.spec.parts
    encoded = bridge.encoder.encode(env.shown())
    seen = encoded[image.size : image.size + around.size].reshape(around.shape)
    middle = 3 * SIDE // 2
    assert image.kind == around.kind == "image" and image.shape == around.shape
    assert seen[middle, middle].tolist() == [0, 255, 0]
    assert seen[middle - 3, middle].tolist() == [90, 90, 90]


@pytest.mark.parametrize(("make", "kinds"), [(Yard, "unused"), (Planes, "unused"), (Pictured, "image")])
def test_networks_that_act_see_a_grid_from_the_agent_alone(make: type[Yard], kinds: str):
    spec, space = spec_of(make), AttributeSpace((Attribute("left"),))
    seen = for_acting(spec)
    assert isinstance(seen, FlatSpec)
    assert [part.kind for part in seen.parts] == [kinds, *(part.kind for part in spec.parts[1:])]
    observation = jnp.asarray(np.stack([observed(make, seed) for seed in range(2)]))
    whole_grid = slice(0, spec.given)
    other = observation.at[0, whole_grid].set(observation[1, whole_grid])
    nothing = jnp.full((2, 1), -1)
    for parts, is_used in ((seen, kinds == "image"), (spec, True)):
        network = encoder_for(parts, space, 8, key=jax.random.key(0))
        before, after = (np.asarray(network(each, nothing, nothing)) for each in (observation, other))
        assert (before[0] != after[0]).any() == is_used, "detectors and forward models see the whole grid"


def observed(make: type[Yard], seed: int) -> np.ndarray:
    return build_bridge(Recipe(make, (Attribute("left"),), None, None, None)).encoder.encode(make().reset(seed=seed)[0])


def test_the_surroundings_in_a_large_grid_are_a_crop_of_it():
    marker = Marker("", (AGENT,), (0, AGENT, STONE), (0, STONE), (1, 1))
    view = view_from(ReadPart(Part("", (30, 20), "numbers", 0, 9), np.ravel, 0, 9), marker)
    grid = np.zeros((30, 20), int)
    grid[20, 3], grid[19, 3], grid[0, 0] = AGENT, STONE, STONE
    around = view.read(grid)[: LARGEST_CROP**2].reshape(view.parts[0].shape)
    middle = LARGEST_CROP // 2
    assert around[middle, middle] == 2 and np.argwhere(around == 1).tolist() == [[middle - 1, middle]]
    grid[20, 3] = 0
    around, (number, *_) = np.split(view.read(grid), [LARGEST_CROP**2])
    assert number == grid.size, "the agent is not there, and the middle of the grid is seen"
    assert np.argwhere(around.reshape(view.parts[0].shape) == 1).tolist() == [[middle + 4, middle - 7]]


def test_types_of_cells_that_were_never_seen_are_told_from_each_other():
    """A door that is opened for the first time, or one in another colour."""
    marker = Marker("", (AGENT,), (0, AGENT), (0,), (1, 1))
    view = view_from(ReadPart(Part("", (4, 4, 2), "numbers", 0, 9), np.ravel, 0, 9), marker)
    grid = np.zeros((4, 4, 2), int)
    grid[1, 1, 0] = AGENT
    grid[0, :, 0], grid[0, :, 1] = 5, range(4)
    around = view.read(grid)[:49].reshape(7, 7)
    assert len(set(around[2, 2:6].tolist())) == 4
    assert around.max() < view.parts[0].slots


@pytest.mark.parametrize("make", [Yard, Pictured, Planes])
def test_what_is_seen_from_the_agent_is_the_last_of_an_observation(make: type[Yard]):
    spec = spec_of(make)
    observation = np.arange(spec.shape[0], dtype=np.int16)[None]
    assert flat_observation(observation, spec).tolist() == observation.tolist()
    assert given_observation(observation, spec).tolist() == [list(range(spec.given))]


@pytest.mark.parametrize("make", [Yard, Pictured, Planes])
def test_what_is_seen_from_the_agent_is_added_to_what_was_recorded(make: type[Yard]):
    encoder, env = build_bridge(Recipe(make, (Attribute("left"),), None, None, None)).encoder, make()
    observations = [env.reset(seed=5)[0], *(env.step(number % 4)[0] for number in range(7))]
    whole = np.stack([encoder.encode(observation) for observation in observations])
    given = whole[:, : encoder.spec.given].reshape(2, 4, -1)
    assert with_views(given, encoder.spec).tolist() == whole.reshape(2, 4, -1).tolist()


def test_steps_that_were_recorded_without_the_environment_are_learned_from_in_it(tmp_path: Path):
    world, left = Yard(), Attribute("left")
    episodes = []
    for seed in range(3):
        observations = [world.reset(seed=seed)[0], *(world.step(number % 4)[0] for number in range(8))]
        ends = {"terminations": np.zeros(8, bool), "truncations": np.arange(8) == 7, "rewards": np.zeros(8)}
        episodes.append({"observations": np.stack(observations), "actions": np.arange(8) % 4, **ends})
    spaces_of = {"observation_space": Yard.observation_space, "action_space": Yard.action_space}
    describe = lambda observation, *_: {"left": bool((observation == LADEN).any())}  # noqa: E731
    dataset = Dataset.from_minari(episodes, tmp_path / "data", attributes=[left], describe=describe, **spaces_of)
    env, replay = from_gymnasium(Yard, attributes=[left], describe=describe), Replay(100)
    assert dataset.spec.observation != env.spec.observation
    refill(replay, dataset, 3, env.spec)
    steps = replay.steps_at(np.zeros(3, int), np.arange(3))
    first = [env.encoder.encode(episode["observations"][0]).tolist() for episode in episodes]
    assert steps.observation.tolist() == first


class Reused(Yard):
    """Returns the same array at each step."""

    def __init__(self) -> None:
        self.shared = np.zeros((SIDE, SIDE), np.int64)

    def shown(self) -> np.ndarray:
        self.shared[:] = self.grid()
        return self.shared


class Chosen(Yard):
    """The same as choices of a finite set."""

    observation_space = spaces.MultiDiscrete(np.full((SIDE, SIDE), 10))


class Hasty(Yard):
    """Fails if an episode takes more than 20 steps."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.age = 0
        return super().reset(seed=seed, options=options)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.age += 1
        assert self.age <= 20
        return super().step(action)


@pytest.mark.parametrize("make", [Reused, Chosen])
def test_the_agent_is_found_in_other_forms_of_a_grid(make: type[Yard]):
    assert set(marker_of(make).keys) == {AGENT, LADEN}


def test_random_steps_keep_the_limit_of_episodes():
    env = from_gymnasium(Hasty, attributes=[Attribute("left")], describe=lambda *_: {"left": True}, episode_steps=20)
    assert set(markers_in(env.observation)[""].keys) == {AGENT, LADEN}


class Broken(Yard):
    """Its first observation is too small."""

    def shown(self) -> np.ndarray:
        return self.grid()[1:]


def test_a_first_observation_with_a_fault_is_left_to_the_run_that_meets_it():
    assert [part.seen_from for part in spec_of(Broken).parts] == [None]


class Busy(Yard):
    """Has a different code on each floor cell."""

    observation_space = spaces.Box(0, 999, (SIDE + 2, SIDE + 2), np.int64)

    def grid(self) -> np.ndarray:
        cells = 10 + np.arange((SIDE + 2) ** 2).reshape(SIDE + 2, SIDE + 2)
        cells[tuple(self.agent)] = self.look()
        return cells


def test_a_grid_with_too_many_types_of_cells_stays_as_it_is():
    assert [part.seen_from for part in spec_of(Busy).parts] == [None]


@pytest.mark.parametrize("actions", [4, 30, 60])
def test_what_moves_by_itself_is_not_the_agent_however_many_actions_there_are(actions: int):
    class Crowded(Passive):
        action_space = spaces.Discrete(actions)

    assert [part.seen_from for part in spec_of(Crowded).parts] == [None]


def test_an_agent_that_is_loaded_sees_from_the_agent_of_its_training(tmp_path: Path):
    def yard(make: type[Yard]) -> GymnasiumEnvironment:
        return from_gymnasium(make, attributes=[Attribute("left")], describe=lambda *_: {"left": True})

    env = yard(Yard)
    run = RunDirectory.create(tmp_path / "run", describe_run(env, config_for(env), seed=0))
    assert run.description.markers == (marker_of(Yard),)
    assert run.environment(env).observation == env.observation
    assert yard(Passive).observation != env.observation
    assert run.environment(yard(Passive)).observation == env.observation


@pytest.mark.parametrize("change", [{"keys": []}, {"size": [0, 1]}, {"headings": [[1, 7]]}])
def test_an_agent_that_cannot_have_been_found_is_an_error(change: dict[str, Any]):
    env = from_gymnasium(Walker, attributes=[Attribute("left")], describe=lambda *_: {"left": True})
    described = describe_run(env, config_for(env), seed=0)
    assert described.markers[0].headings
    saved = json.loads(description_bytes(described))
    assert description_from_json(saved) == described
    saved["environment"]["seen_from"][0].update(change)
    with pytest.raises(DamagedFileError, match=r"The saved environment\.seen_from is"):
        description_from_json(saved)


def test_a_policy_of_ones_own_sees_what_the_environment_gives():
    for make in (Yard, Pictured, Planes):
        env, world = from_gymnasium(make, attributes=[Attribute("left")], describe=lambda *_: {"left": True}), make()
        observation, _ = world.reset(seed=2)
        seen = decoded(env.spec, env.encoder.encode(observation))
        assert jax.tree.structure(seen) == jax.tree.structure(observation)
        assert all(map(np.array_equal, jax.tree.leaves(seen), jax.tree.leaves(observation)))
