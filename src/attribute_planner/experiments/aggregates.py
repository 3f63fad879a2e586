"""Numbers of the tables: what the records of all seeds come to, and how that compares with the paper's."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attribute_planner.evaluation.statistics import Interval, mean_interval, success_interval
from attribute_planner.experiments.records import Record
from attribute_planner.experiments.runs import Measurement
from attribute_planner.experiments.tables.layout import COUNT, ERROR, Source


@dataclass(frozen=True)
class Number:
    """A number of ours.

    mean: over seeds; in % where its column is.
    interval: the 95 % t-interval over seeds; for one seed, Wilson's of its tasks; `None` where there is neither.
    plausible: what the number may be in truth: that interval, and Wilson's for the tasks of all seeds together.
    seeds: how many there are.
    extremes: the least and the greatest of them.
    """

    mean: float
    interval: Interval | None
    plausible: Interval | None
    seeds: int
    extremes: tuple[float, float]


def number_of(source: Source, records: Sequence[Record], kind: str) -> Number | None:
    """What the records of all seeds come to; `None` where nothing is measured yet."""
    mine = [record for record in records if record.subject == source.subject]
    if isinstance(source.value, Measurement):
        return _success(source.value, mine)
    values = np.array([record.scalars[source.value] for record in mine if source.value in record.scalars])
    if not len(values):
        return None
    values = values if kind == COUNT else 100 * values
    interval = mean_interval(values) if len(values) > 1 else None
    extremes = float(values.min()), float(values.max())
    return Number(float(values.mean()), interval, interval, len(values), extremes)


def _success(measurement: Measurement, records: Sequence[Record]) -> Number | None:
    results = [result for record in records if (result := record.result(measurement)) is not None]
    if not results:
        return None
    rates = np.array([result.success for result in results])
    episodes = sum(result.episodes for result in results)
    of_tasks = success_interval(round(sum(result.success * result.episodes for result in results)), episodes)
    over_seeds = mean_interval(rates) if len(rates) > 1 else of_tasks
    plausible = Interval(min(of_tasks.low, over_seeds.low), max(of_tasks.high, over_seeds.high))
    extremes = 100 * float(rates.min()), 100 * float(rates.max())
    return Number(100 * float(rates.mean()), _percent(over_seeds), _percent(plausible), len(rates), extremes)


def _percent(interval: Interval) -> Interval:
    return Interval(100 * interval.low, 100 * interval.high)


HIGHER, LOWER, ALIKE = "higher", "lower", "alike"


def compared(number: Number, reference: float, *, bound: bool = False) -> str:
    """Whether our number is higher or lower than the paper's, or the paper's lies where ours may be in truth.

    Where the paper only has a bound, whatever is below it is alike.
    """
    if bound and number.mean < reference:
        return ALIKE
    if number.plausible is not None and number.plausible.low <= reference <= number.plausible.high:
        return ALIKE
    if number.mean == reference:
        return ALIKE
    return HIGHER if number.mean > reference else LOWER


def shown(value: float, kind: str) -> str:
    """A number as people read it."""
    if kind == COUNT:
        return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.1f}"
    if kind == ERROR:
        return f"{value:.3g}"
    return "100" if value == 100 else f"{value:.1f}"


def shown_of_paper(value: float | None, kind: str, *, bound: bool = False) -> str:
    """A number of the paper, or that it has none; a bound as one."""
    if value is None:
        return "–"
    return f"< {shown(value, kind)}" if bound else shown(value, kind)


def shown_number(number: Number | None, kind: str) -> str:
    """A number of ours with its interval: a margin for several seeds, both ends for one."""
    if number is None:
        return "not measured yet"
    value, interval = shown(number.mean, kind), number.interval
    if interval is None:
        return value
    if number.seeds == 1:
        return f"{value} [{shown(interval.low, kind)}, {shown(interval.high, kind)}]"
    return f"{value} ± {shown((interval.high - interval.low) / 2, kind)}"
