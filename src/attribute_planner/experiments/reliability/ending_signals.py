"""Row 4: signals at any moment of a training, and of a reproduction in several processes."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from attribute_planner.errors import AttributePlannerError
from attribute_planner.experiments.reliability.row import Row
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
    """How a process has ended.

    moment: the seconds after which it got the signal.
    seconds: the time from the signal to the exit.
    fault: what is not as promised; empty if everything is.
    saved: whether there was something to save.
    """

    name: str
    moment: float
    seconds: float
    fault: str
    saved: bool


def measure(per_signal: int = 7, latest: float = 20.0, seed: int = 0) -> Row:
    """Send each signal at random moments of a training, and kill a reproduction with several processes."""
    began, random = time.monotonic(), np.random.default_rng(seed)
    endings = [end_training(name, moment) for name in SIGNALS for moment in random.uniform(1.0, latest, per_signal)]
    left = [processes_left(name) for name in ("SIGINT", "SIGTERM", "SIGKILL")]
    faults = [f"{each.name} after {each.moment:.1f} s: {each.fault}" for each in endings if each.fault]
    measured = (
        f"{len(endings) - len(faults)} of {len(endings)} trainings ended as promised, "
        f"{sum(each.saved for each in endings)} of them with something to save; slowest exit "
        f"{max(each.seconds for each in endings):.1f} s; processes left by `reproduce`: {sum(left)}"
    )
    measured += "".join(f"; {fault}" for fault in faults[:3])
    return Row("signals", measured, not faults and not any(left), time.monotonic() - began)


def end_training(name: str, moment: float) -> Ending:
    """Train in a process, and send it a signal after `moment` seconds."""
    number = signal.Signals[name]
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [sys.executable, "-m", "attribute_planner", "train", "switches", "--out", str(run)]
        process = subprocess.Popen([*command, "--set", *SETTINGS], stderr=subprocess.PIPE, text=True)
        time.sleep(moment)
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
        return Ending(name, moment, seconds, fault, saved)


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


def processes_left(name: str) -> int:
    """The number of processes that exist ten seconds after `reproduce --processes 2` got a signal."""
    with tempfile.TemporaryDirectory() as folder:
        where = [f"--{each}={folder}/{each}" for each in ("records", "work", "report")]
        command = [sys.executable, "-m", "attribute_planner", "reproduce", "grid-worlds", "--scale", "small"]
        process = subprocess.Popen(
            [*command, "--processes", "2", *where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + 60
        while len(children := children_of(process.pid)) < 2 and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(3)
        process.send_signal(signal.Signals[name])
        until = time.monotonic() + MAX_SECONDS
        while time.monotonic() < until and (process.poll() is None or any(map(is_running, children))):
            time.sleep(0.1)
        left = [each for each in (*children, process.pid) if is_running(each)]
        for each in left:
            os.kill(each, signal.SIGKILL)
        process.wait()
        return len(left) if children else 99  # none has started: nothing was measured


def children_of(process: int) -> list[int]:
    """The processes that a process has started."""
    children = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[1] == str(process):
            children.append(int(stat.parent.name))
    return children


def is_running(process: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
