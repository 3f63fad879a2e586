"""Training on a user's Gymnasium environment: what is counted, what is saved when it fails, and what comes out."""

from pathlib import Path
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

import attribute_planner as ap
from attribute_planner.data.random_actions import RandomActions
from attribute_planner.data.rollout import rollout
from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment
from attribute_planner.errors import EnvironmentFaultError, RunDirectoryError
from attribute_planner.learning.fitting import FitConfig
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.attempt_counts import count_attempts
from attribute_planner.phases.attempts import ReachNeighbours
from attribute_planner.phases.bonuses import count_transitions, inverse_root_count
from attribute_planner.phases.detect import DetectConfig
from attribute_planner.phases.device_graph import device_graph
from attribute_planner.phases.explore import ExploreConfig
from attribute_planner.phases.practise_config import PractiseConfig
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import table_of_counts

LENGTH, KEY_AT, DOOR_AT = 5, 0, 3
LEFT, RIGHT, USE = range(3)


class Corridor(gymnasium.Env):
    """A corridor: the key lies in the first cell, the door before the fourth is locked, the end is the last cell.

    The episode ends there. `breaks_after`: it raises after this number of steps of all environments together.
    """

    steps_of_all = 0

    def __init__(self, breaks_after: float = np.inf) -> None:
        self.observation_space = spaces.MultiDiscrete([LENGTH, 2, 2])
        self.action_space = spaces.Discrete(3)
        self.breaks_after = breaks_after
        self.place, self.has_key, self.is_open = 0, False, False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.has_key, self.is_open = int(self.np_random.integers(DOOR_AT)), False, False
        return self.seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        Corridor.steps_of_all += 1
        if Corridor.steps_of_all > self.breaks_after:
            raise RuntimeError("the corridor has collapsed")
        if action == USE:
            self.has_key = self.has_key or self.place == KEY_AT
            self.is_open = self.is_open or (self.has_key and self.place == DOOR_AT - 1)
        else:
            last = LENGTH - 1 if self.is_open else DOOR_AT - 1
            self.place = min(max(self.place + (1 if action == RIGHT else -1), 0), last)
        return self.seen(), 0.0, self.place == LENGTH - 1, False, {}

    def seen(self) -> np.ndarray:
        return np.array([self.place, self.has_key, self.is_open], np.int64)


ATTRIBUTES = [ap.Attribute("has_key"), ap.Attribute("door_open"), ap.Attribute("at_end")]


def describe_corridor(observation: Any, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Any]:
    place, has_key, door_open = observation
    return {"has_key": has_key, "door_open": door_open, "at_end": place == LENGTH - 1}


def corridor(breaks_after: float = np.inf, **settings: Any) -> GymnasiumEnvironment:
    Corridor.steps_of_all = 0
    given = {"describe": describe_corridor, "tasks": {"leave": {"at_end": True}}, "episode_steps": 40, **settings}
    return ap.from_gymnasium(lambda: Corridor(breaks_after), attributes=ATTRIBUTES, **given)


