"""Counts of transitions between attribute sets: exact, growing, and fast on batches.

Distinct rows of packed words are numbered as they first appear (`RowIndex`); within a batch the order is arbitrary. A
transition is a pair of such numbers, which is numbered in the same way. After hashing, whole rows are compared, so two
different attribute sets are never merged.
"""

from copy import copy

import numpy as np

FREE = -1
"""An unused slot."""

_MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)


class RowIndex:
    """Numbers distinct rows `uint32[width]` 0, 1, 2, …: an open-addressing hash table that works on whole batches.

    Memory: 4 bytes a slot, at most four slots a row, and the rows themselves.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self._rows = np.zeros((1024, width), np.uint32)
        self._slots = np.full(4096, FREE, np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> np.ndarray:
        """`uint32[N, width]` every distinct row, by number."""
        return self._rows[: self._count]

    def copy(self) -> "RowIndex":
        """The same numbers for the same rows."""
        copied = copy(self)
        copied._rows, copied._slots = self._rows.copy(), self._slots.copy()
        return copied

    def number(self, rows: np.ndarray) -> np.ndarray:
        """`int32[B]` the number of each row `[B, width]`; new rows are given the next ones."""
        self._reserve(len(rows))
        numbers = np.full(len(rows), FREE, np.int32)
        pending, slots = np.arange(len(rows)), self._home_slots(rows)
        while len(pending):
            held = self._slots[slots]
            vacant = held == FREE
            if vacant.any():
                held[vacant] = self._claim(slots[vacant], rows[pending[vacant]])
            same = (self._rows[held] == rows[pending]).all(axis=1)
            numbers[pending[same]] = held[same]
            pending, slots = pending[~same], (slots[~same] + 1) & (len(self._slots) - 1)
        return numbers

    def find(self, rows: np.ndarray) -> np.ndarray:
        """`int32[B]` the number of each row, `FREE` for those never seen."""
        numbers = np.full(len(rows), FREE, np.int32)
        pending, slots = np.arange(len(rows)), self._home_slots(rows)
        while len(pending):
            held = self._slots[slots]
            same = (held != FREE) & (self._rows[held] == rows[pending]).all(axis=1)
            numbers[pending[same]] = held[same]
            onward = ~same & (held != FREE)
            pending, slots = pending[onward], (slots[onward] + 1) & (len(self._slots) - 1)
        return numbers

    def _claim(self, slots: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Put one new row into each vacant slot; `[n]` the numbers that the slots hold afterwards."""
        # If several rows hash to one slot, the first takes it; the others compare with it and continue.
        winners, first, inverse = np.unique(slots, return_index=True, return_inverse=True)
        fresh = np.arange(self._count, self._count + len(winners), dtype=np.int32)
        self._rows[self._count : self._count + len(winners)] = rows[first]
        self._slots[winners] = fresh
        self._count += len(winners)
        return fresh[inverse]

    def _home_slots(self, rows: np.ndarray) -> np.ndarray:
        mixed = np.zeros(len(rows), np.uint64)
        for column in range(self.width):
            mixed = (mixed ^ rows[:, column].astype(np.uint64)) * _MULTIPLIERS[column % len(_MULTIPLIERS)]
            mixed ^= mixed >> np.uint64(32)
        return (mixed & np.uint64(len(self._slots) - 1)).astype(np.int64)

    def _reserve(self, extra: int) -> None:
        """Room for `extra` more rows with at most half of the slots in use."""
        needed = self._count + extra
        if needed > len(self._rows):
            self._rows = _grown(self._rows, max(needed, 2 * len(self._rows)))
        if 2 * needed > len(self._slots):
            self._slots = np.full(1 << (4 * needed - 1).bit_length(), FREE, np.int32)
            self._replace_all()

    def _replace_all(self) -> None:
        pending = np.arange(self._count, dtype=np.int32)
        slots = self._home_slots(self.rows)
        while len(pending):
            vacant = self._slots[slots] == FREE
            self._slots[slots[vacant]] = pending[vacant]
            placed = self._slots[slots] == pending
            pending, slots = pending[~placed], (slots[~placed] + 1) & (len(self._slots) - 1)


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
        pairs = np.stack([self.sets.number(source), self.sets.number(target)], axis=1).astype(np.uint32)
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
