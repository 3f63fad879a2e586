"""Execution of runs that are not recorded yet, in one process or several. A failed run does not stop the others.

`python -m attribute_planner.experiments.running` does the same as `attribute-planner reproduce`, without a report and
without the packages of the command line.
"""

import argparse
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from attribute_planner.data.seeds import Together
from attribute_planner.environments.interface import PureEnvironment
from attribute_planner.experiments.cluster.resources import ClusterConfig
from attribute_planner.experiments.cluster.running import run_on_cluster
from attribute_planner.experiments.estimates import seconds_of
from attribute_planner.experiments.records import is_recorded, read_record
from attribute_planner.experiments.run_one import Folders, Say, is_current, run_one
from attribute_planner.experiments.runs import SCALES, Run
from attribute_planner.experiments.tables import chosen_runs
from attribute_planner.interruption import child_command, deferred, handled_signals
from attribute_planner.storage.compilation_cache import use_compilation_cache

WORK = Path("runs/reproduce")
RECORDS = Path("reproduction/records")
COMPILED = "compiled"
"""The folder, below the work folder, of the compilation cache that all runs share."""


def run_all(
    runs: Iterable[Run],
    folders: Folders,
    processes: int = 1,
    say: Say = print,
    *,
    only_train: bool = False,
    cluster: ClusterConfig | None = None,
    together: bool = False,
) -> list[Run]:
    """Complete the runs that are not recorded yet, or only their training; returns those that failed.

    cluster: a Ray cluster whose machines do it, instead of this one.
    together: whether runs that differ in their seed alone train together in this process (`data/seeds.py`); they are
        measured one after the other.
    """

    def is_done(run: Run) -> bool:
        if not only_train:
            return is_recorded(folders.records, run)
        record = read_record(folders.records, run)
        return record is not None and is_current(record, run)

    missing = [run for run in runs if not is_done(run)]
    if cluster is not None:
        longest_first = sorted(missing, key=seconds_of, reverse=True)
        run_on_cluster(longest_first, partial(run_one, only_train=only_train), cluster, folders.records, say)
        return [run for run in missing if not is_done(run)]
    if processes > 1:

        def start(piece: Sequence[Run]) -> subprocess.Popen:
            return _start(piece, folders, only_train)

        pieces = sorted(pieces_of(missing, processes), key=_seconds, reverse=True)
        run_in_processes(pieces, processes, start, is_done, say)
        return [run for run in missing if not is_done(run)]
    failed = _train_together(missing, folders, say) if together else []
    return [run for run in missing if run in failed or not _succeeds(run, folders, say, only_train)]


def _train_together(runs: Sequence[Run], folders: Folders, say: Say) -> list[Run]:
    """Train the runs of each row together, where the planner is trained in a pure environment; those that failed."""
    failed = []
    for spec, row in groupby(runs, key=lambda run: run.spec):
        alike = list(row)
        if len(alike) == 1 or spec.is_baseline or not isinstance(alike[0].environment(), PureEnvironment):
            continue
        trainings = [partial(_succeeds, run, folders, say, only_train=True) for run in alike]
        outcomes = Together(say).run(trainings)
        failed += [run for run, succeeds in zip(alike, outcomes, strict=True) if succeeds is not True]
    return failed


def _succeeds(run: Run, folders: Folders, say: Say, only_train: bool) -> bool:
    """Complete a run; an exception is reported and not raised."""
    started = time.monotonic()
    try:
        run_one(run, folders, say, only_train=only_train)
    except Exception:
        say(f"{run.name}: failed\n{traceback.format_exc()}")
        return False
    say(f"{run.name}: done after {time.monotonic() - started:.0f} s")
    return True


