"""Faults that are planted in a copy of the source, by subject."""

from attribute_planner.experiments.reliability.faults import (
    data,
    files,
    learning,
    phases,
    planning,
    programs,
    transitions,
)
from attribute_planner.experiments.reliability.faults.fault import Fault

FAULTS: tuple[Fault, ...] = tuple(
    fault for subject in (planning, transitions, files, learning, data, phases, programs) for fault in subject.FAULTS
)
