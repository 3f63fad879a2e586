from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.command_line.main import main
from attribute_planner.diagnosis import report
from attribute_planner.storage.run_directory import RunDirectory, save_agent
from tests.probes import table_of

SMALL = [
    "explore.policy=random",
    "explore.num_envs=64",
    "explore.rollout_length=50",
    "explore.rollouts_per_epoch=5",
    "explore.steps=32000",
    "explore.hidden_size=16",
    "practise.num_envs=64",
    "practise.rollout_length=20",
    "practise.rollouts_per_epoch=5",
    "practise.steps=6400",
    "practise.hidden_size=16",
]
"""Settings under which the switches are trained within seconds, and not well."""


@pytest.fixture(autouse=True, scope="session")
def short_reports() -> Iterator[None]:
    """The report at the end of a training pursues one goal of each task: agents that fail take all steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "EPISODES", 1)
        yield


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run directory of an agent for the switches, trained by the command."""
    path = tmp_path_factory.mktemp("runs") / "switches"
    assert main(["train", "switches", "--seed", "5", "--out", str(path), "--json", "--set", *SMALL]) == 0
    return path


@pytest.fixture(scope="session")
def ignorant_run(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent for the switches that has never seen but one transition."""
    agent, described = ap.load(run), RunDirectory(run).description
    table = table_of(agent.env.attributes, [((0, 0, 0, 0), (1, 0, 0, 0), 1.0)])
    path = tmp_path_factory.mktemp("runs") / "ignorant"
    ignorant = ap.Agent(agent.env, None, agent.policy, table, agent.max_attempt_steps)
    save_agent(path, ignorant, described.config, seed=0)
    return path


@pytest.fixture(scope="session")
def start(run: Path) -> dict[str, str]:
    """How the switches are set at the start of the episode with seed 0."""
    episode = ap.load(run).reach({"switch_0": "red"}, max_steps=1)
    assert isinstance(episode.plan.start, np.ndarray)
    return {name: str(value) for name, value in episode.plan.steps[0].items()}
