import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.environments.graph_world import GraphWorld, Place, graph_world
from attribute_planner.errors import ConfigurationError
from attribute_planner.evaluation.check_environment import check_environment

DOOR_AND_LAMP = AttributeSpace((Attribute("door", ("open", "closed")), Attribute("lamp")))
OPEN_DARK, OPEN_LIT, CLOSED_DARK = (0, 0), (0, 1), (1, 0)
PUSH, SWITCH = 0, 1


@pytest.fixture
def world() -> GraphWorld:
    return graph_world(
        DOOR_AND_LAMP,
        [
            (OPEN_DARK, PUSH, CLOSED_DARK),
            (OPEN_DARK, SWITCH, OPEN_LIT, 0.75),
            (OPEN_LIT, SWITCH, OPEN_DARK, 0.5),
            (OPEN_LIT, SWITCH, CLOSED_DARK, 0.25),
        ],
        start=OPEN_DARK,
    )


def shares(world: GraphWorld, source: tuple[int, ...], action: int) -> dict[tuple[int, ...], float]:
    """How often an action leads where."""
    state = jnp.int32(world.places.index(Place(source)))
    keys = jax.random.split(jax.random.key(0), 4000)
    reached = jax.jit(jax.vmap(lambda key: world.describe(world.step(state, jnp.int32(action), key))))(keys)
    sets, number = np.unique(np.asarray(reached), axis=0, return_counts=True)
    return {tuple(values): count / 4000 for values, count in zip(sets.tolist(), number.tolist(), strict=True)}


def test_an_action_leads_along_its_edge(world: GraphWorld):
    assert shares(world, OPEN_DARK, PUSH) == {CLOSED_DARK: 1.0}


def test_an_edge_fails_as_often_as_its_probability_says(world: GraphWorld):
    assert shares(world, OPEN_DARK, SWITCH) == pytest.approx({OPEN_DARK: 0.25, OPEN_LIT: 0.75}, abs=0.03)


def test_an_action_can_have_several_outcomes(world: GraphWorld):
    expected = {OPEN_DARK: 0.5, OPEN_LIT: 0.25, CLOSED_DARK: 0.25}
    assert shares(world, OPEN_LIT, SWITCH) == pytest.approx(expected, abs=0.03)


def test_an_action_without_an_edge_changes_nothing(world: GraphWorld):
    assert shares(world, OPEN_LIT, PUSH) == {OPEN_LIT: 1.0}
    assert shares(world, CLOSED_DARK, SWITCH) == {CLOSED_DARK: 1.0}


def test_episodes_begin_at_the_given_place_or_anywhere(world: GraphWorld):
    assert world.describe(world.reset(jax.random.key(0))).tolist() == list(OPEN_DARK)
    anywhere = GraphWorld(world.space, world.edges)
    starts = jax.vmap(anywhere.reset)(jax.random.split(jax.random.key(0), 3000))
    np.testing.assert_allclose(np.bincount(np.asarray(starts)) / 3000, 1 / 3, atol=0.04)


def test_places_that_share_their_values_are_told_apart_only_by_the_observation():
    ready, stuck = Place(OPEN_DARK, hidden=0), Place(OPEN_DARK, hidden=1)
    world = graph_world(DOOR_AND_LAMP, [(ready, PUSH, CLOSED_DARK), (stuck, SWITCH, ready), (CLOSED_DARK, PUSH, stuck)])
    ready_state, stuck_state = (jnp.int32(world.places.index(place)) for place in (ready, stuck))
    key = jax.random.key(0)
    assert world.describe(ready_state).tolist() == world.describe(stuck_state).tolist() == list(OPEN_DARK)
    assert world.observe(ready_state).tolist() != world.observe(stuck_state).tolist()
    assert world.describe(world.step(ready_state, jnp.int32(PUSH), key)).tolist() == list(CLOSED_DARK)
    assert world.step(stuck_state, jnp.int32(PUSH), key) == stuck_state


def test_goals_are_all_the_other_sets(world: GraphWorld):
    start = jnp.array(OPEN_DARK, jnp.int32)
    draw = jax.vmap(world.task("any-to-any").goal, (None, None, 0))
    goals = draw(world.reset(jax.random.key(0)), start, jax.random.split(jax.random.key(0), 200))
    assert {tuple(values) for values in np.asarray(goals.values).tolist()} == {OPEN_LIT, CLOSED_DARK}


def test_a_graph_world_passes_the_check(world: GraphWorld):
    report = check_environment(world, steps=200)
    assert (report.attribute_sets, report.transitions) == (3, 4)
    assert report.warnings == ()


@pytest.mark.parametrize(
    ("edges", "start", "message"),
    [
        ([], None, "at least one edge"),
        ([((0, 2), 0, (0, 0))], None, "index 2 for attribute 'lamp'"),
        ([((0,), 0, (0, 0))], None, "must fit its attributes"),
        ([((0, 0), 0, (0, 1))], (1, 1), "is on no edge"),
        ([((0, 0), -1, (0, 1))], None, "numbers from 0 on"),
        ([((0, 0), 0, (0, 1), 0.7), ((0, 0), 0, (1, 1), 0.4)], None, "at most 1 in all"),
        ([((0, 0), 0, (0, 1), -0.1)], None, "at least 0"),
    ],
)
def test_graphs_that_make_no_sense_are_refused(edges, start, message):
    with pytest.raises(ConfigurationError, match=message):
        graph_world(DOOR_AND_LAMP, edges, start=start)
