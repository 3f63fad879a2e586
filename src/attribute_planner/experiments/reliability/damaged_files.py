"""Row 1: damaged and forged files. Loading gives the saved agent or one line, never another agent; nothing is run."""

import json
import resource
import selectors
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from attribute_planner.agent import Agent
from attribute_planner.configuration import TrainConfig, default_config
from attribute_planner.data.dataset import Dataset
from attribute_planner.errors import AttributePlannerError
from attribute_planner.experiments.reliability.mutations import DAMAGE, FORGERIES, Forgery
from attribute_planner.experiments.reliability.processes import two_at_a_time
from attribute_planner.experiments.reliability.row import Row
from attribute_planner.files.array_file import array_bytes
from attribute_planner.files.manifest import read_manifest
from attribute_planner.storage.agents import shipped_agents
from attribute_planner.storage.checkpoint import agent_arrays, progress_arrays
from attribute_planner.storage.metrics import METRICS, read_beginning
from attribute_planner.storage.run_directory import RunDirectory
from attribute_planner.training import load, train

NUMBER = 1
FORGED_SHARE = 0.3
"""Fraction of the mutations after which the manifest is written again, so that it notices nothing."""
MAX_SECONDS = 60.0
"""A file that takes longer hangs the program."""
SECONDS_TO_PREPARE = 300.0
"""The same for the first load of all agents, which compiles what loading needs."""
MAX_MEMORY = 2**34
"""Bytes of address space of the process that loads."""
SMALL = 3_000_000
"""Files of more bytes are forged less often: loading them takes seconds."""
PREPARED = "ready"


