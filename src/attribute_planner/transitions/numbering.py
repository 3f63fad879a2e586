"""Attribute sets and transitions in lists: the number of a set is its position, and so is that of a transition."""

import abc
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int, UInt, UInt32

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.transitions.counting import FREE, RowIndex

UNKNOWN = -1
"""The number of an attribute set that is not listed."""


class NumberedSets(abc.ABC):
    """A directed graph over attribute sets, as lists.

    Sets are sorted by their packed words, edges by (source, target), so that the edges of a set are one slice.

    words: the packed attribute sets.
    source, target: the sets that an edge joins.
    """

    space: AttributeSpace
    words: UInt32[np.ndarray, "N W"]
    source: Int[np.ndarray, " E"]
    target: Int[np.ndarray, " E"]

    @property
    def num_nodes(self) -> int:
        """Number of attribute sets."""
        return len(self.words)

    @property
    def num_edges(self) -> int:
        """Number of transitions between them."""
        return len(self.source)

    @cached_property
    def values(self) -> Int[np.ndarray, "N A"]:
        """The attribute values of each set."""
        return np.asarray(self.space.unpack(self.words))

    @cached_property
    def row_starts(self) -> Int[np.ndarray, " N_plus_1"]:
        """Where the edges of each set begin; those of set `i` are `row_starts[i]:row_starts[i + 1]`."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.source, minlength=self.num_nodes))])

    def values_of(self, numbers: Sequence[int] | Int[np.ndarray, " n"]) -> Int[np.ndarray, "n A"]:
        """The attribute values of some sets."""
        return np.asarray(self.space.unpack(self.words[np.asarray(numbers, np.int64)]))

    def number_of(self, values: Int[np.ndarray, " A"]) -> int:
        """The number of the set with these values; `UNKNOWN` if it is not listed."""
        first, last = 0, self.num_nodes
        # The last word is the most significant one.
        for column, wanted in zip(self._word_columns[::-1], self.space.pack(values)[::-1], strict=True):
            part = column[first:last]
            first, last = first + part.searchsorted(wanted), first + part.searchsorted(wanted, "right")
        return int(first) if first < last else UNKNOWN

    def numbers_of(self, words: UInt32[np.ndarray, "B W"]) -> Int[np.ndarray, " B"]:
        """The numbers of packed sets; `UNKNOWN` for those that are not listed."""
        index, number = self._index
        found = index.find(words)
        return np.where(found == FREE, UNKNOWN, number[found] if len(number) else UNKNOWN)

    def edge(self, source: int, target: int) -> int:
        """The number of the edge between two sets, which must exist."""
        row = self.edges_of(source)
        return row.start + int(np.searchsorted(self.target[row], target))

    def edges_of(self, number: int) -> slice:
        """The edges that leave a set."""
        return slice(int(self.row_starts[number]), int(self.row_starts[number + 1]))

    def edges_between(self, source: Int[np.ndarray, " B"], target: Int[np.ndarray, " B"]) -> Int[np.ndarray, " B"]:
        """The numbers of the edges between pairs of sets, which must exist."""
        return np.searchsorted(self._edge_keys, source.astype(np.int64) * self.num_nodes + target)

    def known_edges(
        self, source: UInt32[np.ndarray, "B W"], target: UInt32[np.ndarray, "B W"]
    ) -> tuple[Int[np.ndarray, " B"], Bool[np.ndarray, " B"]]:
        """The numbers of the edges between pairs of packed sets, and whether there is one."""
        if self.num_edges == 0:
            return np.zeros(len(source), int), np.zeros(len(source), bool)
        before, after = self.numbers_of(source), self.numbers_of(target)
        edge = np.minimum(self.edges_between(before, after), self.num_edges - 1)
        return edge, (self.source[edge] == before) & (self.target[edge] == after)

    def edges_in(self, larger: "NumberedSets") -> Int[np.ndarray, " E"]:
        """The number of each edge in a graph that holds all of them."""
        number = larger.numbers_of(self.words)
        return larger.edges_between(number[self.source], number[self.target])

    def satisfying(self, goal: Goal) -> Int[np.ndarray, " n"]:
        """The numbers of the sets that satisfy a goal."""
        values = np.asarray(goal.values)
        if np.all(goal.wanted) and (goal.at_least is None or not np.any(goal.at_least)):
            number = self.number_of(values.astype(np.int32))
            return np.array([number] if number != UNKNOWN else [], np.int64)
        matches = np.ones(self.num_nodes, bool)
        for attribute in np.flatnonzero(goal.wanted):
            column, value = self.column(int(attribute)), values[attribute]
            or_more = goal.at_least is not None and goal.at_least[attribute]
            matches &= (column >= value) if or_more else (column == value)
        return np.flatnonzero(matches)

    @cached_property
    def _word_columns(self) -> np.ndarray:
        """`uint32[W, N]` the packed sets word by word."""
        return np.ascontiguousarray(self.words.T)

    @cached_property
    def _index(self) -> tuple[RowIndex, np.ndarray]:
        """A hash index over the packed sets, and the number of each of its rows."""
        index = RowIndex(self.words.shape[1])
        return index, np.argsort(index.number(self.words))

    @cached_property
    def _edge_keys(self) -> np.ndarray:
        """`int64[E]` one ascending number per edge, since edges are sorted by source and target."""
        return self.source.astype(np.int64) * self.num_nodes + self.target

    def column(self, attribute: int) -> UInt[np.ndarray, " N"]:
        """The values of one attribute: a goal with few wanted attributes needs few columns."""
        if attribute not in self._columns:
            self._columns[attribute] = self.space.unpack_one(self.words, attribute)
        return self._columns[attribute]

    @cached_property
    def _columns(self) -> dict[int, np.ndarray]:
        return {}
