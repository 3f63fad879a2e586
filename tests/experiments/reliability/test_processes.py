import os
import subprocess
import sys
import time
from pathlib import Path

from attribute_planner.experiments.reliability.processes import descendants_of, is_running, lines_of


def test_a_module_is_run_in_a_new_process():
    assert lines_of("base64", "-t")[-1].endswith("b'Aladdin:open sesame'")


def test_processes_of_processes_are_found_and_a_zombie_does_not_run():
    inner = "import time; time.sleep(60)"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    process, found = subprocess.Popen([sys.executable, "-c", outer]), []
    try:
        until = time.monotonic() + 20
        while not (found := descendants_of(process.pid)) and time.monotonic() < until:
            time.sleep(0.05)
        assert process.pid in descendants_of(os.getpid()) and found[0] in descendants_of(os.getpid())
        assert is_running(process.pid) and is_running(found[0])
    finally:
        process.kill()
        for each in found:
            os.kill(each, 9)
    while is_running(process.pid):
        time.sleep(0.05)
    assert Path(f"/proc/{process.pid}").exists()  # it has ended, and nobody has asked how
    process.wait()
    assert not is_running(process.pid)
