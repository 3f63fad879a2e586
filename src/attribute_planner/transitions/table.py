"""The transition table c_π: how likely the policy is to move from one attribute set to a neighbouring one."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int, UInt32

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.attributes.space import key_of_words
from attribute_planner.errors import unknown_name
from attribute_planner.transitions.counting import FREE, RowIndex, TransitionCounts
from attribute_planner.transitions.estimators import ESTIMATORS, PRIOR_ATTEMPTS, Statistics
from attribute_planner.transitions.evidence import EdgeEvidence
from attribute_planner.transitions.model import Listing, Successors, TransitionModel

if TYPE_CHECKING:
    from PIL import Image

UNKNOWN = -1
"""The number of an attribute set that the table does not hold."""


@dataclass(frozen=True)
class TransitionTable(TransitionModel):
    """A directed graph over attribute sets, with the statistics of each edge.

    Sets are sorted by their packed words, edges by (source, target), so that the edges of a set are one slice.

    words: the packed attribute sets.
    source, target: the sets that an edge joins.
    visits: how often exploration observed the transition: c_πe.
    attempts: how often practice tried to reach `target` from `source`, decayed if so configured: A_π.
    successes: how often it arrived: S_π.
    estimator: how these become a probability, a name in `ESTIMATORS`.
    spent: environment steps that the attempts took, decayed likewise; `None` if they were not counted.
    """

    space: AttributeSpace
    words: UInt32[np.ndarray, "N W"]
    source: Int[np.ndarray, " E"]
    target: Int[np.ndarray, " E"]
    visits: Float[np.ndarray, " E"]
    attempts: Float[np.ndarray, " E"]
    successes: Float[np.ndarray, " E"]
    estimator: str = "ratio"
    spent: Float[np.ndarray, " E"] | None = None

    def __post_init__(self) -> None:
        if self.estimator not in ESTIMATORS:
            raise unknown_name("estimator", self.estimator, ESTIMATORS)

    def draw(self, path: Path | str | None = None, plan: Any = None) -> "Image.Image":
        """An image of the graph, which notebooks show; written to a .png or .svg file if a path is given.

        plan: a `Plan`, drawn into it in colour.
        """
        from attribute_planner.drawing.graph_picture import draw_graph

        return draw_graph(path, self, plan)

    def __repr__(self) -> str:
        return f"TransitionTable({self.num_nodes:,} attribute sets, {self.num_edges:,} transitions)"

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
        return np.searchsorted(self.source, np.arange(self.num_nodes + 1))

    @cached_property
    def probability(self) -> Float[np.ndarray, " E"]:
        """c_π of each edge, by the table's estimator."""
        observed = Statistics(
            self.num_nodes, self.source, self.visits, self.attempts, self.successes, lambda: changes_of(self)
        )
        return ESTIMATORS[self.estimator](observed)

    @cached_property
    def duration(self) -> Float[np.ndarray, " E"]:
        """Mean steps of an attempt at each edge; zero if steps were not counted.

        An edge that was attempted rarely is estimated from the edges that make the same change.
        """
        if self.spent is None:
            return np.zeros(self.num_edges)
        group = changes_of(self)
        attempts, spent = (np.bincount(group, weights=each) for each in (self.attempts, self.spent))
        usual = ((spent + self.spent.sum() / max(self.attempts.sum(), 1.0)) / (attempts + 1))[group]
        return (self.spent + PRIOR_ATTEMPTS * usual) / (self.attempts + PRIOR_ATTEMPTS)

    def knows(self, words: UInt32[np.ndarray, "B W"]) -> Bool[np.ndarray, " B"]:
        return self.numbers_of(words) != UNKNOWN

    def successors(self, words: UInt32[np.ndarray, "B W"]) -> Successors:
        numbers = self.numbers_of(words)
        known = np.flatnonzero(numbers != UNKNOWN)
        first, last = self.row_starts[numbers[known]], self.row_starts[numbers[known] + 1]
        origin = np.repeat(known, last - first)
        edges = np.concatenate([np.arange(*row) for row in zip(first, last, strict=True)] or [np.zeros(0, int)])
        return Successors(
            origin,
            self.words[self.target[edges]],
            self.probability[edges],
            self.duration[edges],
            self.attempts[edges],
            self.successes[edges],
        )

    def listing(self) -> Listing:
        return Listing(self.words, self.source, self.target, self.probability, self.duration)

    @cached_property
    def _number_by_key(self) -> dict[int, int]:
        return {key_of_words(words): number for number, words in enumerate(self.words)}

    def number_of(self, values: Int[np.ndarray, " A"]) -> int:
        """The number of the set with these values; `UNKNOWN` if the table does not hold it."""
        return self._number_by_key.get(self.space.key(values), UNKNOWN)

    @cached_property
    def _index(self) -> tuple[RowIndex, np.ndarray]:
        """A hash index over the packed sets, and the table's number of each of its rows."""
        index = RowIndex(self.words.shape[1])
        return index, np.argsort(index.number(self.words))

    def numbers_of(self, words: UInt32[np.ndarray, "B W"]) -> Int[np.ndarray, " B"]:
        """The numbers of packed sets; `UNKNOWN` for those that the table does not hold."""
        index, number = self._index
        found = index.find(words)
        return np.where(found == FREE, UNKNOWN, number[found] if len(number) else UNKNOWN)

    def edge(self, source: int, target: int) -> int:
        """The number of the edge between two sets, which must exist."""
        row = self.edges_of(source)
        return row.start + int(np.searchsorted(self.target[row], target))

    def evidence(self, edge: int) -> EdgeEvidence:
        """The evidence of an edge."""
        statistics = (self.probability, self.attempts, self.successes, self.visits)
        return EdgeEvidence(*(float(each[edge]) for each in statistics))

    def edges_of(self, number: int) -> slice:
        """The edges that leave a set."""
        return slice(int(self.row_starts[number]), int(self.row_starts[number + 1]))

    def most_visited(self) -> int:
        """The number of the set that exploration left most often: episodes usually begin there."""
        return int(np.bincount(self.source, weights=self.visits, minlength=self.num_nodes).argmax())

    def satisfying(self, goal: Goal) -> Int[np.ndarray, " n"]:
        """The numbers of the sets that satisfy a goal."""
        matches = np.ones(self.num_nodes, bool)
        values = np.asarray(goal.values)
        for attribute in np.flatnonzero(goal.wanted):
            column, value = self._columns[attribute], values[attribute]
            or_more = goal.at_least is not None and goal.at_least[attribute]
            matches &= (column >= value) if or_more else (column == value)
        return np.flatnonzero(matches)

    @cached_property
    def _columns(self) -> np.ndarray:
        """`uint16[A, N]` the values by attribute: a goal with few wanted attributes reads few columns."""
        return np.ascontiguousarray(self.values.T.astype(np.uint16))

    def edges_in(self, larger: "TransitionTable") -> Int[np.ndarray, " E"]:
        """The number of each edge in a table that holds all of them."""
        number = larger.numbers_of(self.words).astype(np.int64)
        wanted = number[self.source] * larger.num_nodes + number[self.target]
        return np.searchsorted(larger.source.astype(np.int64) * larger.num_nodes + larger.target, wanted)

    def with_practice(
        self, attempts: np.ndarray, successes: np.ndarray, spent: np.ndarray | None = None
    ) -> "TransitionTable":
        """The same graph with other statistics of practice."""
        spent = None if spent is None else np.asarray(spent, float)
        return replace(self, attempts=np.asarray(attempts, float), successes=np.asarray(successes, float), spent=spent)

    def with_edges(self, other: "TransitionTable") -> "TransitionTable":
        """The same with the edges of another table, which count as never visited if they are new."""
        return self.with_pairs(other.words[other.source], other.words[other.target])

    def with_pairs(self, source: UInt32[np.ndarray, "B W"], target: UInt32[np.ndarray, "B W"]) -> "TransitionTable":
        """The same with edges between packed sets, which count as never visited if they are new."""
        counts = TransitionCounts(self.words.shape[1])
        counts.sets.number(self.words)
        counts.add(self.words[self.source], self.words[self.target], self.visits.astype(np.int64))
        counts.add(source, target, np.zeros(len(source), np.int64))
        return table_of_counts(self.space, counts, self.estimator).with_practice_of(self)

    def tried(self, attempts: float) -> "TransitionTable":
        """The same without edges that were never visited and attempted less often than this."""
        keep = (self.visits > 0) | (self.attempts >= attempts)
        parts = {name: getattr(self, name) for name in ("source", "target", "visits", "attempts", "successes", "spent")}
        return replace(self, **{name: None if part is None else part[keep] for name, part in parts.items()})

    def with_practice_of(self, practised: "TransitionTable") -> "TransitionTable":
        """The same graph with the statistics of practice of another table, all of whose edges this one holds."""
        places = practised.edges_in(self)
        attempts, successes, spent = np.zeros((3, self.num_edges))
        attempts[places], successes[places] = practised.attempts, practised.successes
        if practised.spent is None:
            return self.with_practice(attempts, successes)
        spent[places] = practised.spent
        return self.with_practice(attempts, successes, spent)


def changes_of(table: TransitionTable) -> Int[np.ndarray, " E"]:
    """The group of each edge: edges of a group change every attribute's value by the same amount."""
    change = table.values[table.target] - table.values[table.source]
    return RowIndex(change.shape[1]).number(change.astype(np.int32).view(np.uint32))


def table_of_counts(space: AttributeSpace, counts: TransitionCounts, estimator: str = "ratio") -> TransitionTable:
    """The table of what exploration has counted, with no practice yet."""
    order, edges = edge_order(counts)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    source, target = rank[counts.pairs.rows[edges].T]
    nothing = np.zeros(len(edges))
    return TransitionTable(
        space,
        words=counts.sets.rows[order].copy(),
        source=source,
        target=target,
        visits=counts.visits[edges].astype(float),
        attempts=nothing,
        successes=nothing,
        estimator=estimator,
    )


def edge_order(counts: TransitionCounts) -> tuple[Int[np.ndarray, " N"], Int[np.ndarray, " E"]]:
    """Which counted set each set of a table is, and which counted pair each edge."""
    order = np.lexsort(counts.sets.rows.T)
    rank = np.argsort(order)
    source, target = rank[counts.pairs.rows.T]
    return order, np.lexsort((target, source))
