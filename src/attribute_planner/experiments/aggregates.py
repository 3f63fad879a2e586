"""Aggregates: the mean and interval of a number over seeds, and its comparison with the paper's."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attribute_planner.evaluation.statistics import Interval, mean_interval, pooled_error, success_interval
from attribute_planner.experiments.records import Record
from attribute_planner.experiments.runs import Measurement
from attribute_planner.experiments.tables.layout import COUNT, ERROR, Source


@dataclass(frozen=True)
class Aggregate:
    """A number over seeds.

    mean: over seeds; in % where its column is.
    interval: 95 % interval of the mean, within the bounds of the quantity; `None` for a scalar of a single seed.
    seeds: number of seeds.
    extremes: the smallest and the largest seed.
    """

    mean: float
    interval: Interval | None
    seeds: int
    extremes: tuple[float, float]


def aggregate_of(source: Source, records: Sequence[Record], kind: str) -> Aggregate | None:
    """The number of a source over all seeds; `None` if nothing is measured yet."""
    mine = [record for record in records if record.run_spec == source.run_spec]
    if isinstance(source.value, Measurement):
        return _success(source.value, mine)
    values = np.array([record.scalars[source.value] for record in mine if source.value in record.scalars])
    if not len(values):
        return None
    values = values if kind == COUNT else 100 * values
    most = float("inf") if kind == COUNT else 100.0
    return _aggregate(values, mean_interval(values, bounds=(0.0, most)) if len(values) > 1 else None)


def _success(measurement: Measurement, records: Sequence[Record]) -> Aggregate | None:
    results = [result for record in records if (result := record.result(measurement)) is not None]
    if not results:
        return None
    rates = np.array([result.success for result in results])
    episodes = sum(result.episodes for result in results)
    successes = round(sum(result.success * result.episodes for result in results))
    if len(rates) == 1:
        interval = success_interval(successes, episodes)
    else:
        interval = mean_interval(rates, bounds=(0.0, 1.0), least_error=pooled_error(successes, episodes))
    return _aggregate(100 * rates, Interval(100 * interval.low, 100 * interval.high))


def _aggregate(values: np.ndarray, interval: Interval | None) -> Aggregate:
    return Aggregate(float(values.mean()), interval, len(values), (float(values.min()), float(values.max())))


HIGHER, LOWER, ALIKE = "higher", "lower", "alike"


def compared(number: Aggregate, reference: float, *, bound: bool = False) -> str:
    """Whether our mean differs from the paper's number, which is taken as exact.

    The test is the one that belongs to the interval: a two-sided one-sample t-test over seeds at the level 5 %, or for
    a single seed Wilson's score test over its tasks. It does not reject iff the interval contains the paper's number.
    Where the paper gives an upper bound, every smaller number is alike.
    """
    if number.mean == reference or (bound and number.mean < reference):
        return ALIKE
    if number.interval is not None and number.interval.low <= reference <= number.interval.high:
        return ALIKE
    return HIGHER if number.mean > reference else LOWER


def shown(value: float, kind: str) -> str:
    """A number as text."""
    if kind == COUNT:
        return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.1f}"
    if kind == ERROR:
        return f"{value:.3g}"
    return f"{value:.0f}" if value in (0, 100) else f"{value:.1f}"


def shown_of_paper(value: float | None, kind: str, *, bound: bool = False) -> str:
    """A number of the paper as text; a dash if there is none."""
    if value is None:
        return "–"
    return f"< {shown(value, kind)}" if bound else shown(value, kind)


def shown_aggregate(number: Aggregate | None, kind: str) -> str:
    """A mean with its interval as text."""
    if number is None:
        return "not measured yet"
    value, interval = shown(number.mean, kind), number.interval
    return value if interval is None else f"{value} [{shown(interval.low, kind)}, {shown(interval.high, kind)}]"
