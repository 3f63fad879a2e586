"""The transition table c_π: how likely the policy is to move from one attribute set to a neighbouring one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.attributes.space import key_of_words
from attribute_planner.errors import unknown_name
from attribute_planner.transitions.counting import FREE, RowIndex, TransitionCounts

UNKNOWN = -1
"""The number of an attribute set that the table does not hold."""


@dataclass(frozen=True)
class TransitionTable:
    """A directed graph over attribute sets, with what was seen and tried on each edge.

    Sets are sorted by their packed words, edges by (source, target), so that the edges of a set are one slice.

    words: `uint32[N, W]` the packed attribute sets.
    source, target: `int32[E]` the sets that an edge joins.
    visits: `float64[E]` how often exploration saw the transition: c_πe.
    attempts: `float64[E]` how often practice aimed at `target` from `source`, decayed if so configured: A_π.
    successes: `float64[E]` how often it arrived: S_π.
    estimator: how these become a probability, a name in `ESTIMATORS`.
    spent: `float64[E]` the environment steps that the attempts took, decayed likewise; `None` if nobody counted.
    """

    space: AttributeSpace
    words: np.ndarray
    source: np.ndarray
    target: np.ndarray
    visits: np.ndarray
    attempts: np.ndarray
    successes: np.ndarray
    estimator: str = "ratio"
    spent: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.estimator not in ESTIMATORS:
            raise unknown_name("estimator", self.estimator, ESTIMATORS)

    @property
    def num_nodes(self) -> int:
        """How many attribute sets it holds."""
        return len(self.words)

    @property
    def num_edges(self) -> int:
        """How many transitions between them it holds."""
        return len(self.source)

    @cached_property
    def values(self) -> np.ndarray:
        """`int32[N, A]` the attribute values of each set."""
        return np.asarray(self.space.unpack(self.words))

    @cached_property
    def row_starts(self) -> np.ndarray:
        """`int64[N + 1]` where the edges of each set begin; those of set `i` are `row_starts[i]:row_starts[i + 1]`."""
        return np.searchsorted(self.source, np.arange(self.num_nodes + 1))

    @cached_property
    def probability(self) -> np.ndarray:
        """`float64[E]` c_π of each edge, by the table's estimator."""
        return ESTIMATORS[self.estimator](self)

    @cached_property
    def duration(self) -> np.ndarray:
        """`float64[E]` how many steps an attempt at each edge takes; zero if nobody counted.

        An edge that was hardly tried takes about as long as others that change the attributes in the same way.
        """
        if self.spent is None:
            return np.zeros(self.num_edges)
        kind = kinds_of_change(self)
        attempts, spent = (np.bincount(kind, weights=each) for each in (self.attempts, self.spent))
        usual = ((spent + self.spent.sum() / max(self.attempts.sum(), 1.0)) / (attempts + 1))[kind]
        return (self.spent + PRIOR_ATTEMPTS * usual) / (self.attempts + PRIOR_ATTEMPTS)

    @cached_property
    def _number_by_key(self) -> dict[int, int]:
        return {key_of_words(words): number for number, words in enumerate(self.words)}

    def number_of(self, values: np.ndarray) -> int:
        """The number of the set with these values `[A]`, `UNKNOWN` if it was never seen."""
        return self._number_by_key.get(self.space.key(values), UNKNOWN)

    @cached_property
    def _index(self) -> tuple[RowIndex, np.ndarray]:
        """Finds packed sets; and `[N]` the table's number of each that it has numbered in its own way."""
        index = RowIndex(self.words.shape[1])
        return index, np.argsort(index.number(self.words))

    def numbers_of(self, words: np.ndarray) -> np.ndarray:
        """`int[B]` the numbers of packed sets `[B, W]`, `UNKNOWN` for those never seen."""
        index, number = self._index
        found = index.find(words)
        return np.where(found == FREE, UNKNOWN, number[found])

    def edge(self, source: int, target: int) -> int:
        """The number of the edge between two sets, which must exist."""
        row = self.edges_of(source)
        return row.start + int(np.searchsorted(self.target[row], target))

    def edges_of(self, number: int) -> slice:
        """The edges that leave a set."""
        return slice(int(self.row_starts[number]), int(self.row_starts[number + 1]))

    def satisfying(self, goal: Goal) -> np.ndarray:
        """`int64[n]` the sets that satisfy a goal."""
        matches = np.ones(self.num_nodes, bool)
        values = np.asarray(goal.values)
        for attribute in np.flatnonzero(goal.wanted):
            column, value = self._columns[attribute], values[attribute]
            or_more = goal.at_least is not None and goal.at_least[attribute]
            matches &= (column >= value) if or_more else (column == value)
        return np.flatnonzero(matches)

    @cached_property
    def _columns(self) -> np.ndarray:
        """`uint16[A, N]` the values attribute by attribute: a goal with few wanted ones reads few columns."""
        return np.ascontiguousarray(self.values.T.astype(np.uint16))

    def edges_in(self, larger: "TransitionTable") -> np.ndarray:
        """`int64[E]` the number that each edge has in a table that holds all of them."""
        number = larger.numbers_of(self.words).astype(np.int64)
        wanted = number[self.source] * larger.num_nodes + number[self.target]
        return np.searchsorted(larger.source.astype(np.int64) * larger.num_nodes + larger.target, wanted)

    def with_practice(
        self, attempts: np.ndarray, successes: np.ndarray, spent: np.ndarray | None = None
    ) -> "TransitionTable":
        """The same graph with other statistics of practice."""
        spent = None if spent is None else np.asarray(spent, float)
        return replace(self, attempts=np.asarray(attempts, float), successes=np.asarray(successes, float), spent=spent)

    def with_practice_of(self, practised: "TransitionTable") -> "TransitionTable":
        """The same graph with the statistics of practice of another table, all of whose edges this one holds."""
        places = practised.edges_in(self)
        attempts, successes, spent = np.zeros((3, self.num_edges))
        attempts[places], successes[places] = practised.attempts, practised.successes
        if practised.spent is None:
            return self.with_practice(attempts, successes)
        spent[places] = practised.spent
        return self.with_practice(attempts, successes, spent)


