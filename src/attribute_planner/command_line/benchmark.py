"""`attribute-planner benchmark`."""

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import tyro

from attribute_planner.command_line.arguments import Names
from attribute_planner.command_line.printing import busy, print_json, print_table
from attribute_planner.errors import unknown_name

if TYPE_CHECKING:
    from attribute_planner.benchmarks.measuring import Measurement

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
        _print_lines(name, lines)
    return 0


def _print_lines(name: str, lines: "Sequence[Measurement]") -> None:
    """A table of the lines, and below it what the peers are."""
    peers = list(dict.fromkeys(line.against for line in lines))
    rows = [
        (
            line.name,
            _shown(line.ours, line.unit),
            f"{_shown(line.peer, line.unit)} [{peers.index(line.against) + 1}]",
            _shown(line.ratio, "×"),
        )
        for line in lines
    ]
    print_table(("", "ours", "peer", "ratio (> 1: ours is better)"), rows, title=name)
    for number, peer in enumerate(peers, 1):
        print(f"[{number}] {peer}")


def _shown(value: float | None, unit: str) -> str:
    """A value with four digits; large ones without an exponent."""
    if value is None:
        return "not installed"
    return f"{value:,.0f} {unit}" if abs(value) >= LARGE else f"{value:.4g} {unit}"


LARGE = 1_000