def measure(mutations: int = 10_000, seed: int = 0) -> Row:
    """Mutate the shipped agents and the run of a small training, and load what results."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        train_small(Path(folder) / "run")
        halves = (0, mutations // 2), (mutations // 2, mutations)
        both = two_at_a_time(partial(outcomes_between, *half, seed, Path(folder)) for half in halves)
        outcomes = [outcome for half in both for outcome in half]
    counts = Counter(each["outcome"] for each in outcomes)
    events = sorted({event for each in outcomes for event in each["events"]})
    wrong = counts["wrong"] + counts["hang"] + counts["traceback"] + counts["lines"]
    measured = (
        f"{len(outcomes):,} mutations: {counts['refused']:,} refused with one line, {counts['same']:,} load as saved, "
        f"{counts['possible']:,} forgeries load as a possible agent; {counts['wrong']} with wrong values, "
        f"{counts['hang']} hang, {counts['traceback']} tracebacks, {counts['lines']} messages of several lines; "
        f"code imported or run by {sum(bool(each['events']) for each in outcomes)}"
    )
    faults = [each for each in outcomes if each["outcome"] in ("wrong", "hang", "traceback", "lines")]
    measured += "".join(
        f"; {each['name']} {each['mutation']} {each['number']}: {each['message']}" for each in faults[:3]
    )
    measured += f"; {', '.join(events[:3])}" if events else ""
    passed = len(outcomes) == mutations and not wrong and not events
    return Row("damaged or hostile files", measured, passed, time.monotonic() - began)


def train_small(path: Path) -> None:
    """A run of a policy that replays, with a detector and recorded steps."""
    config = default_config("switches")
    explore = replace(config.explore, policy="frontier", num_envs=8, rollout_length=10, rollouts_per_epoch=2, steps=320)
    practise = replace(
        config.practise, method="dqn", stop_on_any_change=False, goal_sampling="planned", num_envs=8, rollout_length=10,
        rollouts_per_epoch=2, steps=640, hidden_size=16,
    )  # fmt: skip
    practise = replace(practise, dqn=replace(practise.dqn, batch_size=16, replay_ratio=1.0, capacity=640))
    config = replace(config, explore=replace(explore, hidden_size=16), practise=practise, rounds=2)
    train("switches", seed=0, config=config, run_dir=path)


def outcomes_between(first: int, last: int, seed: int, folder: Path) -> list[dict[str, Any]]:
    """The outcomes of the mutations with these numbers, from a process that is started again after a hang."""
    return list(_outcomes(first, last, seed, folder))


def _outcomes(number: int, last: int, seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    while number < last:
        arguments = [str(folder), str(seed), str(number), str(last)]
        command = [sys.executable, "-m", __name__, *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder) as child:
            for line in printed_by(child):
                if line is None or not line.startswith("{"):
                    if line is not None and line.strip() == PREPARED:
                        continue
                    child.kill()
                    fault = "hang" if line is None else "traceback"
                    message = "" if line is None else (child.stderr.read() if child.stderr else "")[-300:]
                    yield NO_OUTCOME | {"outcome": fault, "number": number, "message": message}
                    number += 1
                    break
                yield json.loads(line)
                number += 1


NO_OUTCOME: dict[str, Any] = {"events": [], "name": "", "mutation": ""}
"""What is known of a mutation that has ended the process."""


def printed_by(child: subprocess.Popen[str]) -> Iterator[str | None]:
    """The lines that a process prints; `None` if it prints nothing for too long."""
    assert child.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        limit = SECONDS_TO_PREPARE
        while True:
            if not selector.select(limit):
                yield None
                return
            line = child.stdout.readline()
            if not line:
                if child.wait() != 0:
                    yield ""
                return
            yield line
            limit = MAX_SECONDS


def main(folder: str, seed: str, first: str, last: str) -> None:
    """Load mutations with numbers from `first` to `last`, and print the outcome of each."""
    targets = {**shipped_agents(), "run": Path(folder) / "run"}
    for name in targets:
        fingerprint(targets[name])  # imports and compiles all that loading needs
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    events = watch_code()
    print(PREPARED, flush=True)
    for number in range(int(first), int(last)):
        random = np.random.default_rng((int(seed), number))
        events.clear()
        outcome = outcome_of(targets, number, random)
        print(json.dumps({**outcome, "number": number, "events": sorted(set(events))}), flush=True)


def outcome_of(targets: dict[str, Path], number: int, random: np.random.Generator) -> dict[str, Any]:
    """What loading one mutation does."""
    forged = number % 10 < 10 * FORGED_SHARE
    name = chosen_target(targets, forged, random)
    kinds = FORGERIES if forged else DAMAGE
    mutate = kinds[int(random.integers(len(kinds)))]
    outcome, message = "same", ""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / name
        copy.mkdir()
        mutate(Forgery(targets[name], copy, random))
        try:
            found = fingerprint.__wrapped__(copy)
            if forged:
                outcome = "possible"
            elif found != fingerprint(targets[name]):
                outcome = "wrong"
        except AttributePlannerError as error:
            message = str(error)
            outcome = "lines" if "\n" in message or not message else "refused"
        except Exception as error:
            outcome, message = "traceback", repr(error)[:300]
    return {"outcome": outcome, "name": name, "mutation": mutate.__name__, "message": message}


def chosen_target(targets: dict[str, Path], forged: bool, random: np.random.Generator) -> str:
    """One of the agents; large ones are forged less often."""
    sizes = {name: (path / "agent.safetensors").stat().st_size for name, path in targets.items()}
    weight = np.array([0.02 if forged and size > SMALL else 1.0 for size in sizes.values()])
    return str(random.choice(list(targets), p=weight / weight.sum()))


@cache
def fingerprint(folder: Path) -> str:
    """A hash of all that is loaded from a folder; a plan and the recorded steps must be possible, too."""
    run = RunDirectory(folder)
    described, agent = run.description, load(folder)
    found = sha256(repr(described).encode())
    found.update(array_bytes(*loaded_arrays(agent, described.config)))
    try_plan(agent)
    if METRICS in (manifest := read_manifest(folder)):
        found.update(read_beginning(folder / METRICS, manifest[METRICS]))
        progress = run.progress(agent.env)
        found.update(array_bytes(*progress_arrays(progress)))
        steps = Dataset(folder).read()
        found.update(np.asarray(steps.attributes).tobytes() + np.asarray(steps.observation).tobytes())
        assert agent.records is None or len(agent.records.reached) > 0
    return found.hexdigest()


def loaded_arrays(agent: Agent, config: TrainConfig) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Everything in an agent. A quotient takes seconds, and is left out."""
    config = replace(config, explore=replace(config.explore, symmetric=False))
    return agent_arrays(agent, config)


def try_plan(agent: Agent) -> None:
    """Plan from the first set of the table to the last one."""
    space, values = agent.env.attributes, agent.table.values
    if len(values):
        plan = agent.plan(space.decode(values[0]), {each: value for each, value in space.decode(values[-1]).items()})
        assert 0 <= plan.probability <= 1 and str(plan)


CODE = ("import", "exec", "compile", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "pickle.find_class")


def watch_code() -> list[str]:
    """Records what is imported, compiled and run from now on, unless an installed package does it."""
    events: list[str] = []

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in CODE and (described := described_event(event, arguments)):
            events.append(described)

    sys.addaudithook(audit)
    return events


INSTALLED = (*(str(Path(path).resolve()) for path in sys.path if path), str(Path(sys.prefix)), "<frozen", "<string>")


def described_event(event: str, arguments: tuple[Any, ...]) -> str:
    """The event in words; empty if a module that is installed is the cause."""
    if event == "import":
        return "" if arguments[0].partition(".")[0] in sys.modules else f"import {arguments[0]}"
    if event == "exec":
        where = getattr(arguments[0], "co_filename", "")
        return "" if where.startswith(INSTALLED) else f"exec {where}"
    if event == "compile":
        where = str(arguments[1])
        return "" if where.startswith(INSTALLED) else f"compile {where}"
    return event


if __name__ == "__main__":
    main(*sys.argv[1:])
