"""The evidence of c_π of one transition."""

from dataclasses import dataclass


@dataclass(frozen=True)
class EdgeEvidence:
    """The evidence of one transition.

    probability: c_π.
    attempts, successes: of practice, old ones decayed if so configured.
    visits: how often exploration observed it.
    """

    probability: float
    attempts: float
    successes: float
    visits: float

    @property
    def is_tried(self) -> bool:
        """Whether practice attempted it; less than half an attempt is what decay leaves of an old one."""
        return self.attempts >= 0.5

    def __str__(self) -> str:
        if not self.is_tried:
            return f"untried: {percent(self.probability)} assumed"
        return f"{percent(self.probability)} ({self.successes:,.0f} of {max(self.attempts, 1):,.0f})"


def percent(share: float) -> str:
    """`37 %`; shares that are not quite 0 or 1 are not shown as such."""
    if 0 < share < 0.01:
        return "less than 1 %"
    if 0.99 < share < 1:
        return "more than 99 %"
    return f"{100 * share:.0f} %"
