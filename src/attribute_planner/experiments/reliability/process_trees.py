"""Processes that start others: after a signal, or if they are killed, none of them is left."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from attribute_planner.experiments.reliability.processes import descendants_of, is_running

MAX_SECONDS = 10.0
SECONDS_TO_START = 300.0
SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_OF_WORK = 3.0
"""How long the started processes work before the signal."""
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGKILL")

COMMANDS: dict[str, str] = {
    "reproduce": "reproduce grid-worlds --scale small --processes 2 --records {0}/records --work {0}/work "
    "--report {0}/report",
    "train with workers": "train attribute_planner.experiments.reliability.room:room_environment --workers 2 "
    "--out {0}/run",
}
"""Command lines that start two processes, and work for minutes; `{0}` is a temporary folder."""


class TreeEnding(NamedTuple):
    """What was left of a process and those that it had started.

    left: the number of processes that exist ten seconds after the signal.
    fault: what is not as promised; empty if everything is.
    """

    left: int
    fault: str


def end_tree(program: str, name: str) -> TreeEnding:
    """Start a command, send its first process a signal, and look for what is left of all of them."""
    number = signal.Signals[name]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "attribute_planner", *COMMANDS[program].format(folder).split()]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        started = wait_for_two(process)
        time.sleep(SECONDS_OF_WORK)
        started = sorted({*started, *descendants_of(process.pid)})
        process.send_signal(number)
        until = time.monotonic() + MAX_SECONDS
        while time.monotonic() < until and (process.poll() is None or any(map(is_running, started))):
            time.sleep(SECONDS_BETWEEN_LOOKS)
        left = [each for each in (*started, process.pid) if is_running(each)]
        for each in left:
            os.kill(each, signal.SIGKILL)
        return TreeEnding(len(left), fault_of(process.wait(), len(started), len(left), program, number))


def wait_for_two(process: subprocess.Popen) -> list[int]:
    """Wait until a process has started two others; the others."""
    until = time.monotonic() + SECONDS_TO_START
    while len(started := descendants_of(process.pid)) < 2 and time.monotonic() < until and process.poll() is None:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return started


def fault_of(code: int, started: int, left: int, program: str, number: signal.Signals) -> str:
    """What is not as promised; empty if everything is."""
    right = -number if number == signal.SIGKILL else 128 + number
    if started < 2:
        return f"{program}: only {started} processes were started"
    if left:
        return f"{program}, {number.name}: {left} of {started + 1} processes left"
    return "" if code == right else f"{program}, {number.name}: exit code {code}"
