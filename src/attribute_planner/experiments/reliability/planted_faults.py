"""Row 13: tests that can fail. Faults are planted in a copy of the source, one at a time, and its tests are run.

The packages that tests need are imported once; a process that is forked for each fault then runs its tests within
seconds. `python -m attribute_planner.experiments.reliability.planted_faults [NUMBER …]` plants single faults and shows
the output of their tests.
"""

import argparse
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from attribute_planner.experiments.reliability.faults import FAULTS, Fault
from attribute_planner.experiments.reliability.row import Row

NUMBER = 13
LEAST_CAUGHT = 0.95
PROCESSES = 2
SECONDS_PER_FAULT = 120.0
"""Tests that take longer hang, which is noticed: each test has a time limit."""
SECONDS_OF_ALL = 900.0
"""The same for the tests of all faults."""

LOADED = ("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")
"""pytest warns of packages that are imported before it; they are."""
FAILED = 1
"""The exit code of a test session in which tests have failed, and not one that could not run."""

ROOT = Path(__file__).parents[4]
PACKAGE = "attribute_planner"
COPIED = ("pyproject.toml", "src", "tests")
NEEDED = (
    *("jax", "jax.numpy", "equinox", "optax", "numpy", "scipy.sparse.csgraph", "scipy.stats", "gymnasium"),
    *("hypothesis", "hypothesis.strategies", "beartype", "jaxtyping", "networkx", "pytest", "safetensors.numpy"),
)
"""What most tests import; none of it starts a thread before it is used."""


def measure(numbers: Sequence[int] | None = None) -> Row:
    """Plant the faults, in a process of its own: this one may hold threads, and cannot be forked."""
    began = time.monotonic()
    if not (ROOT / "tests").is_dir():
        return Row("tests that can fail", "the tests are not installed with the package", False, 0.0)
    chosen = [str(number) for number in (range(len(FAULTS)) if numbers is None else numbers)]
    command = [sys.executable, "-m", f"{PACKAGE}.experiments.reliability.planted_faults", "--quiet", *chosen]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.split()
    is_sound, caught = SOUND in lines, {int(line) for line in lines if line != SOUND}
    survivors = [FAULTS[int(number)] for number in chosen if int(number) not in caught]
    measured = f"{len(caught)} of {len(chosen)} planted faults caught, {len(caught) / len(chosen):.0%}"
    serious = sum(FAULTS[int(number)].is_serious for number in chosen)
    measured += f"; all {serious} that lose data or run code" if not any(f.is_serious for f in survivors) else ""
    measured += "; the same tests pass without a fault" if is_sound else "; the tests fail without a fault, too"
    measured += "".join(f"; not caught: {fault.what}" for fault in survivors)
    passed = is_sound and len(caught) >= LEAST_CAUGHT * len(chosen) and not any(f.is_serious for f in survivors)
    return Row("tests that can fail", measured, passed, time.monotonic() - began)


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant faults and print the numbers of those that were caught, and whether the tests pass without a fault."""
    parser = argparse.ArgumentParser(prog=f"python -m {PACKAGE}.experiments.reliability.planted_faults")
    parser.add_argument("numbers", nargs="*", type=int, help="numbers of faults; default: all")
    parser.add_argument("--quiet", action="store_true", help="print only the numbers of faults that were caught")
    options = parser.parse_args(arguments)
    for each in NEEDED:
        importlib.import_module(each)
    numbers = options.numbers or list(range(len(FAULTS)))
    faults = [FAULTS[number] for number in numbers]
    with source_copies(PROCESSES) as roots:
        for place, is_caught in run_faults([*faults, control(faults)], roots, options.quiet):
            number = numbers[place] if place < len(numbers) else SOUND
            if not options.quiet:
                print(f"{number} {'caught' if is_caught else 'NOT CAUGHT'}: {[*faults, control(faults)][place].what}")
            elif is_caught == (number != SOUND):
                print(number)
            sys.stdout.flush()
    return 0


def control(faults: Sequence[Fault]) -> Fault:
    """Nothing is changed; with the tests of all faults. It must not be noticed."""
    tests = sorted({test for fault in faults for test in fault.tests.split()})
    return Fault("nothing is changed", "errors.py", NOTHING, NOTHING, " ".join(tests))


NOTHING = "class AttributePlannerError("
SOUND = "sound"
"""Printed if the tests pass without a fault."""


@contextmanager
def source_copies(count: int) -> Iterator[list[Path]]:
    """Copies of the source and the tests."""
    with tempfile.TemporaryDirectory() as folder:
        roots = [Path(folder) / str(number) for number in range(count)]
        for root in roots:
            for name in COPIED:
                here = ROOT / name
                copy = shutil.copytree if here.is_dir() else shutil.copy2
                root.mkdir(exist_ok=True)
                copy(here, root / name)
        yield roots


def run_faults(faults: Sequence[Fault], roots: Sequence[Path], quiet: bool) -> Iterator[tuple[int, bool]]:
    """Plant faults in the copies, several at a time; the place of each and whether its tests noticed it."""
    waiting, free = list(range(len(faults))), list(roots)
    running: dict[int, tuple[int, Path, str, float]] = {}
    while waiting or running:
        while waiting and free:
            number, root = waiting.pop(), free[-1]
            original = plant(faults[number], root)
            if original is None:
                yield number, False
                continue
            free.pop()
            running[fork_tests(faults[number], root, quiet)] = number, root, original, time.monotonic()
        time.sleep(0.05)
        for process, (number, root, original, began) in list(running.items()):
            limit = SECONDS_PER_FAULT if faults[number].old != faults[number].new else SECONDS_OF_ALL
            if (code := ended(process, time.monotonic() - began, limit)) is not None:
                (root / "src" / PACKAGE / faults[number].file).write_text(original, encoding="utf-8")
                free.append(root)
                del running[process]
                yield number, code == FAILED or code < 0


def plant(fault: Fault, root: Path) -> str | None:
    """Plant a fault in a copy; returns the original text of the file, `None` if the fault does not fit it any more."""
    path = root / "src" / PACKAGE / fault.file
    original = path.read_text(encoding="utf-8")
    if original.count(fault.old) != 1:
        return None
    path.write_text(original.replace(fault.old, fault.new), encoding="utf-8")
    return original


def fork_tests(fault: Fault, root: Path, quiet: bool) -> int:
    """Run the tests of a fault in a forked process; returns its number."""
    process = os.fork()
    if process:
        return process
    os.setpgid(0, 0)
    if quiet:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
    for name in [each for each in sys.modules if each.partition(".")[0] in (PACKAGE, "tests")]:
        del sys.modules[name]
    sys.path[:] = [str(root / "src"), *(each for each in sys.path if Path(each or ".").resolve() != ROOT / "src")]
    os.environ["PYTHONPATH"] = str(root / "src")
    os.chdir(root)
    pytest = importlib.import_module("pytest")
    options = ["-x", "-q", "--no-header", "-p", "no:xdist", "-p", "no:cacheprovider", "--rootdir", str(root), *LOADED]
    code = 3
    try:
        code = pytest.main([*options, *(f"tests/{each}" for each in fault.tests.split())])
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(int(code))


def ended(process: int, seconds: float, limit: float) -> int | None:
    """The exit code of a process that has ended, which is ended after some time; `None` if it is running."""
    done, status = os.waitpid(process, os.WNOHANG)
    if done:
        return os.waitstatus_to_exitcode(status)
    if seconds > limit:
        os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return -signal.SIGKILL
    return None


if __name__ == "__main__":
    raise SystemExit(main())