def visit_frequency(table: TransitionTable) -> np.ndarray:
    """The paper's ablation without c_π: which fraction of the transitions out of a set went to the target."""
    leaving = np.bincount(table.source, weights=table.visits, minlength=table.num_nodes)
    return table.visits / np.maximum(leaving[table.source], 1e-12)


def success_ratio(table: TransitionTable) -> np.ndarray:
    """Algorithm 1's last line: S_π / A_π; zero where the edge was never tried."""
    return np.divide(table.successes, table.attempts, out=np.zeros(table.num_edges), where=table.attempts > 0)


def posterior_mean(table: TransitionTable) -> np.ndarray:
    """The mean of a Beta posterior whose prior is the success of all edges together, worth two attempts.

    One lucky or unlucky attempt then no longer makes an edge certain or impossible, and an edge that was seen but never
    tried is worth as much as an average one.
    """
    prior = (table.successes.sum() + 1) / (table.attempts.sum() + 2)
    return (table.successes + PRIOR_ATTEMPTS * prior) / (table.attempts + PRIOR_ATTEMPTS)


PRIOR_ATTEMPTS = 2.0


def posterior_by_change(table: TransitionTable) -> np.ndarray:
    """The same, but the prior is the success of all edges that change the attributes in the same way.

    On a graph with more edges than can be tried often, edges that were hardly tried then count as others of their kind.
    """
    kind = kinds_of_change(table)
    attempts, successes = (np.bincount(kind, weights=each) for each in (table.attempts, table.successes))
    overall = (table.successes.sum() + 1) / (table.attempts.sum() + 2)
    prior = ((successes + PRIOR_ATTEMPTS * overall) / (attempts + PRIOR_ATTEMPTS))[kind]
    return (table.successes + ALIKE_ATTEMPTS * prior) / (table.attempts + ALIKE_ATTEMPTS)


ALIKE_ATTEMPTS = 5.0
"""How many attempts the success of edges of the same kind is worth."""


def kinds_of_change(table: TransitionTable) -> np.ndarray:
    """`int32[E]` the same number for edges along which every attribute's value changes by the same amount."""
    change = table.values[table.target] - table.values[table.source]
    return RowIndex(change.shape[1]).number(change.astype(np.int32).view(np.uint32))


ESTIMATORS: dict[str, Callable[[TransitionTable], np.ndarray]] = {
    "ratio": success_ratio,
    "posterior": posterior_mean,
    "alike": posterior_by_change,
    "visits": visit_frequency,
}


def table_of_counts(space: AttributeSpace, counts: TransitionCounts, estimator: str = "ratio") -> TransitionTable:
    """The frozen table of what exploration has counted, with no practice yet."""
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


def edge_order(counts: TransitionCounts) -> tuple[np.ndarray, np.ndarray]:
    """Which counted set each set of a table is, `int64[N]`, and which counted pair each edge, `int64[E]`."""
    order = np.lexsort(counts.sets.rows.T)
    rank = np.argsort(order)
    source, target = rank[counts.pairs.rows.T]
    return order, np.lexsort((target, source))
