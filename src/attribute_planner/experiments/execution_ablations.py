"""What each part and each constant of execution is worth: the agents that ship, on the same tasks, with one changed.

`python -m attribute_planner.experiments.execution_ablations [AGENT…]` measures what is not recorded yet, one process a
time, and prints the table of `docs/execution.md`. With `--docs FILE` it writes the table into a document.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import jax
import numpy as np

from attribute_planner.agent import Agent
from attribute_planner.evaluation.evaluate import AT_ONCE, attempt_tasks, batch_keys
from attribute_planner.experiments.report import markdown
from attribute_planner.experiments.running import COMPILED
from attribute_planner.files.writing import write_bytes
from attribute_planner.planning.episode_model import EpisodeModel
from attribute_planner.planning.executor import EXECUTORS, Executor
from attribute_planner.planning.posterior import Posterior
from attribute_planner.planning.proposals import ActionSearch
from attribute_planner.storage.agents import shipped_agents
from attribute_planner.storage.compilation_cache import use_compilation_cache
from attribute_planner.storage.provenance import provenance
from attribute_planner.training import load

RECORDS, WORK = Path("reproduction/execution"), Path("runs/execution")
SEED, EPISODES = 7, 1000
SECTION = re.compile(r"(?<=<!-- ablations -->\n).*?(?=<!-- ablations -->)", re.DOTALL)


@dataclass(frozen=True)
class Change:
    """A change of the default execution.

    executor: the execution mode.
    replaced: what takes the place of a name in `attribute_planner`.
    looking_ahead: whether it can matter to agents with a forward model, and to those without.
    """

    executor: Executor = EXECUTORS["default"]
    replaced: Mapping[str, Any] = field(default_factory=dict)
    looking_ahead: tuple[bool, ...] = (True, False)

    def applies_to(self, agent: Agent) -> bool:
        return (agent.forward_model is not None) in self.looking_ahead


def _mode(name: str, *looking_ahead: bool) -> Change:
    return Change(EXECUTORS[name], looking_ahead=looking_ahead or (True, False))


def _constant(name: str, value: Any, *looking_ahead: bool) -> Change:
    return Change(replaced={name: value}, looking_ahead=looking_ahead or (True, False))


def _nothing(self: Posterior, *evidence: Any) -> None:
    del self, evidence


CHANGES: dict[str, Change] = {
    "default": Change(),
    "paper": _mode("paper"),
    "no-time": _mode("no-time"),
    "no-evidence": _mode("no-evidence"),
    "no-replanning": _mode("no-replanning", False),
    "no-departures": _constant("planning.posterior.Posterior.left", _nothing),
    "no-actions-taken": _constant("planning.posterior.Posterior.took", _nothing, True),
    "no-lookahead": _mode("no-lookahead", True),
    "trust-model": _mode("trust-model", True),
    "no-observation-search": _mode("no-observation-search", False),
    "no-nearest-set": _mode("no-nearest-set", False),
    "no-goal-relaxation": _mode("no-goal-relaxation", False),
    "aliasing=0.25": Change(replace(EXECUTORS["default"], model=EpisodeModel(aliasing=0.25))),
    "aliasing=0.9": Change(replace(EXECUTORS["default"], model=EpisodeModel(aliasing=0.9))),
    "deterministic-aliasing=0.5": _constant("planning.executor.DETERMINISTIC", EpisodeModel(aliasing=0.5)),
    "prior-weight=2": _constant("transitions.estimators.WEIGHTS", (2.0, 2.001)),
    "hypotheses=1": _constant("planning.belief.HYPOTHESES", 1, True),
    "largest-shift=1": _constant("planning.goal_relaxation.LARGEST_SHIFT", 1, False),
    "largest-shift=6": _constant("planning.goal_relaxation.LARGEST_SHIFT", 6, False),
    "no-rounds-of-search": _constant("planning.proposals.SEARCH", ActionSearch(spreads=()), True),
    "few-candidates": _constant("planning.proposals.SEARCH", ActionSearch(random=48, policy=8, best=4, around=4), True),
}
"""The default execution without a part, or with another value of a constant."""


@dataclass(frozen=True)
class Result:
    """The result of an agent on a task with a change.

    solved: "1" for each episode that reached its goal, "0" for the others; the same tasks whatever the change.
    """

    agent: str
    task: str
    change: str
    seed: int
    solved: str
    mean_steps: float | None
    seconds: float
    evaluated: dict[str, Any]

    @property
    def success(self) -> float:
        return self.solved.count("1") / len(self.solved)


def measure(name: str, task: str, change: str, episodes: int) -> Result:
    """The success of a shipped agent on new tasks, with a change."""
    began, done, changed = time.perf_counter(), [], CHANGES[change]
    with ExitStack() as stack:
        for where, value in changed.replaced.items():
            stack.enter_context(patch(f"attribute_planner.{where}", value))
        jax.clear_caches()  # what is compiled already has the old values, as have the plans of an agent
        agent = load(name)
        for key in batch_keys(SEED):
            done += attempt_tasks(
                agent, agent.task(task), min(AT_ONCE, episodes - len(done)), changed.executor, key=key
            )[0]
            if len(done) >= episodes:
                break
    jax.clear_caches()
    solved = "".join("01"[episode.success] for episode in done)
    steps = [episode.steps for episode in done if episode.success]
    mean_steps = float(np.mean(steps)) if steps else None
    return Result(name, task, change, SEED, solved, mean_steps, time.perf_counter() - began, provenance())


def run(agents: Sequence[str], tasks: Sequence[str], changes: Sequence[str], episodes: int, records: Path) -> None:
    """Measure what is not recorded yet; each result is written at once."""
    for name in agents:
        agent = load(name)
        for task in (each for each in agent.env.tasks if not tasks or each in tasks):
            for change in (each for each in changes if CHANGES[each].applies_to(agent)):
                path = records / f"{name}-{task}-{change}.json"
                if path.exists():
                    continue
                result = measure(name, task, change, episodes)
                records.mkdir(parents=True, exist_ok=True)
                write_bytes(path, (json.dumps(asdict(result), indent=1) + "\n").encode())
                print(f"{name}, {task}, {change}: {result.success:.1%} in {result.seconds:.0f} s", flush=True)


def read_results(records: Path) -> list[Result]:
    """The results in a folder; those of changes that are no longer possible are left out."""
    results = [Result(**json.loads(path.read_text(encoding="utf-8"))) for path in sorted(records.glob("*.json"))]
    return [result for result in results if result.change in CHANGES]


def difference(default: Result, changed: Result) -> tuple[float, float]:
    """How many points the change costs, and the half width of the 95 % interval: the same tasks are compared."""
    pairs = np.array([*default.solved]) == "1", np.array([*changed.solved]) == "1"
    worse = pairs[0].astype(float) - pairs[1]
    return 100 * float(worse.mean()), 100 * 1.96 * float(worse.std()) / np.sqrt(len(worse))


def tables(results: Sequence[Result]) -> str:
    """Two tables: agents with a forward model, to which other changes matter, and those without."""
    looking_ahead = {result.agent for result in results if CHANGES[result.change].looking_ahead == (True,)}
    groups = [[each for each in results if (each.agent in looking_ahead) == wanted] for wanted in (False, True)]
    return "\n\n".join(table(group) for group in groups if group)


def table(results: Sequence[Result]) -> str:
    """A row for each change and a column for each agent and task: what the change costs."""
    found = {(result.agent, result.task, result.change): result for result in results}
    columns = sorted({(agent, task) for agent, task, change in found if change == "default"})
    head = ["", *(f"{agent}, {task}" for agent, task in columns)]
    default = ["default, success in %", *(f"{100 * found[*each, 'default'].success:.1f}" for each in columns)]
    return markdown([head, default, *_rows(found, columns)])


def _rows(found: Mapping[tuple[str, str, str], Result], columns: Sequence[tuple[str, str]]) -> Iterator[list[str]]:
    for change in CHANGES:
        if change != "default" and any((*each, change) in found for each in columns):
            yield [f"`{change}`", *(_text(found, each, change) for each in columns)]


def _text(found: Mapping[tuple[str, str, str], Result], column: tuple[str, str], change: str) -> str:
    if (*column, change) not in found:
        return ""
    cost, margin = difference(found[*column, "default"], found[*column, change])
    text = f"{-cost:+.1f}".replace("-", "−").replace("+0.0", "0").replace("−0.0", "0")
    return f"**{text}**" if abs(cost) > max(margin, 0.5) else text


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print or write the table."""
    parser = argparse.ArgumentParser(
        prog="python -m attribute_planner.experiments.execution_ablations", description=__doc__
    )
    parser.add_argument("agents", nargs="*", help=f"shipped agents; default: all of {' '.join(shipped_agents())}")
    parser.add_argument("--tasks", nargs="*", default=[], help="names of tasks; default: all")
    parser.add_argument("--changes", nargs="*", default=list(CHANGES), choices=list(CHANGES), metavar="CHANGE")
    parser.add_argument("--episodes", type=int, default=EPISODES)
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--docs", type=Path, help="the document whose table is replaced")
    options = parser.parse_args(arguments)
    use_compilation_cache(WORK / COMPILED)
    run(options.agents or list(shipped_agents()), options.tasks, options.changes, options.episodes, options.records)
    text = tables(read_results(options.records))
    if options.docs is None:
        print(text)
    else:
        document = options.docs.read_text(encoding="utf-8")
        options.docs.write_text(SECTION.sub(lambda _: f"{text}\n", document), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
