"""How long attempts last in an episode, and what it tells that one has not arrived yet."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from attribute_planner.transitions.edge_numbers import EdgeNumbers
from attribute_planner.transitions.model import Listing


class AttemptLimit(NamedTuple):
    """The steps of an attempt after which the plan is reconsidered.

    longest: steps after which an attempt has failed, as in practice (t_max).
    median: steps within which half of the attempts of practice that arrived did so; infinite if that is not known.
    """

    longest: int
    median: float = np.inf

    def is_over(self, steps: int) -> bool:
        """Whether to reconsider after this many steps of an attempt."""
        return steps >= min(self.longest, self.median)

    def failure(self, steps: int) -> float:
        """The fraction of a failed attempt that these steps are: that of successful attempts that take no longer."""
        if steps >= self.longest:
            return 1.0
        return 0.5 * min(steps / self.median, 1.0) if self.median < self.longest else steps / self.longest


class AttemptLimits:
    """The limit of the attempts at each transition of a table.

    longest: as in `AttemptLimit`.
    arrival_steps: mean steps of the attempts of practice that arrived; `None` if they were not measured.
    """

    def __init__(self, longest: int, listing: Listing, arrival_steps: EdgeNumbers | None) -> None:
        self._longest, self._listing, self._measured = longest, listing, arrival_steps

    def of(self, source: Int[np.ndarray, " A"], target: Int[np.ndarray, " A"]) -> AttemptLimit:
        """The limit of attempts from one set at another: durations are modelled as exponential.

        Where none was measured, the median of the other transitions takes its place.
        """
        if self._measured is None:
            return AttemptLimit(self._longest)
        before, after = (np.asarray(self._listing.space.pack(each[None])) for each in (source, target))
        edge, known = self._listing.known_edges(before, after)
        mean = self._means[edge[0]] if known[0] else self._usual
        return AttemptLimit(self._longest, max(float(np.log(2) * mean), 1.0))

    @cached_property
    def _usual(self) -> float:
        assert self._measured is not None
        return float(np.median(self._measured.number))

    @cached_property
    def _means(self) -> Float[np.ndarray, " E"]:
        assert self._measured is not None
        means = self._measured.of_edges(self._listing)
        return np.where(np.isnan(means), self._usual, means)
