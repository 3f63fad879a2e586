"""Transitions on plans that rarely succeed, or were rarely attempted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attribute_planner.aliasing.records import change_words
from attribute_planner.diagnosis.finding import Finding
from attribute_planner.diagnosis.tasks import Asked
from attribute_planner.diagnosis.wording import attempts_words, percent
from attribute_planner.transitions.model import Listing
from attribute_planner.transitions.similar import changes_of

MIN_IMPORTANCE = 0.02
"""Transitions that fail a smaller share of the goals are not reported."""

MAX_SUCCESS = 0.98
"""Transitions that succeed more often are not reported, if they were tried often."""

FEW_ATTEMPTS = 10
"""A transition with fewer attempts was rarely attempted."""

TINY = 1e-6
"""Least probability of a transition, so that its logarithm is finite."""


@dataclass(frozen=True)
class WeakChange:
    """A change of attributes on plans, made by one or more edges.

    change: the change as text.
    loss: estimated share of the goals that fail because of it.
    share: share of the goals whose plans contain it.
    attempts, successes: of its edges on plans.
    edges: number of these edges.
    """

    change: str
    loss: float
    share: float
    attempts: float
    successes: float
    edges: int = 1

    @property
    def is_new(self) -> bool:
        """Whether it was rarely attempted."""
        return self.attempts < FEW_ATTEMPTS * self.edges

    @property
    def is_weak(self) -> bool:
        """Whether it fails noticeably often."""
        return self.successes < MAX_SUCCESS * self.attempts and round(self.successes) < round(self.attempts)


def weak_changes(listing: Listing, asked: Sequence[Asked]) -> list[WeakChange]:
    """The changes on plans, those that fail most goals first.

    The chance that a plan fails is divided among its edges in proportion to −log of their success.
    """
    cost = -np.log(np.maximum(cautious_success(listing), TINY))
    loss, share = np.zeros(listing.num_edges), np.zeros(listing.num_edges)
    for each in asked:
        edges = [listing.edge(*pair) for pair in zip(each.plan.path, each.plan.path[1:], strict=False)]
        total = cost[edges].sum()
        if total > 0:
            loss[edges] += each.weight * (1 - np.exp(-total)) * cost[edges] / total
            share[edges] += each.weight
    changes: dict[str, list[int]] = {}
    for edge in np.flatnonzero(share).tolist():
        changes.setdefault(_words(listing, edge), []).append(edge)
    weak = [_change(listing, edges, loss, share) for edges in changes.values()]
    return sorted(weak, key=lambda each: -each.loss)


def weak_edges(weak: Sequence[WeakChange]) -> list[Finding]:
    """The changes that fail a noticeable share of the goals."""
    return [_finding(each) for each in weak if each.loss >= MIN_IMPORTANCE and (each.is_new or each.is_weak)]


def cautious_success(listing: Listing) -> np.ndarray:
    """`[E]` the chance of success; without attempts, it is that of the same change elsewhere, or a half."""
    if not listing.attempts.any():
        return listing.probability
    group = changes_of(listing)
    attempts, successes = (np.bincount(group, weights=each)[group] for each in (listing.attempts, listing.successes))
    elsewhere = (successes - listing.successes + 1) / (attempts - listing.attempts + 2)
    return np.minimum((listing.successes + 2 * elsewhere) / (listing.attempts + 2), 1.0)


def _words(listing: Listing, edge: int, *, rest: bool = False) -> str:
    before, after = listing.values[listing.source[edge]], listing.values[listing.target[edge]]
    return change_words(listing.space, before, after, rest=rest)


def _change(listing: Listing, edges: list[int], loss: np.ndarray, share: np.ndarray) -> WeakChange:
    return WeakChange(
        _words(listing, edges[0], rest=len(edges) == 1),
        float(loss[edges].sum()),
        min(float(share[edges].sum()), 1.0),
        float(listing.attempts[edges].sum()),
        float(listing.successes[edges].sum()),
        len(edges),
    )


def _finding(weak: WeakChange) -> Finding:
    tried = f"succeeded in {weak.successes:.0f} of {attempts_words(weak.attempts)}"
    advice = "Train for more steps, or allow longer attempts (practise.max_attempt_steps)"
    if weak.is_new:
        each = "" if weak.edges == 1 else f" at {weak.edges} transitions"
        tried = f"was rarely attempted ({attempts_words(weak.attempts)}{each})"
        advice = "Train for more steps"
    elif weak.successes < weak.attempts / 2:
        advice += ", or add finer attributes on the way"
        advice += "; if it is only possible from some states, add the attribute that distinguishes them"
    message = f"Changing {weak.change} {tried}, and {percent(weak.share)} of the plans need it. {advice}."
    evidence = {
        "change": weak.change,
        "attempts": weak.attempts,
        "successes": weak.successes,
        "share_of_plans": weak.share,
    }
    return Finding("weak-edge", message, weak.loss, evidence)
