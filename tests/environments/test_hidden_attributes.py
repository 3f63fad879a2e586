import gymnasium
import jax
import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace, goal_from_names
from attribute_planner.environments.graph_world import Place, graph_world
from attribute_planner.environments.gymnasium_bridge import from_gymnasium
from attribute_planner.environments.hidden_attributes import (
    hidden_splits,
    with_hidden_attributes,
    without_hidden_attributes,
)
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.environments.registry import make
from attribute_planner.environments.splits import Codes, Split, Threshold
from attribute_planner.errors import ConfigurationError
from attribute_planner.evaluation.check_environment import check_environment

ROOMS = AttributeSpace((Attribute("room", ("left", "right")),))
WITHOUT_KEY, WITH_KEY, RIGHT = Place((0,), hidden=0), Place((0,), hidden=1), Place((1,))
TAKE_KEY, GO = 0, 1
HAS_KEY = Split((Threshold(1, 0.5),))
"""Places are one-hot in the order in which edges name them: without key, with key, right."""


def key_and_door() -> Environment:
    edges = [(WITHOUT_KEY, TAKE_KEY, WITH_KEY), (WITH_KEY, GO, RIGHT), (RIGHT, GO, WITHOUT_KEY)]
    return graph_world(ROOMS, edges, start=WITHOUT_KEY)


class KeyAndDoor(gymnasium.Env):
    """The same as a Gymnasium environment: the observation is (room, key)."""

    observation_space = gymnasium.spaces.Box(0, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.room, self.key = 0, 0
        return np.array([self.room, self.key], np.float32), {}

    def step(self, action):
        self.room, self.key = (1, self.key) if action == GO and self.key else (self.room, 1)
        return np.array([self.room, self.key], np.float32), 0.0, False, False, {}


def gymnasium_world(**fields) -> Environment:
    describe = None if "labelled" in fields else lambda observation, info, env: {"room": int(observation[0])}
    return from_gymnasium(
        KeyAndDoor, attributes=list(ROOMS), describe=describe, episode_steps=10, name="doors", **fields
    )


def test_a_pure_environment_describes_the_hidden_attribute():
    env = with_hidden_attributes(key_and_door(), [HAS_KEY])
    assert isinstance(env, PureEnvironment)
    assert env.attributes.names == ("room", "hidden_0")
    state = env.reset(jax.random.key(0))
    assert env.describe(state).tolist() == [0, 0]
    state = env.step(state, np.array(TAKE_KEY, np.int32), jax.random.key(1))
    assert env.describe(state).tolist() == [0, 1]
    check_environment(env)


def test_a_host_environment_describes_the_hidden_attribute():
    env = with_hidden_attributes(gymnasium_world(), [HAS_KEY])
    envs = env.vector_env(3)
    assert np.asarray(envs.reset(jax.random.key(0)).attributes).tolist() == [[0, 0]] * 3
    timestep = envs.step(np.array([TAKE_KEY, TAKE_KEY, GO], np.int32), jax.random.key(0))
    assert timestep.attributes is not None and timestep.attributes.tolist() == [[0, 1], [0, 1], [0, 1]]
    timestep = envs.step(np.array([GO, TAKE_KEY, TAKE_KEY], np.int32), jax.random.key(0))
    assert timestep.attributes is not None and timestep.attributes.tolist() == [[1, 1], [0, 1], [0, 1]]
    envs.close()
    check_environment(env)


@pytest.mark.parametrize("base", [key_and_door, lambda: gymnasium_world(tasks={"through": {"room": "right"}})])
def test_goals_leave_hidden_attributes_free(base):
    env = with_hidden_attributes(base(), [HAS_KEY])
    envs = env.vector_env(2)
    envs.reset(jax.random.key(0))
    goals = envs.sample_goals(env.task(None), jax.random.key(0))
    assert np.asarray(goals.wanted).tolist() == [[True, False]] * 2
    assert np.asarray(goals.satisfied_by(np.array([[1, 0], [1, 1]], np.int32))).all()
    assert goal_from_names(env.attributes, {"room": "right"}).wanted.tolist() == [True, False]
    envs.close()


def test_labels_for_a_detector_have_the_hidden_attribute():
    observations = np.array([[0, 0], [0, 1], [1, 1]], np.float32)
    env = with_hidden_attributes(gymnasium_world(labelled=(observations, np.array([[0], [0], [1]]))), [HAS_KEY])
    assert env.labels.values.tolist() == [[0, 0], [0, 1], [1, 1]]  # pyright: ignore[reportAttributeAccessIssue]


def test_hidden_attributes_are_added_to_those_that_are_there():
    env = key_and_door()
    once = with_hidden_attributes(env, [HAS_KEY])
    twice = with_hidden_attributes(once, [Split((Codes(0, 3, (1, 2)),))])
    assert twice.attributes.names == ("room", "hidden_0", "hidden_1")
    assert hidden_splits(twice)[:1] == (HAS_KEY,) and without_hidden_attributes(twice) is env
    assert with_hidden_attributes(env, []) is env


def test_equal_refinements_are_equal():
    """So that functions are compiled once for both."""
    env = key_and_door()
    one, other = (with_hidden_attributes(env, [HAS_KEY]) for _ in range(2))
    assert one == other and hash(one) == hash(other) and one.task(None) == other.task(None)


def test_environments_of_several_units_cannot_be_refined():
    with pytest.raises(ConfigurationError, match="several units"):
        with_hidden_attributes(make("starcraft-small"), [HAS_KEY])
