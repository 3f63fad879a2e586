"""Evidence for a split: success on its two sides, compared within strata."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int
from scipy import stats

Z95 = 1.959964
"""Half-width of a 95 % interval, in standard errors."""


@dataclass(frozen=True)
class Evidence:
    """Attempts by stratum, side of a split and outcome.

    counts: first axis: stratum; second: the split does not hold, holds; third: failed, arrived. Only strata with
        attempts on both sides.
    """

    counts: Int[np.ndarray, "S 2 2"]

    @property
    def attempts(self) -> tuple[int, int]:
        """Number of attempts where the split does not hold, and where it does."""
        outside, inside = self.counts.sum(axis=(0, 2)).tolist()
        return outside, inside

    @property
    def successes(self) -> tuple[int, int]:
        """Number of those that arrived."""
        outside, inside = self.counts[:, :, 1].sum(axis=0).tolist()
        return outside, inside

    @property
    def rates(self) -> tuple[float, float]:
        """Success rates of both sides; strata have the weights of Mantel and Haenszel, so that they do not bias it."""
        attempts = self.counts.sum(axis=2)
        weight = attempts.prod(axis=1) / np.maximum(attempts.sum(axis=1), 1)
        rate = self.counts[:, :, 1] / np.maximum(attempts, 1)
        outside, inside = ((weight[:, None] * rate).sum(axis=0) / max(weight.sum(), 1e-12)).tolist()
        return outside, inside

    @property
    def p_value(self) -> float:
        """One-sided test of Cochran, Mantel and Haenszel that success is no more likely where the split holds."""
        counts = self.counts.astype(float)
        total = counts.sum(axis=(1, 2))
        sides, outcomes = counts.sum(axis=2), counts.sum(axis=1)
        expected = sides[:, 1] * outcomes[:, 1] / total
        variance = sides.prod(axis=1) * outcomes.prod(axis=1) / (total**2 * np.maximum(total - 1, 1))
        if variance.sum() == 0:
            return 1.0
        excess = (counts[:, 1, 1] - expected).sum() - 0.5  # continuity correction
        return float(stats.norm.sf(excess / np.sqrt(variance.sum())))

    @property
    def auc(self) -> tuple[float, float, float]:
        """Area under the ROC curve of the split as a classifier of success, and the ends of its 95 % interval.

        The area is (1 + p − q)/2 with the shares p and q of successes and failures where the split holds; the interval
        of the difference is Newcombe's.
        """
        table = self.counts.sum(axis=0)
        held, total = table[1], table.sum(axis=0)
        (q, q_low, q_high), (p, p_low, p_high) = (
            _wilson(*each) for each in zip(held.tolist(), total.tolist(), strict=True)
        )
        low = p - q - np.hypot(p - p_low, q_high - q)
        high = p - q + np.hypot(p_high - p, q - q_low)
        return (1 + p - q) / 2, float(1 + low) / 2, float(1 + high) / 2


def evidence_for(
    holds: Bool[np.ndarray, " n"], reached: Bool[np.ndarray, " n"], stratum: Int[np.ndarray, " n"]
) -> Evidence:
    """The counts of attempts with these sides, outcomes and strata."""
    counts = np.zeros((stratum.max(initial=-1) + 1, 2, 2), int)
    np.add.at(counts, (stratum, holds.astype(int), reached.astype(int)), 1)
    return Evidence(counts[(counts.sum(axis=2) > 0).all(axis=1)])


def combined(one: Evidence, other: Evidence) -> Evidence:
    """The evidence of both; strata stay apart."""
    return Evidence(np.concatenate([one.counts, other.counts]))


def _wilson(successes: int, attempts: int) -> tuple[float, float, float]:
    """A proportion and Wilson's 95 % interval of it."""
    if attempts == 0:
        return 0.5, 0.0, 1.0
    p, z = successes / attempts, Z95
    centre = (p + z**2 / (2 * attempts)) / (1 + z**2 / attempts)
    half = z / (1 + z**2 / attempts) * np.sqrt(p * (1 - p) / attempts + z**2 / (4 * attempts**2))
    return float(p), float(centre - half), float(centre + half)
