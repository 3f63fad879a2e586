"""Intervals for what was measured."""

from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Interval:
    """low and high end of a 95 % interval."""

    low: float
    high: float


def success_interval(successes: int, episodes: int) -> Interval:
    """Wilson's interval for a success rate: sensible also at 0 % and 100 %."""
    result = stats.binomtest(successes, episodes).proportion_ci(0.95, method="wilson")
    return Interval(float(result.low), float(result.high))


def mean_interval(values: np.ndarray) -> Interval:
    """The t-interval of a mean over seeds; with few seeds a bootstrap would promise too much."""
    if len(values) < 2:
        return Interval(float("nan"), float("nan"))
    margin = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return Interval(float(np.mean(values) - margin), float(np.mean(values) + margin))