SMALL = ap.TrainConfig(
    detect=DetectConfig(fit=FitConfig(updates=200, batch=32), hidden_size=32),
    explore=ExploreConfig(steps=1600, policy="random", num_envs=16, rollout_length=20, rollouts_per_epoch=2),
    practise=PractiseConfig(
        steps=6400, num_envs=16, rollout_length=10, rollouts_per_epoch=10, max_attempt_steps=20, hidden_size=32
    ),
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[ap.Agent, Path]:
    run_dir = tmp_path_factory.mktemp("corridor") / "run"
    return ap.train(corridor(), config=SMALL, run_dir=run_dir), run_dir


def test_a_small_environment_is_learned(trained: tuple[ap.Agent, Path]):
    agent, _ = trained
    plan = agent.plan({"has_key": False, "door_open": False, "at_end": False}, goal={"at_end": True})
    assert [tuple(step.values()) for step in plan.steps] == [
        (False, False, False),
        (True, False, False),
        (True, True, False),
        (True, True, True),
    ]
    assert ap.evaluate(agent, "leave", episodes=50).success >= 0.95
    episode = agent.reach({"door_open": True}, seed=1)
    assert episode.success and episode.trace[-1].target == {"has_key": True, "door_open": True, "at_end": False}


def test_a_saved_agent_needs_its_environment_to_be_loaded(trained: tuple[ap.Agent, Path]):
    agent, run_dir = trained
    again = ap.load(run_dir, env=corridor())
    assert np.array_equal(again.table.successes, agent.table.successes)
    assert again.reach({"has_key": True}, seed=2).success
    with pytest.raises(RunDirectoryError, match="env="):
        ap.load(run_dir)


def test_a_reset_is_not_a_transition():
    env = corridor()
    counts = TransitionCounts(env.attributes.num_words)
    seen = rollout(RandomActions(env), env.vector_env(8), 400, space=env.attributes, key=jax.random.key(1))
    count_transitions(seen, counts, inverse_root_count)
    assert np.asarray(seen.terminated).sum() > 5 and np.asarray(seen.truncated).sum() > 5
    table = table_of_counts(env.attributes, counts)
    names = [tuple(env.attributes.decode(values).values()) for values in table.values]
    edges = {(names[source], names[target]) for source, target in zip(table.source, table.target, strict=True)}
    # Keys are never lost and doors never closed: only a reset could lead back.
    assert edges == {
        ((False, False, False), (True, False, False)),
        ((True, False, False), (True, True, False)),
        ((True, True, False), (True, True, True)),
    }
    last = np.asarray(seen.terminated)
    assert (np.asarray(env.attributes.unpack(np.asarray(seen.next_attributes)[last])) == [1, 1, 1]).all()


class Fuse(gymnasium.Env):
    """Whatever one does, it burns down after three steps: the episode is over, and nothing has changed."""

    observation_space = spaces.Discrete(4)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        self.age = 0
        return 0, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.age += 1
        return self.age, 0.0, self.age == 3, False, {}


@pytest.mark.parametrize("limit", [10, 2])
def test_the_end_of_an_episode_fails_the_attempt(limit: int):
    env = ap.from_gymnasium(
        Fuse,
        attributes=[ap.Attribute("lit")],
        describe=lambda *_: {"lit": False},
        episode_steps=limit,
    )
    counts = TransitionCounts(env.attributes.num_words)
    counts.record(np.array([[0]], np.uint32), np.array([[1]], np.uint32))
    graph = device_graph(table_of_counts(env.attributes, counts))
    actor = ReachNeighbours(GoalPolicy(env.spec, 8, key=jax.random.key(0)), graph, 100)
    trajectories = rollout(actor, env.vector_env(2), 6, space=env.attributes, key=jax.random.key(1))
    found = count_attempts(jnp.zeros((3, 1), jnp.int32), trajectories)
    attempts = 2 * 6 // min(limit, 3)
    assert np.asarray(found).tolist() == [[attempts], [0], [12]]


def test_what_was_learned_survives_an_environment_that_fails(tmp_path: Path):
    run_dir = tmp_path / "run"
    with pytest.raises(
        EnvironmentFaultError, match=r"Corridor: environment \d+, .* seed \d+: env.step: RuntimeError: the corridor"
    ):
        ap.train(corridor(breaks_after=5000), config=SMALL, run_dir=run_dir)
    saved = ap.load(run_dir, env=corridor())
    assert saved.table.attempts.sum() > 0
    agent = ap.train(corridor(), run_dir=run_dir, resume=True)
    assert ap.evaluate(agent, "leave", episodes=30).success >= 0.9


def test_a_detector_is_learned_from_labelled_states_and_judges_success():
    states = [(place, key, door) for place in range(LENGTH) for key in (0, 1) for door in (0, 1)] * 10
    observations = [np.array(state, np.int64) for state in states]
    attributes = [describe_corridor(each, {}, None) for each in observations]  # pyright: ignore[reportArgumentType]
    env = corridor(describe=None, labelled=(observations, attributes))
    assert not env.has_attribute_fn
    agent = ap.train(env, config=SMALL)
    assert agent.detector is not None
    timestep = env.vector_env(3).reset(jax.random.key(0))
    assert timestep.attributes is None
    assert (agent.detect(timestep) == 0).all()
    assert ap.evaluate(agent, "leave", episodes=30).success >= 0.9
