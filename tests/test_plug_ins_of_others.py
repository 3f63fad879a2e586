"""Plug-ins with the real libraries, where they are installed: Stable-Baselines3, Minari, Weights & Biases."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner import recorder
from attribute_planner.algorithm import Progress
from attribute_planner.errors import ConfigurationError
from attribute_planner.models.given_policy import HostModel
from tests.probes import RING
from tests.test_plug_ins import ATTRIBUTES, Line, describe, line


class GoalLine(gymnasium.Env):
    """The line with a goal in the observation, as Stable-Baselines3 wants it."""

    observation_space = gymnasium.spaces.Dict(
        dict.fromkeys(("observation", "achieved_goal", "desired_goal"), Line.observation_space)
    )
    action_space = Line.action_space

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict[str, np.ndarray], dict]:
        super().reset(seed=seed)
        self.line, self.goal = Line(), self.np_random.integers([3, 2])
        return self.seen(self.line.reset(seed=seed)[0]), {}

    def step(self, action: Any) -> tuple[dict[str, np.ndarray], float, bool, bool, dict]:
        seen = self.seen(self.line.step(action)[0])
        return seen, self.compute_reward(seen["achieved_goal"], self.goal, {}), False, False, {}

    def seen(self, observation: np.ndarray) -> dict[str, np.ndarray]:
        return {"observation": observation, "achieved_goal": observation, "desired_goal": self.goal}

    def compute_reward(self, achieved: np.ndarray, desired: np.ndarray, info: Any) -> Any:
        return (achieved == desired).all(axis=-1).astype(float)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_model_of_stable_baselines3_is_a_policy(tmp_path: Path):
    stable_baselines3 = pytest.importorskip("stable_baselines3")
    made = stable_baselines3.DQN(
        "MultiInputPolicy", GoalLine(), replay_buffer_class=stable_baselines3.HerReplayBuffer, buffer_size=100, seed=0
    )
    made.save(tmp_path / "line.zip")
    model, env = stable_baselines3.DQN.load(tmp_path / "line.zip", env=GoalLine()), line()

    class Reacher:
        def predict(self, observation: np.ndarray, goal: dict[str, Any]) -> Any:
            wanted = env.attributes.encode(goal)
            seen = {"observation": observation, "achieved_goal": observation, "desired_goal": wanted}
            return model.predict(seen, deterministic=True)

    observations = np.array([[0, 0], [2, 1]], np.uint8)
    actions = HostModel(env.spec, Reacher())(observations, np.array([[2, 1], [0, 0]]))
    assert actions.shape == (2,) and set(actions.tolist()) <= {0, 1, 2}


@pytest.mark.filterwarnings("ignore")
def test_a_dataset_of_minari_is_experience(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("h5py")
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    collector = minari.DataCollector(gymnasium.wrappers.TimeLimit(Line(), 10))
    for number in range(3):
        collector.reset(seed=number)
        for step in range(10):
            collector.step((step + number) % 3)
    collector.create_dataset(dataset_id="line/some-v0", algorithm_name="in turn")
    recorded = minari.load_dataset("line/some-v0")
    dataset = ap.Dataset.from_minari(recorded, tmp_path / "data", env=line())
    assert dataset.num_steps == 30 and dataset.read().action[:4, 0].tolist() == [0, 1, 2, 0]
    alone = ap.Dataset.from_minari(recorded, tmp_path / "alone", attributes=ATTRIBUTES, describe=describe)
    np.testing.assert_array_equal(alone.read().attributes, dataset.read().attributes)
    collector._tmp_dir.cleanup()  # what `close` leaves to a finaliser, which warns
    file = Path(recorded.storage.data_path) / "main_data.hdf5"
    read = ap.Dataset.from_minari(file, tmp_path / "read", env=line())
    np.testing.assert_array_equal(read.read().observation, dataset.read().observation)
    (tmp_path / "text.hdf5").write_text("no data")
    with pytest.raises(ConfigurationError, match=r"text\.hdf5 cannot be read as an HDF5 file"):
        ap.Dataset.from_minari(tmp_path / "text.hdf5", tmp_path / "none", env=line())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_weights_and_biases_logs_offline(tmp_path: Path):
    wandb = pytest.importorskip("wandb")
    run = wandb.init(project="line", mode="offline", dir=tmp_path)
    record = recorder.Recorder(
        None, Progress(), RING.spec, display=recorder.UserDisplay(False, wandb.log), tensorboard=False
    )
    record("explore", 0.5, {"steps": 3, "edges": 7.0}, None)
    assert run.summary["explore/edges"] == 7.0
    wandb.finish()
    assert list(tmp_path.rglob("*.wandb"))
