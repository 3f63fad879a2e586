"""The runs of the suite: every world with the planner and its peers, with default settings, once per seed."""

import argparse
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from attribute_planner.configuration import config_for
from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment
from attribute_planner.experiments.cluster.resources import ClusterConfig
from attribute_planner.experiments.cluster.running import run_on_cluster
from attribute_planner.experiments.planner_run import trained_of
from attribute_planner.experiments.records import Record, is_recorded, write_record
from attribute_planner.experiments.run_one import Folders, Say, measure, new_record
from attribute_planner.experiments.running import COMPILED, run_in_processes
from attribute_planner.experiments.runs import PLANNER, Execution, Run, RunSpec, measured, named_runs, ours_in, runs_in
from attribute_planner.experiments.strangers.peers import (
    DETERMINISTIC,
    PEERS,
    RANDOM,
    STEPS,
    STOCHASTIC,
    is_installed,
    train_peer,
)
from attribute_planner.experiments.strangers.registry import WORLDS, make_world
from attribute_planner.experiments.trained import Trained
from attribute_planner.interruption import child_command, handled_signals
from attribute_planner.storage.compilation_cache import use_compilation_cache
from attribute_planner.storage.run_directory import RunDirectory
from attribute_planner.training import train

SUITE = "strangers"
RECORDS = Path("reproduction/strangers")
WORK = Path("runs/strangers")
TASK = "goal"
"""The name of the only task of each world."""
METHODS = (PLANNER, *PEERS)


@dataclass(frozen=True)
class Budget:
    """The size of the suite.

    episodes: per measurement; seeds: per world and method.
    steps: environment steps of training; `None` for the default of `train`.
    """

    episodes: int
    seeds: int
    steps: int | None = None


BUDGETS = {"paper": Budget(episodes=100, seeds=5), "small": Budget(episodes=5, seeds=1, steps=2_000)}
"""By scale. The small one only shows that everything runs."""


def run_specs_of(world: str) -> list[RunSpec]:
    """The specifications of a world, one per method."""
    policies = (Execution(DETERMINISTIC, "", False), Execution(STOCHASTIC, "", False))
    executions = {PLANNER: (ours_in(world),), RANDOM: policies[1:]}
    return [
        RunSpec(f"{SUITE}-{world}-{method}", world, measured([TASK], *executions.get(method, policies)), model=method)
        for method in METHODS
    ]


def suite_runs(
    scale: str = "paper", seeds: int | None = None, worlds: Sequence[str] = (), names: Sequence[str] = ()
) -> list[Run]:
    """The runs of these worlds (default: all), restricted to those named, or with a prefix given, in `names`."""
    runs = [
        Run(run_spec, seed, scale)
        for world in WORLDS
        for run_spec in run_specs_of(world)
        for seed in range(seeds or BUDGETS[scale].seeds)
    ]
    return named_runs(runs_in(worlds, runs), names)


def run_suite(
    runs: Sequence[Run], folders: Folders, processes: int, say: Say, cluster: ClusterConfig | None = None
) -> list[Run]:
    """Complete the runs that are not recorded yet; returns those that failed. Peers need their package.

    cluster: a Ray cluster whose machines do it, instead of this one.
    """
    possible = [run for run in runs if can_run(run)]
    if len(possible) < len(runs):
        say(f"{len(runs) - len(possible)} runs are left out: Stable-Baselines3 is not installed (extra `peers`).")

    def is_done(run: Run) -> bool:
        return is_recorded(folders.records, run)

    missing = [run for run in possible if not is_done(run)]
    if cluster is not None:
        run_on_cluster(missing, run_stranger, cluster, folders.records, say)
    elif processes == 1:
        return [run for run in missing if not _succeeds(run, folders, say)]
    else:

        def start(piece: Sequence[Run]) -> subprocess.Popen:
            return subprocess.Popen(_command(piece[0], folders))

        run_in_processes([[run] for run in missing], processes, start, is_done, say)
    return [run for run in missing if not is_done(run)]


def _succeeds(run: Run, folders: Folders, say: Say) -> bool:
    """Complete a run; an exception is reported and not raised."""
    started = time.monotonic()
    try:
        run_stranger(run, folders, say)
    except Exception:
        say(f"{run.name}: failed\n{traceback.format_exc()}")
        return False
    say(f"{run.name}: done after {time.monotonic() - started:.0f} s")
    return True


def _command(run: Run, folders: Folders) -> list[str]:
    """A process of its own for one run."""
    where = ["--records", str(folders.records), "--work", str(folders.work)]
    return child_command("attribute_planner.experiments.strangers.suite", run.name, *where)


def can_run(run: Run) -> bool:
    """Whether the packages that a run needs are installed."""
    return run.spec.model in (PLANNER, RANDOM) or is_installed()


def run_stranger(run: Run, folders: Folders, say: Say) -> Record:
    """Train and measure one method on one world, and write the record. An interrupted run starts again."""
    budget, world = BUDGETS[run.scale], make_world(run.spec.environment)
    steps = budget.steps or config_for(world).steps
    if run.spec.is_baseline:
        trained = train_peer(run.spec.model, world, steps, run.seed)
    else:
        trained = _trained_planner(run, world, budget.steps, folders.work / run.name)
    results = [measure(trained, each, budget.episodes, run.seed) for each in run.spec.measurements]
    record = replace(new_record(run, trained, command_of(run)), results=results)
    write_record(folders.records, record)
    say(f"{run.name}: {', '.join(f'{result.success:.0%}' for result in results)}")
    world.close()
    return record


def _trained_planner(run: Run, world: GymnasiumEnvironment, steps: int | None, run_dir: Path) -> Trained:
    """The planner with default settings."""
    shutil.rmtree(run_dir, ignore_errors=True)
    train(world, seed=run.seed, steps=steps, run_dir=run_dir)
    directory = RunDirectory(run_dir)
    trained = trained_of(directory, world)
    return replace(trained, scalars={**trained.scalars, STEPS: directory.description.config.steps})


def command_of(run: Run) -> str:
    """The command that does this run alone."""
    scale = "" if run.scale == "paper" else f" --scale {run.scale}"
    return f"attribute-planner reproduce {SUITE}{scale} --runs {run.name}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Complete one run; the exit code is 0 if it did not fail."""
    parser = argparse.ArgumentParser(prog="python -m attribute_planner.experiments.strangers.suite")
    parser.add_argument("run", help="name of the run")
    parser.add_argument("--records", type=Path, required=True, help="folder of the records")
    parser.add_argument("--work", type=Path, required=True, help="folder of the run directories")
    options = parser.parse_args(arguments)
    scale, seed = options.run.partition("-")[0], int(options.run.rpartition("-")[2])
    (run,) = named_runs(suite_runs(scale, seeds=seed + 1), [options.run])
    folders = Folders(options.records, options.work)
    use_compilation_cache(folders.work / COMPILED)
    with handled_signals("suite") as signals:
        try:
            return 0 if _succeeds(run, folders, lambda line: print(line, flush=True)) else 1
        except KeyboardInterrupt:
            signals.say(signals.line())
            return signals.exit_code


if __name__ == "__main__":
    sys.exit(main())
