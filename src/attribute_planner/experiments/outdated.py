"""Records that were made with other settings than today's: shown, and marked, until there are newer ones."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from attribute_planner.experiments.records import Record
from attribute_planner.experiments.run_one import has_settings
from attribute_planner.experiments.run_specs import RUN_SPECS
from attribute_planner.experiments.runs import Measurement, Run
from attribute_planner.experiments.tables.layout import Source


def outdated_runs(records: Iterable[Record]) -> frozenset[str]:
    """The names of the runs whose records have other settings than today's."""
    known = [record for record in records if record.run_spec in RUN_SPECS]
    return frozenset(
        record.run
        for record in known
        if not _is_current(record.run_spec, record.scale, json.dumps(record.configuration["config"], sort_keys=True))
    )


@cache
def _is_current(run_spec: str, scale: str, config: str) -> bool:
    """Whether saved settings are today's. The tables ask for each record many times."""
    return has_settings(json.loads(config), Run(RUN_SPECS[run_spec], 0, scale))


def newest(records: Sequence[Record]) -> list[Record]:
    """The records; an outdated one without what a newer one of the same run specification has as well."""
    outdated = outdated_runs(records)
    newer: dict[str, list[Record]] = {}
    for record in records:
        if record.run not in outdated:
            newer.setdefault(record.run_spec, []).append(record)
    return [
        _without(record, newer[record.run_spec]) if record.run in outdated and record.run_spec in newer else record
        for record in records
    ]


def _without(record: Record, newer: Sequence[Record]) -> Record:
    measured = {result.measurement for each in newer for result in each.results}
    kept = [result for result in record.results if result.measurement not in measured]
    return replace(record, results=kept, scalars={}, curves={})


def is_outdated(source: Source, records: Iterable[Record], outdated: frozenset[str]) -> bool:
    """Whether a number comes from outdated records."""
    return any(
        record.run in outdated and _has(record, source.value)
        for record in records
        if record.run_spec == source.run_spec
    )


def _has(record: Record, value: Measurement | str) -> bool:
    return value in record.scalars if isinstance(value, str) else record.result(value) is not None
