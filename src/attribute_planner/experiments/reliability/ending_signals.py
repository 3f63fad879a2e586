"""Row 4: signals at any moment of a training, and to programs that have started other processes."""

import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from attribute_planner.errors import AttributePlannerError
from attribute_planner.experiments.reliability.process_trees import COMMANDS, end_tree
from attribute_planner.experiments.reliability.process_trees import SIGNALS as TREE_SIGNALS
from attribute_planner.experiments.reliability.processes import two_at_a_time
from attribute_planner.experiments.reliability.row import Row
from attribute_planner.storage.metrics import METRICS
from attribute_planner.storage.run_directory import RunDirectory

NUMBER = 4
MAX_SECONDS = 10.0

SETTINGS = [
    "explore.num_envs=32",
    "explore.steps=64000",
    "explore.hidden_size=16",
    "practise.num_envs=32",
    "practise.hidden_size=16",
]
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class Ending(NamedTuple):
    """How a training has ended.

    name: the signal.
    moment: when it got the signal, in words.
    seconds: the time from the signal to the exit.
    fault: what is not as promised; empty if everything is.
    saved: whether there was something to save.
    """

    name: str
    moment: str
    seconds: float
    fault: str
    saved: bool


def measure(per_signal: int = 8, latest: float = 10.0, seed: int = 0) -> Row:
    """Send each signal at random moments of a training, and to programs with several processes.

    Half of the trainings get it while packages are imported and functions compiled, the others while they learn.
    """
    began, random = time.monotonic(), np.random.default_rng(seed)
    moments = [(name, number % 2 == 1, random.uniform(0.5, latest)) for name in SIGNALS for number in range(per_signal)]
    endings = two_at_a_time(partial(end_training, *each) for each in moments)
    trees = two_at_a_time(partial(end_tree, program, name) for program in COMMANDS for name in TREE_SIGNALS)
    faults = [f"{each.name} {each.moment}: {each.fault}" for each in endings if each.fault]
    faults += [each.fault for each in trees if each.fault]
    right = sum(not each.fault for each in endings)
    measured = (
        f"{right} of {len(endings)} trainings ended as promised, {sum(each.saved for each in endings)} of them with "
        f"something to save; slowest exit {max(each.seconds for each in endings):.1f} s; processes left by "
        f"{' and '.join(COMMANDS)} after {', '.join(TREE_SIGNALS)}: {sum(each.left for each in trees)}"
    )
    return Row("signals", "; ".join([measured, *faults[:3]]), not faults, time.monotonic() - began)


def end_training(name: str, is_learning: bool, delay: float) -> Ending:
    """Train in a process, and send it a signal some seconds after its start, or after its first epoch."""
    number = signal.Signals[name]
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [sys.executable, "-m", "attribute_planner", "train", "switches", "--out", str(run)]
        process = subprocess.Popen([*command, "--set", *SETTINGS], stderr=subprocess.PIPE, text=True)
        if is_learning:
            wait_for_an_epoch(run, process)
        time.sleep(delay)
        began = time.monotonic()
        process.send_signal(number)
        try:
            _, errors = process.communicate(timeout=3 * MAX_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            _, errors = process.communicate()
        seconds = time.monotonic() - began
        fault = fault_of(process.returncode, seconds, errors.splitlines(), number, run)
        saved = RunDirectory.exists(run) and RunDirectory(run).has_checkpoint
        if is_learning and not fault and not saved:
            fault = "an epoch was finished, and nothing is saved"
        return Ending(
            name, f"{delay:.1f} s after the {'first epoch' if is_learning else 'start'}", seconds, fault, saved
        )


def wait_for_an_epoch(run: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a training has reported its first epoch."""
    until = time.monotonic() + SECONDS_TO_LEARN
    while time.monotonic() < until and process.poll() is None:
        if (run / METRICS).exists() and (run / METRICS).stat().st_size:
            return
        time.sleep(0.1)


SECONDS_TO_LEARN = 300.0


def fault_of(code: int, seconds: float, lines: list[str], number: signal.Signals, run: Path) -> str:
    """What is not as promised; empty if everything is."""
    if code == -number and not lines:
        return ""  # the interpreter had not begun to run the program
    last = lines[-1] if lines else ""
    if code != 128 + number:
        return f"exit code {code}, {last}"
    if seconds > MAX_SECONDS:
        return f"exit after {seconds:.1f} s"
    if any("Traceback" in line for line in lines):
        return "traceback"
    return "" if is_true(last, number.name, run) else f"wrong line: {last}"


def is_true(line: str, name: str, run: Path) -> bool:
    """Whether the last line says what is in the run directory."""
    if not line.startswith(f"attribute-planner: interrupted by {name}"):
        return False
    if not RunDirectory.exists(run):
        return line.endswith(("nothing is saved.", f"interrupted by {name}."))
    if "nothing was learned yet" in line:
        return not RunDirectory(run).has_checkpoint
    if "what was learned is saved" not in line:
        return False
    try:
        return "exploration" in RunDirectory(run).notes()
    except AttributePlannerError:
        return False
