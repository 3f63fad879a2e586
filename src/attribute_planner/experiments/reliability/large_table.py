"""Row 10: a table with five million transitions, next to SciPy alone with the same graph."""

import gc
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from attribute_planner.attributes import Attribute, AttributeSpace, Goal
from attribute_planner.experiments.reliability.processes import lines_of
from attribute_planner.experiments.reliability.row import Row
from attribute_planner.files.array_file import array_bytes, parse_arrays
from attribute_planner.files.manifest import commit, read_verified
from attribute_planner.planning.plan import Planner
from attribute_planner.planning.search import TIE_BREAKER
from attribute_planner.storage.checkpoint import single_precision
from attribute_planner.storage.table_arrays import read_table, table_arrays
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import TransitionTable, table_of_counts

NUMBER = 10
ATTRIBUTES, EDGES_PER_SET = 20, 5
BATCH = 2**18
"""Transitions that are counted at once."""
GOALS = 3
AGAIN = range(2)
"""Loading, the first plan and SciPy's graph are timed again, and the fastest counts."""
AGENT = "agent.safetensors"
LIMITS = {
    "bytes per edge": 20.0,
    "MiB while planning": 400.0,
    "first plan / SciPy": 1.2,
    "next goals / SciPy": 1.0,
    "seconds per million inserted": 1.0,
    "seconds to save": 2.0,
    "seconds to load": 1.0,
}
"""The largest value of each measurement."""


def measure(attributes: int = ATTRIBUTES) -> Row:
    """Count, save, load and plan, each in a process of its own where memory is measured."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = run("saving", folder, attributes) | run("planning", folder, attributes)
    measured = {
        "bytes per edge": found["bytes"] / found["edges"],
        "MiB while planning": found["memory"] / 2**20,
        "first plan / SciPy": found["first"] / found["bare_first"],
        "next goals / SciPy": found["next"] / found["bare_next"],
        "seconds per million inserted": found["inserting"] * 1e6 / found["edges"],
        "seconds to save": found["saving"],
        "seconds to load": found["loading"],
    }
    words = [f"{name} {value:.2f} (≤ {LIMITS[name]:g})" for name, value in measured.items()]
    text = (
        f"{found['edges']:,.0f} transitions of {found['sets']:,.0f} sets: {'; '.join(words)}; first plan "
        f"{found['first']:.2f} s, SciPy {found['bare_first']:.2f} s; next goals {found['next']:.2f} s, SciPy "
        f"{found['bare_next']:.2f} s"
    )
    passed = all(value <= LIMITS[name] for name, value in measured.items())
    return Row("size", text, passed, time.monotonic() - began)


def run(part: str, folder: str, attributes: int) -> dict[str, float]:
    """What a part measures, in a process of its own."""
    return json.loads(lines_of(__name__, part, folder, attributes)[-1])


def space_of(attributes: int) -> AttributeSpace:
    """Binary attributes."""
    return AttributeSpace(tuple(Attribute(f"lamp_{number}") for number in range(attributes)))


def transitions(attributes: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Packed sets before and after: from each set, a few attributes can change. In random order."""
    sets = np.arange(2**attributes, dtype=np.uint32)
    changed = np.argpartition(random.random((len(sets), attributes), np.float32), EDGES_PER_SET, axis=1)
    source = np.repeat(sets, EDGES_PER_SET)
    target = source ^ (np.uint32(1) << changed[:, :EDGES_PER_SET].astype(np.uint32).ravel())
    order = random.permutation(len(source))
    return source[order, None], target[order, None]


def saving(folder: str, attributes: int) -> dict[str, float]:
    """Count transitions, and save a table with statistics as decay leaves them."""
    random, space = np.random.default_rng(0), space_of(attributes)
    source, target = transitions(attributes, random)
    counts = TransitionCounts(space.num_words)

    def insert() -> None:
        for first in range(0, len(source), BATCH):
            counts.record(source[first : first + BATCH], target[first : first + BATCH])

    inserting, _ = on_processor(insert)
    table = table_of_counts(space, counts, "posterior")
    attempts = random.gamma(2.0, 20.0, table.num_edges)
    successes, spent = attempts * random.random(table.num_edges), attempts * random.uniform(1, 50, table.num_edges)
    table = table.with_practice(attempts, successes, spent)

    def save() -> int:
        content = array_bytes(single_precision(table_arrays("table", table)), {})
        commit(Path(folder), {AGENT: content})
        return len(content)

    seconds, size = timed(save)
    return {"inserting": inserting, "saving": seconds, "bytes": size, "edges": table.num_edges, "sets": table.num_nodes}


def planning(folder: str, attributes: int) -> dict[str, float]:
    """Load the table and plan, then let SciPy alone do the same."""
    space, random = space_of(attributes), np.random.default_rng(1)
    before = resident()

    def load() -> TransitionTable:
        arrays, _ = parse_arrays(read_verified(Path(folder), AGENT), Path(folder) / AGENT)
        return read_table("table", space, arrays, "posterior", double=False)

    loading, table = timed(load)
    gc.collect()
    reset_peak()
    drawn = random.integers(0, 2, (GOALS + 1, attributes)).astype(np.int32)
    goals = [Goal(values, np.ones(attributes, bool)) for values in drawn]
    start = np.zeros(attributes, np.int32)
    first, planner = on_processor(lambda: planned(Planner(table), start, goals[0]))
    rest = [on_processor(lambda goal=goal: planned(planner, start, goal))[0] for goal in goals[1:]]
    memory = max(peak() - before, 0)  # they are measured in different ways
    del planner
    # A copy of the table has calculated nothing yet.
    first = min([first, *(on_processor(lambda: planned(Planner(replace(table)), start, goals[0]))[0] for _ in AGAIN)])
    building, searches = bare_seconds(table, [int(space.key(np.asarray(goal.values))) for goal in goals])
    return {
        "loading": min([loading, *(timed(load)[0] for _ in AGAIN)]),
        "first": first,
        "next": min(rest),
        "memory": memory,
        "bare_first": building + min(searches),
        "bare_next": min(searches),
    }


def planned(planner: Planner, start: np.ndarray, goal: Goal) -> Planner:
    """The planner, after a plan with its probability."""
    plan = planner.plan(start, goal)
    assert 0 <= plan.probability <= 1
    return planner


def bare_seconds(table: TransitionTable, goals: list[int]) -> tuple[float, list[float]]:
    """Seconds to build SciPy's graph from costs, and to search it for each goal. Sets are numbered by their keys."""
    cost = -np.log(table.probability) + TIE_BREAKER
    ends, shape = (table.target, table.source), (table.num_nodes, table.num_nodes)
    built = [on_processor(lambda: csr_array((cost, ends), shape=shape)) for _ in range(1 + len(AGAIN))]
    graph = built[0][1]
    search = [
        on_processor(lambda goal=goal: dijkstra(graph, indices=[goal], min_only=True, return_predecessors=True))[0]
        for goal in goals
    ]
    return min(seconds for seconds, _ in built), search


def on_processor(action: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of an action on the processor, which other programs do not change much, and what it returns."""
    began = time.process_time()
    result = action()
    return time.process_time() - began, result


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of an action, and what it returns."""
    began = time.perf_counter()
    result = action()
    return time.perf_counter() - began, result


def resident() -> int:
    """Memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def reset_peak() -> None:
    """Measure the peak from now on."""
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Largest memory of this process, in bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


if __name__ == "__main__":
    print(json.dumps({"saving": saving, "planning": planning}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))))
