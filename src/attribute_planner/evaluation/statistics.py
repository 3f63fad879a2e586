"""95 % intervals of measurements."""

from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Interval:
    """Lower and upper end of a 95 % interval."""

    low: float
    high: float


def success_interval(successes: int, episodes: int) -> Interval:
    """Wilson's interval of a success rate; it stays within [0, 1], also at 0 % and 100 %."""
    result = stats.binomtest(successes, episodes).proportion_ci(0.95, method="wilson")
    return Interval(float(result.low), float(result.high))


def pooled_error(successes: int, episodes: int) -> float:
    """The standard error of a success rate over pooled episodes; Agresti and Coull's, which is positive at 0 and 1."""
    rate = (successes + 2) / (episodes + 4)
    return float(np.sqrt(rate * (1 - rate) / (episodes + 4)))


def mean_interval(
    values: np.ndarray, *, bounds: tuple[float, float] = (-np.inf, np.inf), least_error: float = 0.0
) -> Interval:
    """The t-interval of a mean over seeds, cut off at the bounds of the quantity.

    least_error: the standard error of the mean is at least this; equal seeds do not make a mean exact.
    """
    if len(values) < 2:
        return Interval(float("nan"), float("nan"))
    error = max(float(np.std(values, ddof=1)) / np.sqrt(len(values)), least_error)
    margin = float(stats.t.ppf(0.975, len(values) - 1)) * error
    mean = float(np.mean(values))
    return Interval(max(mean - margin, bounds[0]), min(mean + margin, bounds[1]))
