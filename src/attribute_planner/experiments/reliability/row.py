"""A row of the table of reliability."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """What a measurement has shown.

    name: what was measured.
    measured: the numbers, in words.
    passed: whether everything is as promised in docs/reliability.md.
    seconds: the duration of the measurement.
    """

    name: str
    measured: str
    passed: bool
    seconds: float
