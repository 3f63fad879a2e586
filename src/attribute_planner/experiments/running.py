"""Running cells: those that are missing, one after the other or in several processes. A cell that fails stops no other.

`python -m attribute_planner.experiments.running --help` is `attribute-planner reproduce` where only JAX is installed.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path

from attribute_planner.experiments.estimates import seconds_of
from attribute_planner.experiments.records import is_begun, is_recorded
from attribute_planner.experiments.run_one import Folders, Say, carry_out
from attribute_planner.experiments.runs import SCALES, Cell
from attribute_planner.experiments.tables import chosen_cells
from attribute_planner.storage.compilation_cache import keep_compiled

WORK = Path("runs/reproduce")
RECORDS = Path("reproduction/records")
COMPILED = "compiled"
"""The folder of the work in which cells keep what they compiled: most need what others have needed before."""


def run_cells(
    cells: Iterable[Cell], folders: Folders, processes: int = 1, say: Say = print, *, only_train: bool = False
) -> list[Cell]:
    """Carry out the cells that are not recorded yet, or only their training; those that failed."""

    def is_done(cell: Cell) -> bool:
        return is_begun(folders.records, cell) if only_train else is_recorded(folders.records, cell)

    missing = [cell for cell in cells if not is_done(cell)]
    if processes > 1:

        def start(piece: Sequence[Cell]) -> subprocess.Popen:
            return _start(piece, folders, only_train)

        _run_in_processes(pieces_of(missing, processes), processes, start, is_done, say)
        return [cell for cell in missing if not is_done(cell)]
    return [cell for cell in missing if not _succeeds(cell, folders, say, only_train)]


def end_in_order_when_told() -> None:
    """Leave as if interrupted when the system asks this process to end, so that those that it started end too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def _succeeds(cell: Cell, folders: Folders, say: Say, only_train: bool) -> bool:
    """Carry out a cell. Whatever goes wrong in it is its own affair."""
    started = time.monotonic()
    try:
        carry_out(cell, folders, say, only_train=only_train)
    except Exception:
        say(f"{cell.name}: failed\n{traceback.format_exc()}")
        return False
    say(f"{cell.name}: done after {time.monotonic() - started:.0f} s")
    return True


def _run_in_processes(
    pieces: Sequence[Sequence[Cell]],
    processes: int,
    start: Callable[[Sequence[Cell]], subprocess.Popen],
    is_done: Callable[[Cell], bool],
    say: Say,
) -> None:
    """The longest work first, several pieces at a time, each in a process of its own."""
    waiting = sorted(pieces, key=_seconds, reverse=True)
    running: list[tuple[subprocess.Popen, Sequence[Cell]]] = []
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
                left = [cell for cell in piece if not is_done(cell)]
                if process.returncode < 0 and len(left) > 1:  # killed while at the first, before it came to the others
                    waiting.append(left[1:])
    finally:
        for process, _ in running:
            process.terminate()


SECONDS_BETWEEN_LOOKS = 0.2


def pieces_of(cells: Sequence[Cell], processes: int) -> list[list[Cell]]:
    """The cells in pieces of work.

    What was compiled for a cell serves others of the same model in the same environment, those of the same subject
    above all. So they stay together, in pieces that are short enough to keep all processes busy until the end.
    """
    longest = _seconds(cells) / (processes * PIECES_PER_PROCESS)
    pieces: list[list[Cell]] = []
    for _, alike in groupby(sorted(cells, key=_kind), key=_kind):
        pieces.append([])
        for cell in alike:
            if pieces[-1] and _seconds([*pieces[-1], cell]) > longest:
                pieces.append([])
            pieces[-1].append(cell)
    return pieces


PIECES_PER_PROCESS = 6
"""Of about equal length, or shorter: enough for one that takes longer than was thought to hold up no other."""


def _kind(cell: Cell) -> tuple[str, str]:
    """Cells of a kind have most of what is compiled in common."""
    return cell.subject.environment, cell.subject.model


def _seconds(cells: Sequence[Cell]) -> float:
    return sum(map(seconds_of, cells))


def _start(cells: Sequence[Cell], folders: Folders, only_train: bool) -> subprocess.Popen:
    names = [cell.name for cell in cells]
    where = ["--records", str(folders.records), "--work", str(folders.work), "--scale", cells[0].scale]
    what = ["--only-train"] if only_train else []
    # Each would otherwise take most of a GPU's memory for itself at once.
    environment = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", **os.environ}
    command = [sys.executable, "-m", "attribute_planner.experiments.running", *where, *what, "--cells", *names]
    return subprocess.Popen(command, env=environment)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cells; 0 only if none failed."""
    parser = argparse.ArgumentParser(prog="python -m attribute_planner.experiments.running", description=__doc__)
    parser.add_argument("tables", nargs="*", help="which tables to fill; all if none is named")
    parser.add_argument("--scale", choices=list(SCALES), default="paper")
    parser.add_argument("--seeds", type=int, help="trainings per row; the scale's own number if not given")
    parser.add_argument("--cells", nargs="*", default=[], help="only these, or those whose names begin so")
    parser.add_argument("--records", type=Path, default=RECORDS, help="where records are kept")
    parser.add_argument("--work", type=Path, default=WORK, help="where run directories are kept")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only-train", action="store_true", help="measure another time, or elsewhere")
    parser.add_argument("--dry-run", action="store_true", help="only list the cells")
    options = parser.parse_args(arguments)
    cells = chosen_cells(options.tables, options.scale, options.seeds, options.cells)
    if options.dry_run:
        for cell in cells:
            state = "recorded" if is_recorded(options.records, cell) else f"{seconds_of(cell):.0f} s"
            print(f"{cell.name}\t{state}")
        return 0
    keep_compiled(options.work / COMPILED)
    folders = Folders(options.records, options.work)
    end_in_order_when_told()
    failed = run_cells(cells, folders, options.processes, _say, only_train=options.only_train)
    for cell in failed:
        _say(f"{cell.name}: not recorded")
    return 1 if failed else 0


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
