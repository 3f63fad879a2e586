"""Counts of transitions between attribute sets: exact, growing, and fast on batches.

Distinct rows of packed words are numbered as they first appear (`RowIndex`); within a batch the order is arbitrary. A
transition is a pair of such numbers, which is numbered in the same way. After hashing, whole rows are compared, so two
different attribute sets are never merged.
"""

from copy import copy
from itertools import count

import numpy as np

FREE = -1
"""An unused slot."""

_MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)


class RowIndex:
    """Numbers distinct rows `uint32[width]` 0, 1, 2, …: an open-addressing hash table that works on whole batches.

    Slots are probed at distances 1, 3, 6, 10, …: this meets every slot, and ends after a few steps also for the last
    row of a batch. Memory: 4 bytes a slot, at most eight slots a row, and the rows themselves.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self._columns = np.zeros((width, 1024), np.uint32)
        self._slots = np.full(4096, FREE, np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> np.ndarray:
        """`uint32[N, width]` every distinct row, by number."""
        return self._columns[:, : self._count].T

    def copy(self) -> "RowIndex":
        """The same numbers for the same rows."""
        copied = copy(self)
        copied._columns, copied._slots = self._columns.copy(), self._slots.copy()
        return copied

    def number(self, rows: np.ndarray) -> np.ndarray:
        """`int32[B]` the number of each row `[B, width]`; new rows are given the next ones."""
        self._reserve(len(rows))
        return self._look_up(rows, add=True)

    def find(self, rows: np.ndarray) -> np.ndarray:
        """`int32[B]` the number of each row, `FREE` for those never seen."""
        return self._look_up(rows, add=False)

    def _look_up(self, rows: np.ndarray, *, add: bool) -> np.ndarray:
        columns = [np.ascontiguousarray(column) for column in rows.T]
        slots = self._home_slots(columns)
        numbers, pending = np.full(len(rows), FREE, np.int32), np.arange(len(rows))
        for distance in count(1):
            held = self._slots[slots]
            if add:
                self._claim(slots, columns, held)
            numbers[pending] = held
            others = held != FREE
            others &= self._differ(held, columns)
            left = np.flatnonzero(others)
            if not len(left):
                break
            pending, slots = pending[left], (slots[left] + distance) & (len(self._slots) - 1)
            columns = [column[left] for column in columns]
        return numbers

    def _differ(self, numbers: np.ndarray, columns: list[np.ndarray]) -> np.ndarray:
        """`bool[B]` whether the rows with these numbers are others than those in `columns`."""
        different = self._columns[0][numbers] != columns[0]
        for mine, column in zip(self._columns[1:], columns[1:], strict=True):
            different |= mine[numbers] != column
        return different

    def _claim(self, slots: np.ndarray, columns: list[np.ndarray], held: np.ndarray) -> None:
        """Put new rows into vacant slots, and into `held` the numbers that the slots then hold."""
        vacant = np.flatnonzero(held == FREE)
        if not len(vacant):
            return
        # If several rows hash to one slot, one takes it; the others compare with it and continue.
        wanted, tickets = slots[vacant], np.arange(len(vacant), dtype=np.int32)
        self._slots[wanted] = tickets
        winners = vacant[self._slots[wanted] == tickets]
        end = self._count + len(winners)
        for mine, column in zip(self._columns, columns, strict=True):
            mine[self._count : end] = column[winners]
        self._slots[slots[winners]] = np.arange(self._count, end, dtype=np.int32)
        held[vacant] = self._slots[wanted]
        self._count = end

    def _home_slots(self, columns: list[np.ndarray]) -> np.ndarray:
        mixed = np.zeros(len(columns[0]), np.uint64)
        for place, column in enumerate(columns):
            mixed ^= column
            mixed *= _MULTIPLIERS[place % len(_MULTIPLIERS)]
            mixed ^= mixed >> np.uint64(32)
        return (mixed & np.uint64(len(self._slots) - 1)).astype(np.int64)

    def _reserve(self, extra: int) -> None:
        """Room for `extra` more rows with at most half of the slots in use."""
        needed = self._count + extra
        if needed > self._columns.shape[1]:
            self._columns = np.stack([_grown(column, max(needed, 2 * len(column))) for column in self._columns])
        if 2 * needed > len(self._slots):
            self._slots = np.full(1 << (4 * needed - 1).bit_length(), FREE, np.int32)
            self._replace_all()

    def _replace_all(self) -> None:
        pending = np.arange(self._count, dtype=np.int32)
        slots = self._home_slots(list(self._columns[:, : self._count]))
        for distance in count(1):
            vacant = self._slots[slots] == FREE
            self._slots[slots[vacant]] = pending[vacant]
            left = np.flatnonzero(self._slots[slots] != pending)
            if not len(left):
                break
            pending, slots = pending[left], (slots[left] + distance) & (len(self._slots) - 1)


class TransitionCounts:
    """c_πe of the paper: how often each transition between different attribute sets was seen while exploring."""

    def __init__(self, words: int) -> None:
        self.sets = RowIndex(words)
        self.pairs = RowIndex(2)
        self._visits = np.zeros(1024, np.int64)
        self.total = 0

    def copy(self) -> "TransitionCounts":
        """A copy of the counts."""
        copied = TransitionCounts(self.sets.width)
        copied.sets, copied.pairs = self.sets.copy(), self.pairs.copy()
        copied._visits, copied.total = self._visits.copy(), self.total
        return copied

    @property
    def visits(self) -> np.ndarray:
        """`int64[E]` how often each pair was seen."""
        return self._visits[: len(self.pairs)]

    def record(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Count transitions between words `[B, W]`; `int64[B]` how often each had been seen, these included."""
        pairs = self.number(source, target)
        np.add.at(self._visits, pairs, 1)
        self.total += len(pairs)
        return self._visits[pairs]

    def add(self, source: np.ndarray, target: np.ndarray, visits: np.ndarray) -> None:
        """Add the counts of another table."""
        pairs = self.number(source, target)  # first: it may replace the array
        np.add.at(self._visits, pairs, visits)
        self.total += int(visits.sum())

    def number(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """`int32[B]` the numbers of transitions between words `[B, W]`; new ones have a count of zero."""
        pairs = np.stack([self.sets.number(source), self.sets.number(target)], axis=1).view(np.uint32)
        numbers = self.pairs.number(pairs)
        if len(self.pairs) > len(self._visits):
            self._visits = _grown(self._visits, 2 * len(self.pairs))
        return numbers


def merged(*all_counts: TransitionCounts) -> TransitionCounts:
    """The sums of several counts."""
    total = all_counts[0].copy()
    for counts in all_counts[1:]:
        source, target = counts.sets.rows[counts.pairs.rows.T]
        total.add(source, target, counts.visits)
    return total


def _grown(array: np.ndarray, length: int) -> np.ndarray:
    grown = np.zeros((length, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown
