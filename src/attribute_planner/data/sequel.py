"""What follows each recorded step in its episode, and the transitions among the steps, for goals in hindsight."""

from typing import NamedTuple

import numpy as np

NEVER = 2**30
"""Row of what does not happen."""
MAX_CHANGES = 4
"""A goal in hindsight is at most this many changes of the attributes ahead."""


class Sequel(NamedTuple):
    """What follows each row, oldest first.

    place: `[n]` where each row is stored.
    over: `bool[n, B]` nothing that follows is known to belong to the same episode.
    next_change: `[n, B]` the next row, this one included, whose step changed the attributes in the same episode;
        `NEVER` if there is none.
    episode_start, episode_end: `[n, B]` the first and the last row of the episode.
    """

    place: np.ndarray
    over: np.ndarray
    next_change: np.ndarray
    episode_start: np.ndarray
    episode_end: np.ndarray

    def later(self, row: np.ndarray, env: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """`[N]` the row of a change later in the episode; `NEVER` if there is none.

        Of the next changes, up to the fourth, each is drawn half as often as the one before, the last as often.
        """
        change = self.next_change[row, env]
        continues = np.ones(len(row), bool)
        for _ in range(MAX_CHANGES - 1):
            following = self.next_change[np.minimum(change + 1, len(self.place) - 1), env]
            continues &= (change < self.episode_end[row, env]) & (following < NEVER) & (random.random(len(row)) < 0.5)
            change = np.where(continues, following, change)
        return change

    def before(self, row: np.ndarray, env: np.ndarray, horizon: int, random: np.random.Generator) -> np.ndarray:
        """`[N]` a row of the same episode at most `horizon` rows before each row, or this row."""
        available = np.minimum(row - self.episode_start[row, env] + 1, horizon)
        return row - (random.random(len(row)) * available).astype(int)


def sequel_of(place: np.ndarray, over: np.ndarray, changed: np.ndarray) -> Sequel:
    """What follows each row, given `bool[n, B]` where episodes end and where the attributes changed."""
    number = np.arange(len(place), dtype=np.int32)[:, None]
    over = over.copy()
    over[-1] = True
    next_change, episode_end = (
        np.minimum.accumulate(np.where(mask, number, NEVER)[::-1])[::-1] for mask in (changed, over)
    )
    begins = np.concatenate([np.ones_like(over[:1]), over[:-1]])
    episode_start = np.maximum.accumulate(np.where(begins, number, 0))
    return Sequel(place, over, np.where(next_change <= episode_end, next_change, NEVER), episode_start, episode_end)


class Crossings(NamedTuple):
    """The steps that changed the attributes, sorted by transition, and transitions by the set they begin in.

    row, env: `[M]` the steps.
    first: `[E + 1]` the first of the steps of each transition.
    target: `[E, A]` the values after each transition.
    sources: `[S]` hashes of the sets in which transitions begin, sorted.
    first_edge: `[S + 1]` the first transition of each of them.
    """

    row: np.ndarray
    env: np.ndarray
    first: np.ndarray
    target: np.ndarray
    sources: np.ndarray
    first_edge: np.ndarray

    @property
    def num_edges(self) -> int:
        """The number of different transitions."""
        return len(self.target)

    def draw(self, count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows and environments `[count]` of random steps, each transition as often as the others."""
        edge = random.integers(0, self.num_edges, count)
        step = _between(self.first[edge], self.first[edge + 1], random)
        return self.row[step], self.env[step]

    def neighbours(self, values: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """`[N, A]` a random neighbour of each set of values `[N, A]`, and `bool[N]` whether there is one."""
        source, found = self._locate(values)
        if not found.any():
            return values, found
        edge = _between(self.first_edge[source], self.first_edge[source + 1], random)
        return self.target[edge], found

    def ways_on(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`bool[N]` whether each set `[N, A]` has neighbours; `[N, A]` its neighbour if it has one, else the set."""
        source, found = self._locate(values)
        if not found.any():
            return found, values
        one = found & (self.first_edge[source + 1] - self.first_edge[source] == 1)
        return found, np.where(one[:, None], self.target[self.first_edge[source]], values)

    def _locate(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`[N]` the place of each set among the sources, and whether it is there."""
        if self.num_edges == 0:
            return np.zeros(len(values), int), np.zeros(len(values), bool)
        code = hash_rows(values)
        source = np.minimum(np.searchsorted(self.sources, code), len(self.sources) - 1)
        return source, self.sources[source] == code


def crossings_of(row: np.ndarray, env: np.ndarray, before: np.ndarray, after: np.ndarray) -> Crossings:
    """The steps `[M]` that changed values `[M, A]`, sorted."""
    source, target = hash_rows(before), hash_rows(after)
    order = np.lexsort((target, source))
    row, env, source, target = row[order], env[order], source[order], target[order]
    first = np.flatnonzero(np.concatenate([np.ones(min(len(row), 1), bool), _differs(source) | _differs(target)]))
    edge_source = source[first]
    first_edge = np.flatnonzero(np.concatenate([np.ones(min(len(first), 1), bool), _differs(edge_source)]))
    return Crossings(
        row,
        env,
        np.append(first, len(row)),
        after[order][first],
        edge_source[first_edge],
        np.append(first_edge, len(first)),
    )


def _differs(sorted_array: np.ndarray) -> np.ndarray:
    """`bool[N - 1]` whether each element differs from the one before."""
    return sorted_array[1:] != sorted_array[:-1]


def _between(first: np.ndarray, end: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """`[N]` a random whole number from `first` to before `end`."""
    return first + (random.random(len(first)) * (end - first)).astype(int)


def hash_rows(values: np.ndarray) -> np.ndarray:
    """`int64[...]` a hash of each row of whole numbers `[..., A]`."""
    multipliers = np.random.default_rng(0).integers(-(2**63), 2**63, values.shape[-1], np.int64)
    return (values.astype(np.int64) * multipliers).sum(axis=-1)
