"""Signals, in processes of their own: what they print, save and return."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attribute_planner import interruption
from attribute_planner.interruption import Interrupted, deferred, described_by, handled_signals, saved_by

FOLDER = Path(interruption.__file__).parent
"""Where the module is imported from by itself, without the package, which takes longer."""

PROGRAM = """
import sys, time
import interruption
from interruption import *

interruption.SECONDS_TO_END = 0.3

def work():
    with saved_by(lambda: print("saved", flush=True)), described_by(lambda: "kept."):
        print("working", flush=True)
        {work}

with handled_signals("program") as signals:
    try:
        work()
    except KeyboardInterrupt:
        signals.say(signals.line())
        sys.exit(signals.exit_code)
"""

IN_ORDER = "time.sleep(60)"
SWALLOWED = """
        while True:
            try:
                time.sleep(60)
            except BaseException:
                pass
"""
STUCK = "import hashlib; hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)"


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(FOLDER)}


def run(work: str, number: int) -> tuple[int, list[str], list[str]]:
    """Exit status, and lines of output and of errors, of a program that gets a signal while it works."""
    command = [sys.executable, "-c", PROGRAM.format(work=work)]
    with subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "working\n"
        time.sleep(0.2)
        process.send_signal(number)
        output, errors = process.communicate(timeout=30)
    return process.returncode, output.split(), errors.splitlines()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_program_in_order(name: str):
    number = signal.Signals[name]
    assert run(IN_ORDER, number) == (128 + number, [], [f"program: interrupted by {name}; kept."])


@pytest.mark.parametrize("work", [SWALLOWED, STUCK], ids=["swallowed", "stuck in C"])
def test_a_program_that_does_not_end_is_saved_and_ended(work: str):
    assert run(work, signal.SIGTERM) == (143, ["saved"], ["program: interrupted by SIGTERM; kept."])


def test_what_could_not_be_saved_in_time_is_said():
    slow = "interruption.SECONDS_TO_SAVE = 0.2; interruption._SAVES[-1] = lambda: time.sleep(60)" + SWALLOWED
    status, output, errors = run(slow, signal.SIGTERM)
    assert (status, output) == (143, [])
    assert errors == ["program: what was learned since the last save is lost: saving took more than 0.2 s."]


def test_signals_wait_for_what_is_changed_together():
    reached = []
    with handled_signals("test"), pytest.raises(Interrupted):
        with deferred():
            os.kill(os.getpid(), signal.SIGTERM)
            reached.append("inside")
        reached.append("after")
    assert reached == ["inside"]


def test_handlers_are_put_back():
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    with handled_signals("test") as signals, saved_by(lambda: None), described_by(lambda: ""):
        pass
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
    assert signals.received is None


CHILD = """
import os, sys, time
from interruption import end_with_parent
end_with_parent(int(sys.argv[1]))
time.sleep(60)
"""
PARENT = f"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}, str(os.getpid())])
print(child.pid, flush=True)
time.sleep(60)
"""


def test_a_process_ends_with_its_parent_even_if_that_is_killed():
    with subprocess.Popen([sys.executable, "-c", PARENT], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    until = time.monotonic() + 20
    while is_running(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_running(child)


def is_running(process: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
