"""Row 3: a training is killed and resumed; agent and metrics equal those of a run that nothing interrupted.

Most kills are simulated in the process: nothing more is written, and what was learned since the last checkpoint is
dropped. That saves compiling everything again. One training of each kind is a process of its own that gets SIGKILL.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from attribute_planner import recorder, training
from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.configuration import TrainConfig
from attribute_planner.environments.graph_world import GraphWorld, graph_world
from attribute_planner.experiments.reliability.processes import two_at_a_time
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
from attribute_planner.storage.metrics import METRICS
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


class Outcome(NamedTuple):
    """What has become of a training that was killed and resumed.

    phases: those in which it was killed.
    fault: in what it differs from one that was not; empty if in nothing.
    """

    phases: list[str]
    fault: str


def measure(kills: int = 20, chain: int = 10, seed: int = 0, names: Sequence[str] = tuple(CONFIGS)) -> Row:
    """Kill each training at different moments, once or in a chain, and once as a process."""
    began, random = time.monotonic(), np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        wholes = {name: Path(folder) / f"whole-{place}" for place, name in enumerate(names)}
        outcomes: list[Outcome] = []
        for place, name in enumerate(names):
            train(wholes[name], CONFIGS[name])
            lines = len(RunDirectory(wholes[name]).metrics())
            chains = [[moment] for moment in spread(lines, len(range(place, kills, len(names))), random)]
            chains += [spread(lines, chain, random)] if place == len(names) - 1 else []
            outcomes += [
                killed_in_process(name, moments, wholes[name], number) for number, moments in enumerate(chains)
            ]
        killed = killed_processes(wholes, random)
    faults = [each.fault for each in (*outcomes, *killed) if each.fault]
    phases = [phase for each in outcomes for phase in each.phases]
    ended = sum(bool(each.phases) for each in killed)
    every = len(outcomes) + len(killed)
    measured = (
        f"{len(phases)} kills of {len(outcomes)} trainings, in {', '.join(sorted(set(phases)))}, and {ended} of "
        f"{len(killed)} processes by a signal: agent and metrics equal in {every - len(faults)} of {every}"
    )
    passed = not faults and len(phases) == kills + chain and ended == len(names)
    return Row("kill while training, resume", "; ".join([measured, *faults[:3]]), passed, time.monotonic() - began)


def spread(lines: int, count: int, random: np.random.Generator) -> list[int]:
    """Moments from the first line of metrics to the last but one, in ascending order."""
    moments = np.linspace(1, lines - 1, count) + random.uniform(-0.5, 0.5, count)
    return sorted(int(each) for each in np.clip(np.round(moments), 1, lines - 1))


def killed_in_process(name: str, moments: Sequence[int], whole: Path, number: int) -> Outcome:
    """Train with simulated kills, and compare with a run that nothing interrupted."""
    path = whole.with_name(f"{whole.name}-{number}")
    phases = train_with_kills(path, CONFIGS[name], moments)
    return Outcome(phases, described(f"{name}, killed after {moments}", difference(path, whole)))


def killed_processes(wholes: Mapping[str, Path], random: np.random.Generator) -> list[Outcome]:
    """Train in processes that are killed by a signal, resume, and compare."""
    paths = {name: whole.with_name(f"{whole.name}-process") for name, whole in wholes.items()}
    lines = {name: int(random.integers(2, len(RunDirectory(whole).metrics()) - 2)) for name, whole in wholes.items()}
    died = two_at_a_time(partial(kill_process, name, paths[name], lines[name]) for name in wholes)
    outcomes = []
    for name, phases in zip(wholes, died, strict=True):
        train(paths[name], CONFIGS[name], resume=True)
        fault = described(f"{name}, process killed after {lines[name]}", difference(paths[name], wholes[name]))
        outcomes.append(Outcome(phases, fault))
    return outcomes


def described(what: str, fault: str) -> str:
    """A fault with its place; empty if there is none."""
    return f"{what}: {fault}" if fault else ""


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
        with patch.object(recorder, "SECONDS_BETWEEN_SAVES", 0.0 if reports[0] % 2 else 1e9):
            report(self, phase, *given)
        if self._lines.lines >= line:
            self._unsaved = False  # nothing more is saved
            raise KilledError(phase)

    return patch.object(recorder.Recorder, "__call__", watched)


def kill_process(name: str, path: Path, line: int) -> list[str]:
    """Train in a process and kill it once metrics.jsonl has so many lines; the phase, unless it has ended before."""
    process = subprocess.Popen([sys.executable, "-m", __name__, name, str(path)])
    metrics = path / METRICS
    while process.poll() is None and (not metrics.exists() or metrics.read_bytes().count(b"\n") < line):
        time.sleep(0.02)
    process.kill()
    is_killed = process.wait() < 0
    return [RunDirectory(path).metrics()[-1]["phase"]] if is_killed else []


def main(name: str, path: str) -> None:
    """Train with a checkpoint after every report."""
    with patch.object(recorder, "SECONDS_BETWEEN_SAVES", 0.0):
        train(Path(path), CONFIGS[name])


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


if __name__ == "__main__":
    main(*sys.argv[1:])
