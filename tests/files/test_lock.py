"""One process at a time; the lock of a killed process is free."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from attribute_planner.errors import RunInUseError
from attribute_planner.files.lock import LOCK, locked

HOLD = """
import sys, time
from pathlib import Path
from attribute_planner.files.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Another process that holds the lock of the folder."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_the_second_is_refused_and_told_who_the_first_is(tmp_path: Path, holder: subprocess.Popen):
    with pytest.raises(RunInUseError, match=rf"is in use by process {holder.pid} on .*, since 20"), locked(tmp_path):
        pass
    assert (tmp_path / LOCK).exists()


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path: Path, holder: subprocess.Popen):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert (tmp_path / LOCK).exists()
    with locked(tmp_path):
        pass
    assert not (tmp_path / LOCK).exists()


def test_it_is_free_afterwards_also_after_an_exception(tmp_path: Path):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), locked(tmp_path):
            raise ZeroDivisionError
    with locked(tmp_path), pytest.raises(RunInUseError), locked(tmp_path):
        pass


FORK = """
import os, sys, time
from pathlib import Path
from attribute_planner.files.lock import locked
with locked(Path(sys.argv[1])):
    child = os.fork()
    if child == 0:
        os.close(1)
        time.sleep(60)
        os._exit(0)
    print(child, flush=True)
    os.kill(os.getpid(), 9)
"""


def test_a_forked_process_does_not_keep_the_lock_of_its_killed_parent(tmp_path: Path):
    killed = subprocess.run([sys.executable, "-c", FORK, str(tmp_path)], stdout=subprocess.PIPE, text=True, bufsize=1)
    child = int(killed.stdout)
    try:
        with locked(tmp_path):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
