"""Row 14: malformed command lines are answered by one clear line or by the usage, and a documented exit code."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import entry_points
from typing import Any
from unittest import mock

import numpy as np

from attribute_planner.experiments.reliability.row import Row
from attribute_planner.training import load

NUMBER = 14
PROGRAM = "attribute-planner: "
CORRECT = "correct"
"""The answer to a line that is correct by chance."""

TEMPLATES: tuple[tuple[str, ...], ...] = (
    ("envs",),
    ("envs", "--json"),
    ("agents", "--json"),
    ("train", "switches", "--seed", "1", "--steps", "100", "--out", "run"),
    ("train", "crafting", "--preset", "paper", "--set", "practise.num_envs=8", "explore.policy=random", "--json"),
    ("train", "starcraft-small", "--out", "run", "--resume"),
    ("train", "my_module:make", "--refine", "--tensorboard"),
    ("reach", "switches", "--goal", "switch_0=red switch_2=blue", "--seed", "3", "--max-steps", "20"),
    ("reach", "switches", "--goal", "switch_0=red", "--mode", "paper", "--gif", "episode.gif", "--json"),
    ("evaluate", "switches", "--task", "1-step", "--episodes", "5", "--seed", "1", "--json"),
    ("evaluate", "switches", "--estimator", "ratio", "--mode", "no-time", "--true-attributes"),
    ("diagnose", "switches", "--episodes", "2", "--seed", "1", "--json", "--report", "page.html"),
    ("graph", "switches", "--export", "graph.json", "--goal", "switch_0=red", "--start", "switch_1=red"),
    ("graph", "switches", "--edges", "3", "--json"),
    ("benchmark", "plan", "env", "--json"),
    ("reproduce", "grid-worlds", "--seeds", "2", "--scale", "small", "--dry-run", "--json"),
    ("reproduce", "--runs", "paper-switches-default-0", "--only", "switches", "--processes", "2", "--dry-run"),
    ("reproduce", "strangers", "--dry-run", "--records", "records", "--work", "work", "--report", "report.md"),
)
"""Correct command lines, which are then damaged."""

VALUES = (
    *(
        "",
        " ",
        "-",
        "--",
        "=",
        "a=b=c",
        ":",
        "a:",
        ":b",
        "..",
        "/",
        "~",
        "x\ny",
        "\x1b[31m",
        "\x00",
        "run\x00",
        "\ud800",
    ),
    *("é", "💥", "{}", "%s", "$(x)", "[bold]", "'", '"', "a" * 5000, "true", "none", "None", "null", "[]", "()"),
    *("0", "-1", "1.5", "1e9", "nan", "inf", "-inf", "1e400", "9" * 25, "-" + "9" * 25, "9" * 5000, "0x10", "１２"),
    *("switch_0", "switch_0=", "=red", "switch_0=purple", "switch_9=red", "switch_0>=1", "switch_0=red switch_0=blue"),
    *("explore.steps", "explore.steps=", "explore=1", "explore.steps.x=1", "practise.num_envs=0", "decay=1"),
    *("practise.ppo.learning_rate=nan", "practise.num_envs=99999999999", "rounds=-1", "practise.method=x"),
    *("/dev/null", "/dev/null/run", "/proc/self/x", "run/\x00", "a/" * 3000, "json:loads", "nowhere:make", "json:x"),
    *("--seed", "--json=1", "--seed=", "--no-json", "--help=1", "-x", "--unknown", "--set", "--out"),
)


def measure(count: int = 1000, in_processes: int = 8, seed: int = 0) -> Row:
    """Run damaged command lines until `count` of them were not correct by chance; some also as programs."""
    began = time.monotonic()
    answers, faults, refused = Counter(), [], []
    with without_work(), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for arguments in damaged_lines(seed):
            answer, fault = answer_of(arguments)
            answers[answer] += 1
            if fault:
                faults.append(f"{arguments!r:.200}: {fault:.200}")
            if answer in ("1", "2") and not any("\0" in each or not each.isprintable() for each in arguments):
                refused.append((arguments, answer))
            if answers.total() - answers[CORRECT] >= count:
                break
        for arguments, answer in refused[:in_processes]:
            faults += fault_of_program(arguments, int(answer))
    codes = ", ".join(f"{answers[code]} with exit code {code}" for code in sorted(answers.keys() - {CORRECT}))
    measured = f"{count:,} malformed lines: {codes}; {len(faults)} tracebacks or other faults"
    return Row("command line", "; ".join([measured, *faults[:3]]), not faults, time.monotonic() - began)


def damaged_lines(seed: int) -> Iterator[list[str]]:
    """Correct lines with another value in one place, or with one to three damages of any kind."""
    random = np.random.default_rng(seed)
    while True:
        arguments = list(TEMPLATES[random.integers(len(TEMPLATES))])
        if random.random() < OTHER_VALUE:
            _replace_value(arguments, random)
        else:
            for _ in range(random.integers(1, 4)):
                DAMAGES[random.integers(len(DAMAGES))](arguments, random)
        yield arguments


OTHER_VALUE = 0.7
"""How often only a value is replaced: such a line often passes the parser, and the command must refuse it."""


def _replace_value(arguments: list[str], random: np.random.Generator) -> None:
    places = [place for place, text in enumerate(arguments) if place and not text.startswith("--")]
    if places:
        arguments[places[random.integers(len(places))]] = VALUES[random.integers(len(VALUES))]


def _replace(arguments: list[str], random: np.random.Generator) -> None:
    if arguments:
        arguments[random.integers(len(arguments))] = VALUES[random.integers(len(VALUES))]


def _insert(arguments: list[str], random: np.random.Generator) -> None:
    arguments.insert(random.integers(len(arguments) + 1), VALUES[random.integers(len(VALUES))])


def _remove(arguments: list[str], random: np.random.Generator) -> None:
    if arguments:
        del arguments[random.integers(len(arguments))]


def _repeat(arguments: list[str], random: np.random.Generator) -> None:
    if arguments:
        arguments.append(arguments[random.integers(len(arguments))])


def _change(arguments: list[str], random: np.random.Generator) -> None:
    """Cut off, double or mix up the characters of an argument."""
    if arguments:
        place = random.integers(len(arguments))
        text = arguments[place]
        cut = random.integers(len(text) + 1)
        arguments[place] = (text[:cut], text * 2, text[cut:] + text[:cut], text.upper())[random.integers(4)]


DAMAGES: tuple[Callable[[list[str], np.random.Generator], None], ...] = (_replace, _insert, _remove, _repeat, _change)


def fault_of_program(arguments: list[str], code: int) -> list[str]:
    """What is wrong with the answer of the program, in a process of its own; nothing if it is that in this process."""
    command = [sys.executable, "-m", "attribute_planner", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    is_right = done.returncode == code and "Traceback" not in done.stderr
    return [] if is_right else [f"{arguments!r:.200} in a process: exit code {done.returncode}, {done.stderr[-200:]}"]


@cache
def program() -> Callable[[list[str]], int]:
    """The function behind `attribute-planner`, as it is installed."""
    (entry,) = entry_points(group="console_scripts", name="attribute-planner")
    return entry.load()


class CorrectLineError(BaseException):
    """Raised in place of the work that a correct line would begin."""


def answer_of(arguments: list[str]) -> tuple[str, str]:
    """The exit code of a command line, or `correct`; and what is wrong with the answer, empty if nothing is."""
    output, errors = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code: Any = program()(arguments)
    except CorrectLineError:
        return CORRECT, ""
    except SystemExit as ended:
        code = ended.code
        return (CORRECT if code == 0 else str(code)), "" if code in (0, 2) else f"exit code {code}"
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return "traceback", f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"
    if code == 0:
        return CORRECT, "" if not errors.getvalue() else f"success with errors: {errors.getvalue()}"
    lines = [line for line in errors.getvalue().splitlines() if line]
    is_clear = code == 1 and len(lines) == 1 and lines[0].startswith(PROGRAM)
    return str(code), "" if is_clear else f"exit code {code}, {len(lines)} lines: {lines[-1:]}"


@contextlib.contextmanager
def without_work() -> Iterator[None]:
    """Commands parse and check their arguments, but do not begin to train, simulate or measure."""

    def begin(*args: Any, **options: Any) -> Any:
        raise CorrectLineError

    loaded = cache(lambda run: load(run))
    with contextlib.ExitStack() as stack:
        for target in WORK:
            stack.enter_context(mock.patch(target, begin))
        stack.enter_context(mock.patch("attribute_planner.load", lambda run, env=None: loaded(str(run))))
        yield


WORK = (
    "attribute_planner.algorithm.train",
    "attribute_planner.agent.Agent.pursue",
    "attribute_planner.evaluation.evaluate.attempt_tasks",
    "attribute_planner.diagnosis.diagnose.ask",
    "attribute_planner.experiments.running.run_all",
    "attribute_planner.experiments.strangers.suite.run_suite",
    "attribute_planner.benchmarks.plan.measure",
    "attribute_planner.benchmarks.env.measure",
    "attribute_planner.benchmarks.blocks.measure",
)
"""Where each command begins to work."""
