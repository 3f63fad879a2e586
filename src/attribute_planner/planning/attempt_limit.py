"""How long attempts last in an episode, and what it tells that one has not arrived yet."""

from typing import NamedTuple

import numpy as np


class AttemptLimit(NamedTuple):
    """The steps after which the plan is reconsidered.

    longest: steps after which an attempt has failed, as in practice (t_max).
    median: the median duration of the attempts of practice that arrived; infinite if that is not known.
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
