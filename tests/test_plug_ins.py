"""Parts of one's own: a logger, a policy that was made elsewhere, recorded data in Minari's layout."""

import sys
from dataclasses import replace
from inspect import unwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import jax.numpy as jnp
import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner import recorder
from attribute_planner.algorithm import Progress
from attribute_planner.data.refill import in_lanes, refill
from attribute_planner.data.replay import Replay
from attribute_planner.data.replay_rows import Columns
from attribute_planner.errors import ConfigurationError, RunDirectoryError
from attribute_planner.models.given_policy import GivenPolicy, HostModel, decoded
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases import offline
from tests.probes import RING, with_drawn_weights


class Line(gymnasium.Env):
    """Three places in a row, and a lamp at the right end."""

    observation_space = gymnasium.spaces.MultiDiscrete([3, 2])
    action_space = gymnasium.spaces.Discrete(3)  # left, right, switch

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.place, self.lit = int(self.np_random.integers(3)), 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.lit ^= int(action == 2 and self.place == 2)
        self.place = int(np.clip(self.place + (action == 1) - (action == 0), 0, 2))
        return self.seen(), 0.0, False, False, {}

    def seen(self) -> np.ndarray:
        return np.array([self.place, self.lit])


ATTRIBUTES = [ap.Attribute("place", range(3)), ap.Attribute("lit")]


def describe(observation: Any, info: dict, env: Any) -> dict[str, Any]:
    return {"place": int(observation[0]), "lit": bool(observation[1])}


def line() -> Any:
    return ap.from_gymnasium(Line, attributes=ATTRIBUTES, describe=describe, tasks={"light": {"lit": True}})


class Walker:
    """The optimal policy; answers as Stable-Baselines3 does."""

    def predict(self, observation: np.ndarray, goal: dict[str, Any]) -> tuple[np.ndarray, None]:
        place, lit = observation
        if place != goal["place"]:
            return np.array(int(place < goal["place"])), None
        return np.array(2 if bool(lit) != goal["lit"] else 0), None


def small(env: Any) -> ap.TrainConfig:
    config = ap.config_for(env)
    return replace(
        config,
        rounds=1,
        explore=replace(config.explore, steps=640, num_envs=8, rollout_length=20, hidden_size=8, policy="random"),
        practise=replace(config.practise, steps=640, num_envs=8, hidden_size=8, max_attempt_steps=5),
    )


def test_a_logger_is_called_with_numbers_by_phase():
    logged: list[dict[str, float]] = []
    record = recorder.Recorder(
        None, Progress(), RING.spec, display=recorder.UserDisplay(False, logged.append), tensorboard=False
    )
    record("explore", 0.5, {"steps": 3, "edges": 7.0, "findings": ["none"]}, None)
    assert logged == [{"explore/steps": 3, "explore/edges": 7.0}]


def test_a_policy_of_ones_own_sees_observations_and_goals_as_the_environment_has_them():
    asked: list[Any] = []
    spec = line().spec
    policy = SimpleNamespace(predict=lambda *given: asked.append(given) or 1)
    model = HostModel(spec, policy)
    actions = model(np.array([[2, 1], [0, 0]], np.uint8), np.array([[1, 0], [-1, -1]]))
    assert actions.tolist() == [1, 0]  # nothing is asked where there is no goal
    ((observation, goal),) = asked
    assert (observation.tolist(), goal) == ([2, 1], {"place": 1, "lit": False})
    with pytest.raises(ConfigurationError, match=r"predict returned 7; actions are 0 to 2"):
        HostModel(spec, SimpleNamespace(predict=lambda *given: 7))(np.zeros((1, 2)), np.array([[1, 0]]))
    with pytest.raises(ConfigurationError, match=r"needs a method predict\(observation, goal\); a str has none"):
        HostModel(spec, "model.zip")


