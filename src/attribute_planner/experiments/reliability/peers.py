"""Kills while saving and flipped bits, for this package, Stable-Baselines3 and Orbax in the same run.

`python -m attribute_planner.experiments.reliability.peers` prints a table. It needs the optional packages of
`pip install "attribute-planner[peers]"`.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np

from attribute_planner.experiments.reliability.peer_savers import SAVERS, Saver, number_of
from attribute_planner.experiments.reliability.processes import fork, kill, lines_of

FIRST = 3
"""A process is killed while it saves the checkpoint with this number; the one before is timed."""
KEPT, LOST, REFUSED, SAME, OTHER = "kept", "lost", "refused", "same", "other"


class Peer(NamedTuple):
    """What was measured of a library.

    name, call: the library, and how it saves.
    kills: how many killed processes have left a whole checkpoint (`kept`), or none (`lost`).
    flips: how many flipped bits were refused, loaded the same values, or others.
    """

    name: str
    call: str
    kills: Counter[str]
    flips: Counter[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the libraries and print a table."""
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description=__doc__)
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help=f"of {', '.join(SAVERS)}; default: all")
    parser.add_argument("--kills", type=int, default=25, help="processes that are killed while they save")
    parser.add_argument("--flips", type=int, default=300, help="bits that are flipped")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if unknown := set(options.libraries) - set(SAVERS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are: {', '.join(SAVERS)}")
    chosen = options.libraries or list(SAVERS)
    print(table([measure(each, options.kills, options.flips, options.seed) for each in chosen]))
    return 0


def measure(library: str, kills: int, flips: int, seed: int) -> Peer:
    """Kill processes that save, and load what has flipped bits; each in a process of its own."""
    saver = SAVERS[library]()
    found = [Counter(lines_of(__spec__.name, part, library, number, seed)) for part, number in
             ((KILLS, kills), (FLIPS, flips))]  # fmt: skip
    return Peer(saver.name, saver.call, *found)


def table(peers: Sequence[Peer]) -> str:
    """The measurements as a Markdown table."""
    lines = [
        "| library | saves with | kills survived | bit flips refused | loaded unchanged | loaded with other values |",
        "|---|---|---|---|---|---|",
    ]
    for peer in peers:
        kills, flips = peer.kills.total(), peer.flips.total()
        lines.append(
            f"| {peer.name} | `{peer.call}` | {peer.kills[KEPT]} of {kills} | {peer.flips[REFUSED]} of {flips} | "
            f"{peer.flips[SAME]} | {peer.flips[OTHER]} |"
        )
    return "\n".join(lines)


def print_kills(library: str, kills: int, seed: int) -> None:
    """Kill processes that save one checkpoint after the other; prints whether each has left a whole one."""
    saver, random = SAVERS[library](), np.random.default_rng(seed)
    _ = saver.weights  # what is imported or made here is shared by the processes
    with tempfile.TemporaryDirectory() as folder:
        for number in range(kills):
            path = Path(folder) / str(number)
            read, write = os.pipe()
            process = fork(partial(save_for_ever, saver, path, write))
            os.close(write)
            with open(read) as seconds:
                time.sleep(random.uniform(0, float(seconds.readline())))
            kill(process)
            os.waitpid(fork(partial(print_state, saver, path)), 0)
            shutil.rmtree(path)


def save_for_ever(saver: Saver, folder: Path, write: int) -> None:
    """One checkpoint after the other; writes the seconds that the last one took when the first to be killed begins."""
    began = time.monotonic()
    for number in count():
        if number == FIRST:
            os.write(write, f"{time.monotonic() - began}\n".encode())
        began = time.monotonic()
        saver.save(folder, number)


def print_state(saver: Saver, folder: Path) -> None:
    """Print whether a folder has a whole checkpoint."""
    try:
        is_whole = number_of(saver, saver.read(folder)) is not None
    except Exception:
        is_whole = False
    print(KEPT if is_whole else LOST, flush=True)


def print_flips(library: str, flips: int, seed: int) -> None:
    """Flip one bit of a checkpoint at a time, all bits being equally likely; prints how each is read."""
    saver, random = SAVERS[library](), np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole"
        saver.save(whole, 0)
        files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
        ends = np.cumsum([(whole / path).stat().st_size for path in files])
        for number in range(flips):
            place = int(random.integers(ends[-1]))
            chosen = int(np.searchsorted(ends, place, side="right"))
            path = shutil.copytree(whole, Path(folder) / str(number))
            flip(path / files[chosen], place - int(ends[chosen]), 1 << int(random.integers(8)))
            print(outcome_of(saver, path), flush=True)
            shutil.rmtree(path)


def flip(path: Path, place: int, bit: int) -> None:
    """Flip a bit of a file; `place` is the number of the byte, counted from the end if it is negative."""
    content = bytearray(path.read_bytes())
    content[place] ^= bit
    path.write_bytes(content)


def outcome_of(saver: Saver, folder: Path) -> str:
    """How a damaged checkpoint is read."""
    try:
        arrays = saver.read(folder)
    except Exception:
        return REFUSED
    return SAME if number_of(saver, arrays) == 0 else OTHER


KILLS, FLIPS = "print-kills", "print-flips"
PARTS = {KILLS: print_kills, FLIPS: print_flips}

if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in PARTS:
        PARTS[sys.argv[1]](sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        raise SystemExit(main())