def run_in_processes(
    pieces: Sequence[Sequence[Run]],
    processes: int,
    start: Callable[[Sequence[Run]], subprocess.Popen],
    is_done: Callable[[Run], bool],
    say: Say,
) -> None:
    """The pieces in their order, several at a time, each in its own process. None of them outlives this function."""
    waiting = list(pieces)
    running: list[tuple[subprocess.Popen, Sequence[Run]]] = []
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                piece = waiting.pop(0)
                running.append((start(piece), piece))
            time.sleep(SECONDS_BETWEEN_LOOKS)
            for process, piece in [each for each in running if each[0].poll() is not None]:
                running.remove((process, piece))
                if process.returncode != 0:
                    say(f"A process ended with exit status {process.returncode}.")
                left = [run for run in piece if not is_done(run)]
                if process.returncode < 0 and len(left) > 1:  # killed during the first of them
                    waiting.append(left[1:])
    finally:
        with deferred():
            end_processes([process for process, _ in running])


def end_processes(processes: Sequence[subprocess.Popen]) -> None:
    """Ask processes to end, and kill those that have not saved and ended after some seconds."""
    for process in processes:
        process.terminate()
    until = time.monotonic() + SECONDS_TO_END
    for process in processes:
        try:
            process.wait(max(until - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_TO_END = 8.0
"""Longer than a process takes to save and end after a signal."""


def pieces_of(runs: Sequence[Run], processes: int) -> list[list[Run]]:
    """The runs in pieces, one process each.

    Runs of the same model in the same environment share most compiled functions, so they stay in one piece, as long as
    the pieces are short enough to keep all processes busy.
    """
    longest = _seconds(runs) / (processes * PIECES_PER_PROCESS)
    pieces: list[list[Run]] = []
    for _, alike in groupby(sorted(runs, key=_kind), key=_kind):
        pieces.append([])
        for run in alike:
            if pieces[-1] and _seconds([*pieces[-1], run]) > longest:
                pieces.append([])
            pieces[-1].append(run)
    return pieces


PIECES_PER_PROCESS = 6
"""Several short pieces per process, so that a wrong estimate for one does not delay the end."""


def _kind(run: Run) -> tuple[str, str]:
    """Runs of the same kind share most compiled functions."""
    return run.spec.environment, run.spec.model


def _seconds(runs: Sequence[Run]) -> float:
    return sum(map(seconds_of, runs))


def _start(runs: Sequence[Run], folders: Folders, only_train: bool) -> subprocess.Popen:
    names = [run.name for run in runs]
    where = ["--records", str(folders.records), "--work", str(folders.work), "--scale", runs[0].scale]
    what = ["--only-train"] if only_train else []
    # Otherwise each process reserves most of the GPU's memory.
    environment = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", **os.environ}
    command = child_command("attribute_planner.experiments.running", *where, *what, "--runs", *names)
    return subprocess.Popen(command, env=environment)


def main(arguments: Sequence[str] | None = None) -> int:
    """Complete runs; the exit code is 0 if none failed."""
    parser = argparse.ArgumentParser(prog="python -m attribute_planner.experiments.running", description=__doc__)
    parser.add_argument("tables", nargs="*", help="tables to fill; all if none is given")
    parser.add_argument("--scale", choices=list(SCALES), default="paper")
    parser.add_argument("--seeds", type=int, help="seeds per row; by default those of the scale")
    parser.add_argument("--runs", nargs="*", default=[], help="only these runs, or those with such prefixes")
    parser.add_argument("--records", type=Path, default=RECORDS, help="folder of the records")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of the run directories")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--together", action="store_true", help="train seeds of a row together; in one process only")
    parser.add_argument("--only-train", action="store_true", help="train without measuring")
    parser.add_argument("--dry-run", action="store_true", help="list the runs without running them")
    options = parser.parse_args(arguments)
    runs = chosen_runs(options.tables, options.scale, options.seeds, options.runs)
    if options.dry_run:
        for run in runs:
            state = "recorded" if is_recorded(options.records, run) else f"{seconds_of(run):.0f} s"
            print(f"{run.name}\t{state}")
        return 0
    use_compilation_cache(options.work / COMPILED)
    folders = Folders(options.records, options.work)
    with handled_signals("running") as signals:
        try:
            failed = run_all(
                runs, folders, options.processes, _say, only_train=options.only_train, together=options.together
            )
        except KeyboardInterrupt:
            signals.say(signals.line())
            return signals.exit_code
    for run in failed:
        _say(f"{run.name}: not recorded")
    return 1 if failed else 0


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
