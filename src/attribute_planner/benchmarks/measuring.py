"""The result of a benchmark, and how its times are taken."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np


@dataclass(frozen=True)
class Measurement:
    """One line of a benchmark.

    ours, peer: the measured values, in `unit`; `peer` is `None` if it is not installed.
    ratio: how much better ours is; above 1, ours is better. `None` without a peer.
    against: a description of the peer.
    """

    name: str
    ours: float
    peer: float | None
    ratio: float | None
    unit: str
    against: str


def rates(name: str, ours: float, peer: float | None, unit: str, against: str) -> Measurement:
    """A measurement in which more is better."""
    return Measurement(name, ours, peer, None if peer is None else ours / peer, unit, against)


def times(name: str, ours: float, peer: float | None, unit: str, against: str) -> Measurement:
    """A measurement in which less is better."""
    return Measurement(name, ours, peer, None if peer is None else peer / ours, unit, against)


def seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """The median time of a call in seconds, after one call that compiles."""
    return seconds_in_turn(work, repeats=repeats)[0]


def seconds_in_turn(*works: Callable[[], Any], repeats: int = 5) -> list[float]:
    """The same for several, which are called in turn: what else the machine does slows all of them."""
    for work in works:
        jax.block_until_ready(work())
    taken = []
    for _ in range(repeats):
        taken.append([])
        for work in works:
            start = time.perf_counter()
            jax.block_until_ready(work())
            taken[-1].append(time.perf_counter() - start)
    return np.median(taken, axis=0).tolist()
