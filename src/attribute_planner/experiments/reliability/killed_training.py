"""Row 3: a training is killed and resumed; agent and metrics equal those of a run that nothing interrupted.

A kill is simulated in the process: nothing more is written, and what was learned since the last checkpoint is dropped.
That saves compiling everything again. Real kills, while files are written, are those of row 2.
"""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from attribute_planner import recorder, training
from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.configuration import TrainConfig
from attribute_planner.environments.graph_world import GraphWorld, graph_world
from attribute_planner.experiments.reliability.row import Row
from attribute_planner.files.array_file import read_arrays
from attribute_planner.files.manifest import temporary_files
from attribute_planner.learning.dqn import DQNConfig
from attribute_planner.learning.fitting import FitConfig
from attribute_planner.learning.inverse import InverseConfig
from attribute_planner.learning.ppo import PPOConfig
from attribute_planner.phases.detect import DetectConfig
from attribute_planner.phases.explore import ExploreConfig
from attribute_planner.phases.forward_model import ForwardModelConfig
from attribute_planner.phases.practise_config import PractiseConfig
from attribute_planner.storage.run_directory import AGENT, RunDirectory

NUMBER = 3
SIZE = 5
FIT = FitConfig(updates=60, batch=64, learning_rate=0.02)
LEARNING = PPOConfig(learning_rate=0.02, update_epochs=2, num_minibatches=2)
EXPLORE = ExploreConfig(
    steps=1_600, num_envs=16, rollout_length=10, rollouts_per_epoch=2, hidden_size=16, max_attempt_steps=4,
    ppo=replace(LEARNING, anneal=False),
)  # fmt: skip
PRACTISE = PractiseConfig(
    steps=3_200, max_attempt_steps=4, num_envs=16, rollout_length=10, rollouts_per_epoch=4, hidden_size=16, ppo=LEARNING
)

CONFIGS: dict[str, TrainConfig] = {
    "detector, count-based exploration, PPO": TrainConfig(
        detect=DetectConfig(learn=True, num_labels=512, fit=FIT, hidden_size=16), explore=EXPLORE, practise=PRACTISE
    ),
    "graph exploration": TrainConfig(explore=replace(EXPLORE, policy="graph"), practise=PRACTISE),
    "forward model, inverse model": TrainConfig(
        explore=replace(EXPLORE, policy="random"),
        forward_model=ForwardModelConfig(learn=True, fit=FIT, hidden_size=16),
        practise=replace(
            PRACTISE, method="inverse", max_attempt_steps=1, deterministic=True, inverse=InverseConfig(fit=FIT)
        ),
    ),
    "frontier, DQN with a replay buffer, rounds": TrainConfig(
        explore=replace(EXPLORE, policy="frontier"),
        practise=replace(
            PRACTISE,
            method="dqn",
            stop_on_any_change=False,
            goal_sampling="planned",
            dqn=DQNConfig(batch_size=16, replay_ratio=1.0, capacity=1_600, n_step=2),
        ),
        rounds=2,
    ),
}
"""Settings that together have every phase."""

TIMED = {"seconds", "goals_reached", "goals_planned", "goals_measured", "weakest_edge"}
"""Metrics that depend on the clock: when goals are measured is one of them."""


class KilledError(BaseException):
    """The process ends here."""


def measure(kills: int = 20, chain: int = 10, seed: int = 0, names: Sequence[str] = tuple(CONFIGS)) -> Row:
    """Kill each training at different moments, once or in a chain."""
    began, random = time.monotonic(), np.random.default_rng(seed)
    same = killed = 0
    phases: set[str] = set()
    different: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for place, name in enumerate(names):
            whole, path = Path(folder) / f"whole-{place}", Path(folder) / f"{place}"
            train(whole, CONFIGS[name])
            lines = RunDirectory(whole).metrics()
            singles = len(range(place, kills, len(names)))
            chains = [[moment] for moment in spread(len(lines), singles, random)]
            chains += [list(spread(len(lines), chain, random))] if place == len(names) - 1 else []
            for number, moments in enumerate(chains):
                died = train_with_kills(path / str(number), CONFIGS[name], moments)
                killed, phases = killed + len(died), phases | set(died)
                fault = difference(path / str(number), whole)
                same += not fault
                different += [f"{name}, killed after {moments}: {fault}"] if fault else []
    measured = (
        f"{killed} kills of {same + len(different)} trainings, in {', '.join(sorted(phases))}: agent and metrics equal "
        f"in {same}"
    )
    measured += "".join(f"; {each}" for each in different[:3])
    return Row("kill while training, resume", measured, not different, time.monotonic() - began)


def spread(lines: int, count: int, random: np.random.Generator) -> list[int]:
    """Moments from the first line of metrics to the last one, in ascending order."""
    return sorted(int(each) for each in np.linspace(1, lines, count) + random.uniform(-0.5, 0.5, count))


def world() -> GraphWorld:
    """A ring of sets, in which one action leads on and the other back."""
    space = AttributeSpace((Attribute("n", range(SIZE)),))
    ways = [((n,), action, ((n + step) % SIZE,)) for n in range(SIZE) for action, step in ((0, 1), (1, -1))]
    return graph_world(space, ways)


def train(path: Path, config: TrainConfig, *, resume: bool = False) -> None:
    """Train into a run directory, or continue there."""
    training.train(world(), seed=3, run_dir=path, config=None if resume else config, resume=resume)


def train_with_kills(path: Path, config: TrainConfig, moments: Sequence[int]) -> list[str]:
    """Train, killed each time that metrics.jsonl has so many lines, until it is finished; the phases it died in."""
    died = []
    for moment in moments:
        try:
            with killed_after(moment):
                train(path, config, resume=RunDirectory.exists(path))
        except KilledError as killed:
            died.append(str(killed))
    train(path, config, resume=True)
    return died


def killed_after(line: int) -> Any:
    """Checkpoints after every other report; death after the report with this number."""
    report, reports = recorder.Recorder.__call__, [0]

    def watched(self: Any, phase: str, *given: Any) -> None:
        reports[0] += 1
        with patch.object(training, "SECONDS_BETWEEN_SAVES", 0.0 if reports[0] % 2 else 1e9):
            report(self, phase, *given)
        if self._lines.lines >= line:
            self._unsaved = False  # nothing more is saved
            raise KilledError(phase)

    return patch.object(recorder.Recorder, "__call__", watched)


def difference(path: Path, whole: Path) -> str:
    """In what a run differs from one that nothing interrupted; empty if in nothing."""
    (arrays, notes), (expected, expected_notes) = (read_arrays(each / AGENT) for each in (path, whole))
    if notes != expected_notes:
        return "notes"
    wrong = [name for name in {*arrays, *expected} if not equal(arrays.get(name), expected.get(name))]
    if wrong:
        return f"{len(wrong)} arrays, {min(wrong)}"
    if timeless(path) != timeless(whole):
        return "metrics"
    return "temporary files" if temporary_files(path) else ""


def equal(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    """Whether two arrays are the same, bit for bit."""
    if one is None or other is None or one.dtype != other.dtype or one.shape != other.shape:
        return False
    return one.tobytes() == other.tobytes()


def timeless(path: Path) -> list[dict[str, Any]]:
    """The metrics of a run, without those that depend on the clock."""
    return [{key: value for key, value in line.items() if key not in TIMED} for line in RunDirectory(path).metrics()]