def test_structured_observations_are_given_back_as_dictionaries():
    space = gymnasium.spaces.Dict({"at": gymnasium.spaces.Discrete(4), "arm": gymnasium.spaces.Box(-1, 1, (2, 1))})

    class Arm(Line):
        observation_space = space

        def seen(self) -> Any:
            return {"at": self.place, "arm": np.full((2, 1), 0.5, np.float32)}

    env = ap.from_gymnasium(Arm, attributes=ATTRIBUTES[:1], describe=lambda o, info, env: {"place": o["at"]})
    found = decoded(env.spec, env.encoder.encode({"at": 2, "arm": np.full((2, 1), 0.5, np.float32)}))
    assert found["at"] == 2 and found["arm"].shape == (2, 1)


def test_a_policy_of_ones_own_gives_its_action_to_compiled_code():
    spec = line().spec
    like = with_drawn_weights(lambda key: GoalPolicy(spec, 1, key=key))
    output = GivenPolicy(spec, Walker(), like=like)(
        jnp.array([[0, 0], [2, 0]], jnp.uint8), jnp.zeros((2, 2), jnp.int32), jnp.array([[1, 0], [2, 1]], jnp.int32)
    )
    assert np.asarray(output.mode()).tolist() == [1, 2]


def test_training_measures_a_policy_of_ones_own(tmp_path: Path):
    env = line()
    agent = ap.train(env, policy=Walker(), config=small(env), run_dir=tmp_path / "run")
    tried = agent.table.attempts > 3
    assert tried.any() and agent.table.probability[tried].min() > 0.7
    assert ap.evaluate(agent, episodes=10).success == 1.0
    with pytest.raises(RunDirectoryError, match=r"made elsewhere, which is not saved with it.*policy=…"):
        ap.load(tmp_path / "run", env)
    assert ap.load(tmp_path / "run", env, policy=Walker()).table.num_edges == agent.table.num_edges


def test_an_error_of_a_policy_of_ones_own_is_one_line(capfd: pytest.CaptureFixture[str]):
    env = line()
    cases = (
        (
            lambda seen, goal: seen["observation"],
            r"^SimpleNamespace\.predict\(observation, goal\): IndexError: only integers",
        ),
        (lambda seen, goal: 7, r"^predict returned 7; actions are 0 to 2\.$"),
    )
    for predict, message in cases:
        with pytest.raises(ConfigurationError, match=message) as caught:
            ap.train(env, policy=SimpleNamespace(predict=predict), config=small(env))  # pyright: ignore[reportArgumentType]
        assert "\n" not in str(caught.value) and "pure_callback" not in capfd.readouterr().err
    agent = ap.train(env, policy=Walker(), config=small(env))  # the error is not raised twice
    assert agent.table.num_edges


def recorded_episodes(count: int = 60, length: int = 20) -> list[dict[str, np.ndarray]]:
    """Random episodes, as Minari stores them."""
    random, env, episodes = np.random.default_rng(0), Line(), []
    for number in range(count):
        observations, actions = [env.reset(seed=number)[0]], random.integers(3, size=length)
        observations += [env.step(action)[0] for action in actions]
        ends = np.arange(length) == length - 1
        episodes.append(
            {
                "observations": np.array(observations),
                "actions": actions,
                "terminations": np.zeros(length, bool),
                "truncations": ends,
                "rewards": np.zeros(length),
            }
        )
    return episodes


