"""The split of observations that best separates success from failure: one condition, or two.

Conditions are chosen by `gain`: how much of the variance of the residuals (success less its mean in the stratum) a
split explains. Residuals have mean zero within every stratum, so a split that only separates strata gains nothing.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Int

from attribute_planner.environments.splits import Codes, Condition, Split, Threshold

MIN_SIDE = 5
"""Least number of attempts on each side of a split."""

MAX_COMPONENTS = 512
"""Components that are searched; if more of them vary, those most correlated with success."""

MAX_CODES = 32
"""Largest number of different integers of a component that is treated as a code."""

MAX_BLOCK = 1024
"""Largest size of a one-hot block."""

MIN_IMPROVEMENT = 1.05
"""A more complex kind of split is preferred if it gains more than a simpler one by this factor."""

SAMPLED_ROWS = 2000
"""Rows that are looked at to find one-hot blocks."""

Blocks = list[tuple[int, int]]
"""First component and size of each one-hot block."""

Features = Float[np.ndarray, "n D"]
Residual = Float[np.ndarray, " n"]
Search = Callable[[Features, Residual, Blocks], Split | None]


def best_split(features: Features, residual: Residual, blocks: Blocks, random: np.random.Generator) -> Split | None:
    """The best split of the kind that predicts best across two halves of the data; `None` if nothing varies."""
    half = random.permutation(len(residual)) % 2 == 0
    chosen, most = SEARCHES[0], _validated_gain(SEARCHES[0], features, residual, blocks, half)
    for search in SEARCHES[1:]:
        validated = _validated_gain(search, features, residual, blocks, half)
        if validated > MIN_IMPROVEMENT * max(most, 0.0):
            chosen, most = search, validated
    return chosen(features, residual, blocks)


def _validated_gain(search: Search, features: Features, residual: Residual, blocks: Blocks, half: np.ndarray) -> float:
    """The gain of splits that were found on one half and applied to the other."""
    total = 0.0
    for fitted in (half, ~half):
        found = search(features[fitted], residual[fitted] - residual[fitted].mean(), blocks)
        total += gain(np.asarray(found.holds(features[~fitted])), residual[~fitted]) if found is not None else 0.0
    return total


def gain(holds: Bool[np.ndarray, " n"], residual: Residual) -> float:
    """Sum of squares that the split explains; negative if success is rarer where it holds."""
    inside, outside = holds.sum(), (~holds).sum()
    if not inside or not outside:
        return 0.0
    difference = residual[holds].mean() - residual[~holds].mean()
    return float(np.sign(difference) * difference**2 * inside * outside / len(holds))


def threshold_split(features: Features, residual: Residual, blocks: Blocks) -> Split | None:
    """The best threshold of one component."""
    del blocks
    columns = _promising(features, residual)
    if not len(columns) or len(residual) < 2 * MIN_SIDE:
        return None
    n, x = len(residual), features[:, columns]
    order = np.argsort(x, axis=0, kind="stable")
    values = np.take_along_axis(x, order, axis=0)
    below = np.cumsum(residual[order], axis=0)[:-1]
    count = np.arange(1, n)[:, None]
    gains = below**2 * n / (count * (n - count))
    gains[values[1:] <= values[:-1]] = 0
    gains[: MIN_SIDE - 1], gains[n - MIN_SIDE :] = 0, 0
    column = int(gains.max(axis=0).argmax())
    row = int(gains[:, column].argmax())
    if gains[row, column] <= 0:
        return None
    middle = float(values[row, column] + (values[row + 1, column] - values[row, column]) / 2)
    return Split((Threshold(int(columns[column]), middle, above=bool(below[row, column] < 0)),))


def code_split(features: Features, residual: Residual, blocks: Blocks) -> Split | None:
    """The best subset of the values of one component, or of the categories of one one-hot block."""
    best, best_gain = None, 0.0
    for start, size, codes in _categories(features, residual, blocks):
        chosen = _best_subset(codes, residual)
        value = gain(np.isin(codes, chosen), residual)
        if len(chosen) and value > best_gain:
            best, best_gain = Codes(start, size, tuple(chosen.tolist())), value
    return None if best is None else Split((best,))


def both_split(features: Features, residual: Residual, blocks: Blocks) -> Split | None:
    """Two conditions that must both hold: the best one, and the best one where that holds."""
    return _second(features, residual, blocks, where_first_holds=True)


def either_split(features: Features, residual: Residual, blocks: Blocks) -> Split | None:
    """Two conditions of which one must hold: the best one, and the best one where that does not hold."""
    return _second(features, residual, blocks, where_first_holds=False)


SEARCHES: tuple[Search, ...] = (threshold_split, code_split, both_split, either_split)
"""The kinds of splits, the simplest first; a later one must be better by `MIN_IMPROVEMENT`."""


def _second(features: Features, residual: Residual, blocks: Blocks, *, where_first_holds: bool) -> Split | None:
    first = _best_condition(features, residual, blocks)
    if first is None:
        return None
    rows = first.holds(features) == where_first_holds
    second = _best_condition(features[rows], residual[rows] - residual[rows].mean(), blocks)
    return None if second is None else Split((first, second), any_of=not where_first_holds)


def _best_condition(features: Features, residual: Residual, blocks: Blocks) -> Condition | None:
    """The better one of a threshold and a small set of codes."""
    few = [(start, size) for start, size in blocks if size <= MAX_CODES]
    found = [split for search in (threshold_split, code_split) if (split := search(features, residual, few))]
    gains = [gain(np.asarray(split.holds(features)), residual) for split in found]
    return found[int(np.argmax(gains))].conditions[0] if found else None


def _promising(features: Features, residual: Residual) -> Int[np.ndarray, " k"]:
    """The components that vary, those most correlated with success if there are many."""
    varies = np.flatnonzero((features != features[:1]).any(axis=0)) if len(features) else np.zeros(0, int)
    if len(varies) <= MAX_COMPONENTS:
        return varies
    x = features[:, varies] - features[:, varies].mean(axis=0)
    correlation = np.abs(residual @ x) / np.sqrt((x**2).sum(axis=0))
    return np.sort(varies[np.argsort(-correlation, kind="stable")[:MAX_COMPONENTS]])


def _categories(features: Features, residual: Residual, blocks: Blocks) -> list[tuple[int, int, np.ndarray]]:
    """First component, size and `int[n]` code of everything that takes one of a few values, three at least."""
    found = []
    for start, size in blocks:
        codes = features[:, start : start + size].argmax(axis=1)
        if (codes != codes[:1]).any():
            found.append((start, size, codes))
    for column in _promising(features, residual).tolist():
        values = features[:, column]
        if (values == np.round(values)).all() and 3 <= len(np.unique(values)) <= MAX_CODES:
            found.append((column, 1, values.astype(int)))
    return found


def _best_subset(codes: Int[np.ndarray, " n"], residual: Residual) -> Int[np.ndarray, " k"]:
    """The codes whose union has the largest gain: a prefix of the codes sorted by their mean residual."""
    values, code = np.unique(codes, return_inverse=True)
    count, total = np.bincount(code), np.bincount(code, weights=residual)
    order = np.argsort(-total / count, kind="stable")
    inside, sums = np.cumsum(count[order])[:-1], np.cumsum(total[order])[:-1]
    outside = len(codes) - inside
    gains = np.where((inside >= MIN_SIDE) & (outside >= MIN_SIDE), sums**2 / (inside * np.maximum(outside, 1)), 0)
    if not len(gains) or gains.max() <= 0:
        return values[:0]
    return np.sort(values[order[: int(gains.argmax()) + 1]])


def one_hot_blocks(features: Features) -> Blocks:
    """Runs of consecutive components that are always the one-hot form of a category, in a sample of the rows."""
    features = features[:: 1 + len(features) // SAMPLED_ROWS]
    is_bit = ((features == 0) | (features == 1)).all(axis=0)
    blocks, start = [], 0
    while start < features.shape[1]:
        size = _block_size(features, is_bit, start) if len(features) else 0
        if size > 1:
            blocks.append((start, size))
        start += max(size, 1)
    return blocks


def _block_size(features: Features, is_bit: np.ndarray, start: int) -> int:
    """The size of the one-hot block that begins at a component; 0 if none does."""
    total = np.zeros(len(features))
    for end in range(start, min(start + MAX_BLOCK, features.shape[1])):
        if not is_bit[end]:
            return 0
        total += features[:, end]
        if total.max() > 1:
            return 0
        if total.min() == 1:
            return end + 1 - start
    return 0
