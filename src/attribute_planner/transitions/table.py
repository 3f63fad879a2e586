"""The transition table c_π: how likely the policy is to move from one attribute set to a neighbouring one."""

from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from jaxtyping import Float, Int, UInt32

from attribute_planner.attributes import AttributeSpace
from attribute_planner.errors import unknown_name
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.estimators import ESTIMATORS, PRIOR_ATTEMPTS, Statistics
from attribute_planner.transitions.model import Listing, PractisedTransitions, Successors
from attribute_planner.transitions.numbering import NumberedSets
from attribute_planner.transitions.similar import differences_of, groups_of

if TYPE_CHECKING:
    from PIL import Image


@dataclass(frozen=True)
class TransitionTable(NumberedSets, PractisedTransitions):
    """A directed graph over attribute sets, with the statistics of each edge.

    words, source, target: as in `NumberedSets`.
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

    def most_visited(self) -> int:
        """The number of the set that exploration left most often: episodes usually begin there."""
        return int(np.bincount(self.source, weights=self.visits, minlength=self.num_nodes).argmax())

    @cached_property
    def probability(self) -> Float[np.ndarray, " E"]:
        """c_π of each edge, by the table's estimator."""
        # In double precision, also if the statistics are kept in single precision.
        attempts, successes = (each.astype(float, copy=False) for each in (self.attempts, self.successes))
        groups = partial(groups_of, self, self.visits)
        observed = Statistics(self.num_nodes, self.source, self.visits, attempts, successes, groups)
        return ESTIMATORS[self.estimator](observed)

    @cached_property
    def duration(self) -> Float[np.ndarray, " E"]:
        """Mean steps of an attempt at each edge; zero if steps were not counted.

        An edge that was attempted rarely is estimated from the edges that change the attributes by the same amounts.
        """
        if self.spent is None:
            return np.zeros(self.num_edges)
        group = differences_of(self)
        tried, taken = (each.astype(float, copy=False) for each in (self.attempts, self.spent))
        attempts, spent = (np.bincount(group, weights=each) for each in (tried, taken))
        usual = ((spent + taken.sum() / max(tried.sum(), 1.0)) / (attempts + 1))[group]
        return (taken + PRIOR_ATTEMPTS * usual) / (tried + PRIOR_ATTEMPTS)

    def successors(self, words: UInt32[np.ndarray, "B W"]) -> Successors:
        return self.listing().successors(words)

    def listing(self) -> Listing:
        return self._listing

    @cached_property
    def _listing(self) -> Listing:
        return Listing(
            self.space,
            self.words,
            self.source,
            self.target,
            self.visits,
            self.attempts,
            self.successes,
            self.probability,
            lambda: self.duration,
            self.spent,
        )

    def with_practice(
        self,
        attempts: Float[np.ndarray, " E"],
        successes: Float[np.ndarray, " E"],
        spent: Float[np.ndarray, " E"] | None = None,
    ) -> Self:
        return replace(self, attempts=attempts, successes=successes, spent=spent)

    def with_pairs(self, source: UInt32[np.ndarray, "B W"], target: UInt32[np.ndarray, "B W"], visits: int = 0) -> Self:
        counts = TransitionCounts(self.words.shape[1])
        counts.sets.number(self.words)
        counts.add(self.words[self.source], self.words[self.target], self.visits.astype(np.int64))
        counts.add(source, target, np.full(len(source), visits, np.int64))
        more = table_of_counts(self.space, counts)
        graph = {name: getattr(more, name) for name in ("words", "source", "target", "visits")}
        return replace(self, **graph, attempts=more.attempts, successes=more.successes, spent=None).with_practice_of(
            self
        )


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
