"""`attribute-planner benchmark`."""

import importlib

import tyro

from attribute_planner.command_line.arguments import Names
from attribute_planner.command_line.printing import busy, print_json, print_table
from attribute_planner.errors import unknown_name

BENCHMARKS = {
    "blocks": "attribute_planner.benchmarks.blocks",
    "env": "attribute_planner.benchmarks.env",
    "plan": "attribute_planner.benchmarks.plan",
    "starcraft": "attribute_planner.benchmarks.starcraft",
    "train": "attribute_planner.benchmarks.train",
    "workers": "attribute_planner.benchmarks.workers",
}
"""By name, a module whose `measure` returns the lines of the benchmark."""


def benchmark(names: tyro.conf.Positional[Names] = (), json: bool = False) -> int:
    """Measure speed, compared with other packages.

    Both sides are measured in the same process on the same machine.

    Args:
        names: Benchmarks to run: blocks, env, plan, starcraft, train, workers. Default: all.
        json: Print JSON instead of tables.
    """
    for name in names:
        if name not in BENCHMARKS:
            raise unknown_name("benchmark", name, BENCHMARKS)
    results = {}
    for name in names or tuple(BENCHMARKS):
        with busy(f"benchmark {name} …"):
            results[name] = importlib.import_module(BENCHMARKS[name]).measure()
    if json:
        print_json([{"benchmark": name, **vars(line)} for name, lines in results.items() for line in lines])
        return 0
    for name, lines in results.items():
        rows = [
            (
                line.name,
                f"{line.ours:,.4g} {line.unit}",
                _shown(line.peer, line.unit),
                _shown(line.ratio, "×"),
                line.against,
            )
            for line in lines
        ]
        print_table(("", "ours", "peer", "ratio (> 1: ours is better)", "peer is"), rows, title=name)
    return 0


def _shown(value: float | None, unit: str) -> str:
    return "not installed" if value is None else f"{value:,.4g} {unit}"
