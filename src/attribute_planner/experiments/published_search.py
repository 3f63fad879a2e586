"""The search for the settings of the `paper` presets that the paper does not state.

Each candidate is trained with a seed that no table uses, and measured as published on tasks that this seed draws. The
candidate that solves most tasks is the preset. The paper's own numbers (rewards, t_max, decay, examples, the 30 million
steps in StarCraft) stay as they are.

`python -m attribute_planner.experiments.published_search [RUN…]` trains and measures the candidates that are not
recorded yet.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from attribute_planner.experiments.run_one import Folders
from attribute_planner.experiments.running import COMPILED, run_all
from attribute_planner.experiments.runs import PUBLISHED, Run, RunSpec, measured, named_runs
from attribute_planner.storage.compilation_cache import use_compilation_cache

SEED = 1000
"""Tables use the seeds from 0."""
RECORDS, WORK = Path("reproduction/search"), Path("runs/search")


def _practice(steps: int, num_envs: int, learning_rate: float, entropy_coef: float, *others: str) -> tuple[str, ...]:
    return (
        f"practise.steps={steps}",
        f"practise.num_envs={num_envs}",
        f"practise.reinforce.learning_rate={learning_rate}",
        f"practise.reinforce.entropy_coef={entropy_coef}",
        *others,
    )


def _starcraft(num_envs: int, learning_rate: float, entropy_coef: float) -> tuple[str, ...]:
    """The paper's 16 + 14 million steps: fewer environments are more updates."""
    return (
        f"explore.num_envs={num_envs}",
        f"explore.reinforce.learning_rate={learning_rate}",
        f"explore.reinforce.entropy_coef={entropy_coef}",
        *_practice(14_000_000, num_envs, learning_rate, entropy_coef),
    )


def _blocks(attempts: int, *others: str) -> tuple[str, ...]:
    """π does not change while it is scored, so that attempts are not decayed."""
    return (f"practise.steps={attempts}", "practise.decay=1", *others)


ANNEAL = "practise.reinforce.anneal=true"

GRID_WORLD: dict[str, tuple[str, ...]] = {
    "100m-512": _practice(100_000_000, 512, 2e-3, 0.003),
    "300m-2048": _practice(300_000_000, 2_048, 2e-3, 0.003),
    "300m-2048-low-entropy": _practice(300_000_000, 2_048, 2e-3, 0.001),
    "300m-2048-anneal": _practice(300_000_000, 2_048, 2e-3, 0.003, ANNEAL),
    "300m-1024-small-steps": _practice(300_000_000, 1_024, 1e-3, 0.003),
    "500m-2048-low-entropy": _practice(500_000_000, 2_048, 2e-3, 0.001),
    "500m-2048": _practice(500_000_000, 2_048, 2e-3, 0.003),
    "500m-2048-high-entropy": _practice(500_000_000, 2_048, 2e-3, 0.01),
}
STARCRAFT: dict[str, tuple[str, ...]] = {
    "256": _starcraft(256, 3e-3, 0.003),
    "128": _starcraft(128, 3e-3, 0.003),
    "64": _starcraft(64, 3e-3, 0.003),
    "64-small-steps": _starcraft(64, 1e-3, 0.003),
    "64-high-entropy": _starcraft(64, 3e-3, 0.01),
}
FOR_SWITCHES = ("100m-512", "300m-2048-low-entropy", "300m-1024-small-steps")
CANDIDATES: dict[str, dict[str, tuple[str, ...]]] = {
    "switches": {name: GRID_WORLD[name] for name in GRID_WORLD if not name.startswith("500m")},
    "crafting": {name: GRID_WORLD[name] for name in GRID_WORLD if name not in FOR_SWITCHES},
    "blocks": {
        "5m": _blocks(5_000_000),
        "5m-sampled": _blocks(5_000_000, "practise.deterministic=false"),
        "20m": _blocks(20_000_000),
    },
    "starcraft-small": STARCRAFT,
    "starcraft-large": {name: STARCRAFT[name] for name in ("256", "128", "64")},
}
"""By environment and name: the settings that are tried."""

TASKS = {
    "switches": ("multi-step",),
    "crafting": ("craft",),
    "blocks": ("1-step", "multi-step"),
    "starcraft-small": ("build",),
    "starcraft-large": ("build",),
}
"""What the candidates are compared on."""


def candidates() -> list[Run]:
    """The runs of all candidates."""
    return [
        Run(
            RunSpec(
                f"{environment}-search-{name}",
                environment,
                measured(TASKS[environment], PUBLISHED),
                preset="paper",
                settings=settings,
            ),
            SEED,
            "paper",
        )
        for environment, tried in CANDIDATES.items()
        for name, settings in tried.items()
    ]


def search(runs: Iterable[Run], folders: Folders) -> list[Run]:
    """Complete the candidates that are not recorded yet; returns those that failed."""
    use_compilation_cache(folders.work / COMPILED)
    return run_all(runs, folders)


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and measure candidates; the exit code is 0 if none failed."""
    return search_program("published_search", candidates(), arguments)


def search_program(name: str, runs: Sequence[Run], arguments: Sequence[str] | None) -> int:
    """The program of a search in the module `name` among these runs; returns its exit code."""
    parser = argparse.ArgumentParser(prog=f"python -m attribute_planner.experiments.{name}")
    parser.add_argument("runs", nargs="*", help="only these runs, or those with such prefixes")
    parser.add_argument("--records", type=Path, default=RECORDS, help="folder of the records")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of the run directories")
    parser.add_argument("--list", action="store_true", help="list the candidates without running them")
    options = parser.parse_args(arguments)
    runs = named_runs(runs, options.runs)
    if options.list:
        print("\n".join(run.name for run in runs))
        return 0
    return 1 if search(runs, Folders(options.records, options.work)) else 0


if __name__ == "__main__":
    sys.exit(main())
