"""Waypoints: hidden attributes that divide ways which attempts seldom manage.

An attribute may follow from a few components of the observation by thresholds, as the quadrant of a disc does from its
position. It changes where one of them crosses a threshold. If attempts at such changes hardly ever succeed, and are not
improving either, the way there is too long to be learned as one transition; thresholds in between make several shorter
ones of it.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int

from attribute_planner.aliasing.records import AttemptRecord
from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.splits import ComponentName, Split, Threshold, indexed_name

SELDOM, MIN_ATTEMPTS = 0.2, 100
"""Success rate below which ways are divided, of all attempts and of those at an attribute, and the number of attempts
from which it counts."""

MIN_ACCURACY = 0.95
"""Least share of observations whose value of an attribute follows from thresholds."""

MAX_DEPTH, MIN_ROWS = 5, 10
"""Largest number of thresholds that decide together, and least number of observations that are divided further."""

MIN_DISTANCE = 0.1
"""Thresholds that are closer than this share of the range of a component are the same."""

FEWEST_PLACES = 8
"""A component with whole values is a number, such as a row of a grid, if it takes so many; otherwise it is a code."""

MAX_SETS = 1024
"""Ways are not divided if that would make more combinations of intervals than these."""


@dataclass(frozen=True)
class Waypoint:
    """A hidden attribute on the way to a change that attempts seldom manage."""

    threshold: Threshold
    message: str

    @property
    def split(self) -> Split:
        """It is true where the threshold holds."""
        return Split((self.threshold,))


def find_waypoints(
    records: AttemptRecord,
    observation: Float[np.ndarray, "n D"],
    values: Int[np.ndarray, "n A"],
    space: AttributeSpace,
    *,
    horizon: float = 0,
    numbers: Int[np.ndarray, " d"] | None = None,
    component_name: ComponentName = indexed_name,
) -> list[Waypoint]:
    """Waypoints for the attributes whose changes seldom succeed, if they follow from numbers in the observation.

    observation, values: flat observations of any steps, and the attributes there.
    horizon: the time, in the unit of `records.epoch`, by which attempts that improve may still come to succeed.
    numbers: the components that are numbers; by default all. Those that turn out to be codes are left out.
    component_name: the name of a component of the flat observation, for messages.
    """
    source, target = (np.asarray(space.unpack(words)) for words in (records.source, records.target))
    changes = source != target
    attempts, successes = changes.sum(axis=0), (changes & records.reached[:, None]).sum(axis=0)
    if len(records) < MIN_ATTEMPTS or expected_success(records, horizon) >= SELDOM:
        return []
    hard = np.flatnonzero((attempts > 0) & (successes < SELDOM * attempts))
    numbers = _without_codes(observation, np.arange(observation.shape[1]) if numbers is None else numbers)
    found: dict[int, tuple[int, list[float]]] = {}
    for attribute in hard.tolist():
        for column, thresholds in (thresholds_of(observation[:, numbers], values[:, attribute]) or {}).items():
            found.setdefault(int(numbers[column]), (attribute, thresholds))
    between = {
        component: (attribute, halfway(thresholds, observation[:, component]))
        for component, (attribute, thresholds) in found.items()
    }
    if np.prod([float(2 * len(values)) for _, values in between.values()]) > MAX_SETS:
        return []
    rate = [f"{share:.0%}".replace("%", " %") for share in successes / np.maximum(attempts, 1)]
    return [
        Waypoint(
            Threshold(component, value),
            f"Changing {space.names[attribute]} succeeded in {rate[attribute]} of {attempts[attribute]} attempts; "
            f"whether {component_name(component)} > {value:.3g} divides the way.",
        )
        for component, (attribute, values) in between.items()
        for value in values
    ]


def expected_success(records: AttemptRecord, horizon: float) -> float:
    """The success rate so far, or that at a later time if it is higher.

    The line that fits the attempts over time is extended to that time, and one standard error added.
    """
    rate = float(records.reached.mean())
    if records.epoch is None or horizon <= records.epoch.max():
        return rate
    line = np.stack([np.ones(len(records)), records.epoch / horizon], axis=1)
    inverse = np.linalg.pinv(line.T @ line)
    later = float((inverse @ line.T @ records.reached).sum())
    prior = (records.reached.sum() + 1) / (len(records) + 2)
    return max(rate, later + float(np.sqrt(prior * (1 - prior) * inverse.sum())))


def thresholds_of(features: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"]) -> dict[int, list[float]] | None:
    """The thresholds of each component from which the labels follow; `None` if they do not, or are all the same."""
    found, errors = _tree(features, np.unique(labels, return_inverse=True)[1], MAX_DEPTH)
    if not found or errors > (1 - MIN_ACCURACY) * len(labels):
        return None
    return {
        column: _apart(sorted(value for at, value in found if at == column), float(np.ptp(features[:, column])))
        for column in sorted({at for at, _ in found})
    }


def halfway(thresholds: list[float], component: Float[np.ndarray, " n"]) -> list[float]:
    """The middle of each interval between thresholds, and between them and the ends of the range."""
    ends = [float(component.min()), *thresholds, float(component.max())]
    return [(low + high) / 2 for low, high in pairwise(ends)]


def _without_codes(observation: Float[np.ndarray, "n D"], numbers: Int[np.ndarray, " d"]) -> Int[np.ndarray, " k"]:
    """Those of the components that have values between whole ones, or at least `FEWEST_PLACES` whole ones."""
    columns = observation[:, numbers]
    whole = (columns == np.round(columns)).all(axis=0)
    different = 1 + (np.diff(np.sort(columns, axis=0), axis=0) > 0).sum(axis=0)
    return numbers[~whole | (different >= FEWEST_PLACES)]


def _tree(
    features: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"], depth: int
) -> tuple[list[tuple[int, float]], int]:
    """The components and thresholds of a decision tree, and the number of observations that it gets wrong."""
    errors = len(labels) - int(np.bincount(labels).max(initial=0))
    if not depth or len(labels) < MIN_ROWS or errors <= (1 - MIN_ACCURACY) * len(labels) or not features.shape[1]:
        return [], errors
    best = _best_threshold(features, labels)
    if best is None:
        return [], errors
    column, value = best
    above: Bool[np.ndarray, " n"] = features[:, column] > value
    (low, low_errors), (high, high_errors) = (
        _tree(features[side], labels[side], depth - 1) for side in (~above, above)
    )
    return [best, *low, *high], low_errors + high_errors


def _best_threshold(features: Float[np.ndarray, "n d"], labels: Int[np.ndarray, " n"]) -> tuple[int, float] | None:
    """The component and threshold after which most pairs of observations on a side have the same label."""
    order = np.argsort(features, axis=0, kind="stable")
    values = np.take_along_axis(features, order, axis=0)
    below = np.cumsum(np.eye(labels.max() + 1)[labels][order], axis=0)
    above, below = below[-1] - below[:-1], below[:-1]
    count = np.arange(1, len(labels))[:, None]
    alike = (below**2).sum(axis=-1) / count + (above**2).sum(axis=-1) / (len(labels) - count)
    alike[values[1:] <= values[:-1]] = 0
    row, column = np.unravel_index(int(alike.argmax()), alike.shape)
    if alike[row, column] <= 0:
        return None
    return int(column), float(values[row, column] + values[row + 1, column]) / 2


def _apart(thresholds: list[float], extent: float) -> list[float]:
    """The thresholds in order, those that are close to each other as their mean."""
    groups = [[thresholds[0]]]
    for value in thresholds[1:]:
        if value - groups[-1][-1] < MIN_DISTANCE * extent:
            groups[-1].append(value)
        else:
            groups.append([value])
    return [float(np.mean(group)) for group in groups]