def test_recorded_episodes_are_a_dataset(tmp_path: Path):
    episodes, env = recorded_episodes(3), line()
    dataset = ap.Dataset.from_minari(episodes, tmp_path / "data", env=env)
    assert (dataset.num_steps, dataset.spec) == (60, env.spec)
    steps = dataset.read()
    np.testing.assert_array_equal(steps.observation[:20, 0], episodes[0]["observations"][:-1])
    after = np.asarray(env.attributes.unpack(steps.next_attributes))[:20, 0]
    np.testing.assert_array_equal(after, episodes[0]["observations"][1:])
    assert np.flatnonzero(steps.truncated).tolist() == [19, 39, 59]
    # An object with attributes, as Minari's own, and no environment.
    objects = [SimpleNamespace(**each) for each in episodes]
    spaces: dict[str, Any] = {"observation_space": Line.observation_space, "action_space": Line.action_space}
    same = ap.Dataset.from_minari(objects, tmp_path / "same", attributes=ATTRIBUTES, describe=describe, **spaces)
    np.testing.assert_array_equal(same.read().action, steps.action)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"actions": np.zeros(3, int)}, "recorded episode 0: there are 3 actions, but 20 terminations"),
        ({"observations": np.zeros((20, 2), int)}, "there are 20 actions and 20 observations, not one more"),
        ({"observations": np.full((21, 2), 9)}, "recorded episode 0: .*9"),
        ({"observations": {"at": np.zeros((21, 2), int)}}, "recorded episode 0: step 0: observation: it has shape"),
        ({"actions": np.full(20, 5)}, "action 5 is not in the action space"),
        ({"terminations": None}, "recorded episode 0: it has no terminations"),
    ],
)
def test_faults_of_recorded_episodes_are_said(change: dict[str, Any], message: str, tmp_path: Path):
    (episode,) = recorded_episodes(1)
    with pytest.raises(ConfigurationError, match=message):
        ap.Dataset.from_minari([{**episode, **change}], tmp_path / "data", env=line())


def test_an_error_of_describe_in_recorded_episodes_names_the_step(tmp_path: Path):
    env = ap.from_gymnasium(
        Line, attributes=ATTRIBUTES, describe=lambda seen, info, env: {"place": env.place, "lit": bool(seen[1])}
    )
    with pytest.raises(ConfigurationError, match=r"^recorded episode 0: step 0: describe: AttributeError: 'NoneType'"):
        ap.Dataset.from_minari(recorded_episodes(1), tmp_path / "data", env=env)


def test_a_logger_must_be_a_function():
    with pytest.raises(ConfigurationError, match=r"^logger must be a function of a dictionary of metrics, not a str"):
        unwrap(ap.train)(line(), logger="wandb")


def test_a_file_of_minari_needs_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ConfigurationError, match="HDF5 files need h5py: pip install h5py"):
        ap.Dataset.from_minari(tmp_path / "main_data.hdf5", tmp_path / "data", env=line())


def test_steps_are_cut_into_lanes():
    column = np.arange(10)[:, None]
    over = np.isin(column, (3, 9))
    columns = in_lanes(Columns(column, column, column, column, column, over, over), 3)
    assert columns.observation.tolist() == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
    assert columns.over.tolist() == [[False, True, False], [False, False, False], [True, True, True]]
    with pytest.raises(ConfigurationError, match="10 steps, fewer than the 64 environments"):
        in_lanes(Columns(column, column, column, column, column, over, over), 64)


def test_a_replay_buffer_is_filled_with_recorded_steps(tmp_path: Path):
    env = line()
    dataset = ap.Dataset.from_minari(recorded_episodes(4), tmp_path / "data", env=env)
    replay = Replay(1000)
    counts = refill(replay, dataset, 8, env.spec)
    assert replay.size == 80 and 0 < counts.total < 80
    with pytest.raises(ConfigurationError, match="recorded with other attributes than graph has"):
        refill(Replay(1000), dataset, 8, RING.spec)


@pytest.mark.slow
def test_training_from_recorded_steps_alone_and_with_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(offline, "MIN_UPDATES", 1500)
    env = line()
    dataset = ap.Dataset.from_minari(recorded_episodes(150), tmp_path / "data", env=env)
    agent = ap.train(env, dataset=dataset, steps=0, run_dir=tmp_path / "run", config=small(env))
    assert agent.plan({"place": 0, "lit": False}, {"lit": True}).probability > 0.5
    assert ap.evaluate(agent, episodes=20).success > 0.8
    planner = ap.train(dataset, config=small(env))
    assert planner.plan({"place": 0, "lit": False}, {"lit": True}).reachable
    with pytest.raises(ConfigurationError, match="known from recorded data alone and cannot be stepped"):
        planner.reach({"lit": True})
    more = ap.train(env, dataset=dataset, config=small(env))
    assert more.table.visits.sum() > agent.table.visits.sum()
    with pytest.raises(ConfigurationError, match="A dataset needs dqn or sac"):
        ap.train("switches", dataset=dataset)
