"""`TransitionModel`: c_π behind one interface, and `Listing`, what a model knows as arrays.

Planning needs the transitions out of attribute sets and their statistics. Practice adds transitions and replaces their
statistics. A `TransitionTable` lists every set and transition; a model that predicts transitions can implement the same
interface without a list.
"""

import abc
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from jaxtyping import Float, Int, UInt32

from attribute_planner.attributes import AttributeSpace
from attribute_planner.transitions.evidence import EdgeEvidence
from attribute_planner.transitions.numbering import UNKNOWN, NumberedSets


class Successors(NamedTuple):
    """Transitions out of a batch of attribute sets, one row per transition, ordered by `origin`.

    origin: position in the batch of the set that the transition leaves.
    words: packed set that it leads to.
    probability: c_π, the probability that an attempt arrives.
    steps: mean number of environment steps of an attempt.
    attempts, successes: the evidence behind `probability`.
    """

    origin: Int[np.ndarray, " M"]
    words: UInt32[np.ndarray, "M W"]
    probability: Float[np.ndarray, " M"]
    steps: Float[np.ndarray, " M"]
    attempts: Float[np.ndarray, " M"]
    successes: Float[np.ndarray, " M"]


class TransitionModel(abc.ABC):
    """How likely, and how fast, the policy moves from one attribute set to a neighbouring one."""

    space: AttributeSpace

    @abc.abstractmethod
    def successors(self, words: UInt32[np.ndarray, "B W"]) -> Successors:
        """The transitions out of packed sets; a set that is not known has none."""

    @abc.abstractmethod
    def listing(self) -> "Listing":
        """All sets and transitions. A model that cannot list them will need another search than `planning.search`."""


class PractisedTransitions(TransitionModel):
    """A transition model whose statistics practice collects. Its methods return changed copies."""

    @abc.abstractmethod
    def with_pairs(self, source: UInt32[np.ndarray, "B W"], target: UInt32[np.ndarray, "B W"], visits: int = 0) -> Self:
        """The same with transitions between packed sets, each of which was visited that often besides."""

    @abc.abstractmethod
    def with_practice(
        self,
        attempts: Float[np.ndarray, " E"],
        successes: Float[np.ndarray, " E"],
        spent: Float[np.ndarray, " E"] | None = None,
    ) -> Self:
        """The same transitions with other statistics of practice, in the order of the listing."""

    def with_edges(self, other: TransitionModel) -> Self:
        """The same with the transitions of another model."""
        listed = other.listing()
        return self.with_pairs(listed.words[listed.source], listed.words[listed.target])

    def with_practice_of(self, practised: TransitionModel) -> Self:
        """The same with the statistics of practice of another model, all of whose transitions this one has."""
        listed, mine = practised.listing(), self.listing()
        places = listed.edges_in(mine)
        attempts, successes, spent = np.zeros((3, mine.num_edges))
        attempts[places], successes[places] = listed.attempts, listed.successes
        if listed.spent is None:
            return self.with_practice(attempts, successes)
        spent[places] = listed.spent
        return self.with_practice(attempts, successes, spent)


@dataclass(frozen=True)
class Listing(NumberedSets, TransitionModel):
    """A transition model as arrays, for exact search.

    visits: how often exploration observed the transition.
    attempts, successes: how often practice tried it, and arrived.
    probability: as in `Successors`.
    durations: calculates `steps`, which takes a while in a large model and is not needed by every plan.
    spent: environment steps that the attempts took; `None` if they were not counted.
    """

    space: AttributeSpace
    words: UInt32[np.ndarray, "N W"]
    source: Int[np.ndarray, " E"]
    target: Int[np.ndarray, " E"]
    visits: Float[np.ndarray, " E"]
    attempts: Float[np.ndarray, " E"]
    successes: Float[np.ndarray, " E"]
    probability: Float[np.ndarray, " E"]
    durations: Callable[[], Float[np.ndarray, " E"]]
    spent: Float[np.ndarray, " E"] | None = None

    @cached_property
    def steps(self) -> Float[np.ndarray, " E"]:
        """As in `Successors`."""
        return self.durations()

    def listing(self) -> "Listing":
        return self

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
            self.steps[edges],
            self.attempts[edges],
            self.successes[edges],
        )

    def evidence(self, edge: int) -> EdgeEvidence:
        """What is known of a transition."""
        statistics = (self.probability, self.attempts, self.successes, self.visits)
        return EdgeEvidence(*(float(each[edge]) for each in statistics))


def empty_listing(space: AttributeSpace) -> Listing:
    """No sets and no transitions."""
    ends, nothing = np.zeros(0, np.int32), np.zeros(0)
    words = np.zeros((0, space.num_words), np.uint32)
    return Listing(space, words, ends, ends, nothing, nothing, nothing, nothing, lambda: nothing)
