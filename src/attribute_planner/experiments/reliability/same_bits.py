"""Row 8: the same agent, bit for bit, on one core and on two, and if a run that began on two is resumed on one."""

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from attribute_planner.experiments.reliability.row import Row
from attribute_planner.storage.run_directory import AGENT, RunDirectory
from attribute_planner.storage.threads import VARIABLE

NUMBER = 8
SETTINGS = (
    *("explore.num_envs=64", "explore.rollout_length=50", "explore.rollouts_per_epoch=2", "explore.steps=12800"),
    *("practise.num_envs=256", "practise.rollout_length=40", "practise.rollouts_per_epoch=2", "practise.steps=40960"),
)
FEWER, ALL = 33_280, 53_760
"""Steps after which the resumed run is first ended, and all steps."""


def measure() -> Row:
    """Train with one core, with two, and first with two, then with one; compare the hashes of the agents."""
    began = time.monotonic()
    cores = sorted(os.sched_getaffinity(0))[:2]
    with tempfile.TemporaryDirectory() as folder:
        one, two, resumed = (Path(folder) / name for name in ("one", "two", "resumed"))
        train(one, cores[:1], "--set", *SETTINGS)
        train(two, cores, "--set", *SETTINGS)
        train(resumed, cores, "--steps", str(FEWER), "--set", *SETTINGS)
        train(resumed, cores[:1], "--steps", str(ALL), "--resume")
        hashes = {path.name: hashlib.sha256((path / AGENT).read_bytes()).hexdigest()[:12] for path in (one, two)}
        threads = {path.name: RunDirectory(path).threads for path in (one, two, resumed)}
    is_same = len(set(hashes.values())) == 1 and len(set(threads.values())) == 1
    measured = f"agents of one core and two: {' and '.join(hashes.values())}; threads recorded: {threads['one']}, "
    measured += f"{threads['two']}, and {threads['resumed']} after a resume on one core"
    return Row("same bits", measured, is_same and len(cores) == 2, time.monotonic() - began)


def train(run: Path, cores: Collection[int], *options: str) -> None:
    """Train in a process that may use only some cores."""
    command = [sys.executable, "-m", "attribute_planner", "train", "switches", "--out", str(run), *options]
    run_on(command, cores)


def run_on(command: Sequence[str], cores: Collection[int]) -> None:
    """Run a command on some cores."""
    limit = f"import os, sys; os.sched_setaffinity(0, {set(cores)}); os.execv(sys.argv[1], sys.argv[1:])"
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    subprocess.run([sys.executable, "-c", limit, *command], env=environment, check=True, capture_output=True)
