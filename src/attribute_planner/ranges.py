"""Ranges of settings. Each class of settings checks all of its settings where it is defined."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from attribute_planner.errors import ConfigurationError

LARGEST_INT = 2**31 - 1
"""Steps, epochs and updates are counted in 32 bits on the device."""


@dataclass(frozen=True)
class Range:
    """The finite numbers between two bounds.

    low, high: the bounds.
    open_low, open_high: whether the bound itself is excluded.
    """

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False

    def fault(self, value: float) -> str | None:
        """What a number in this range must be, if `value` is not; otherwise `None`."""
        if not math.isfinite(value):
            return "a finite number"
        if value < self.low or (self.open_low and value == self.low):
            return f"{'greater than' if self.open_low else 'at least'} {_number(self.low)}"
        if value > self.high or (self.open_high and value == self.high):
            return f"{'less than' if self.open_high else 'at most'} {_number(self.high)}"
        return None


POSITIVE = Range(0, 1e9, open_low=True)
NOT_NEGATIVE = Range(0, 1e9)
FRACTION = Range(0, 1)
BELOW_ONE = Range(0, 1, open_high=True)
STEP_SIZE = Range(0, 1, open_low=True)
"""Step sizes of optimisers, and other fractions that are not zero."""
REWARD = Range(-1, 1)
"""Rewards of single steps; reaching a target has the reward 1."""
REPEATS = Range(1, 1e6)
"""Mean numbers of steps."""
EXPONENT = Range(0, 10)
COUNT = Range(0, LARGEST_INT, open_low=True)
COUNT_OR_ZERO = Range(0, LARGEST_INT)
NUM_ENVS = Range(0, 2**20, open_low=True)
WIDTH = Range(0, 2**16, open_low=True)
"""Units of a layer."""
WIDTH_OR_ZERO = Range(0, 2**16)


def check_settings(settings: Any, **ranges: Range) -> None:
    """An error unless every setting of a dataclass has its type, and every number is in its range.

    ranges: the range of each number; `TypeError` if one has none, which is a mistake in the class.
    """
    for field in dataclasses.fields(settings):
        name, value = f"{type(settings).__name__}.{field.name}", getattr(settings, field.name)
        if field.type in (int, float):
            if field.name not in ranges:
                raise TypeError(f"{name} needs a range.")
            check_number(name, value, ranges[field.name], whole=field.type is int)
        elif isinstance(field.type, type) and not isinstance(value, field.type):
            raise ConfigurationError(f"{name} must be a {field.type.__name__}; it is {value!r}.")


def check_number(name: str, value: Any, allowed: Range, *, whole: bool = False) -> None:
    """An error unless `value` is a number, an integer if it must be `whole`, in a range."""
    kind: Any = Integral if whole else Real
    if isinstance(value, bool) or not isinstance(value, kind):
        raise ConfigurationError(f"{name} must be {'an integer' if whole else 'a number'}; it is {value!r}.")
    try:
        fault = allowed.fault(int(value) if whole else float(value))
    except OverflowError:  # an integer that no float can hold
        fault = f"at most {_number(allowed.high)}" if value > 0 else f"at least {_number(allowed.low)}"
    if fault is not None:
        raise ConfigurationError(f"{name} must be {fault}; it is {_shown(value)}.")


def require_positive(name: str, value: Any) -> None:
    """An error unless `value` is a positive integer."""
    check_number(name, value, COUNT, whole=True)


def check_seed(seed: Any) -> None:
    """An error unless `seed` can seed a random key."""
    check_number("seed", seed, SEED, whole=True)


def check_seeds(seeds: Any) -> None:
    """An error unless `seeds` are seeds of runs beside each other: at least one, none of them twice or negative."""
    if isinstance(seeds, str) or not isinstance(seeds, Sequence):
        raise ConfigurationError(f"seeds must be a sequence of integers, such as (0, 1, 2); it is {seeds!r}.")
    if not seeds:
        raise ConfigurationError("seeds must have at least one seed.")
    for seed in seeds:
        check_number("each of seeds", seed, Range(0, SEED.high), whole=True)
    if repeated := sorted({seed for seed in seeds if list(seeds).count(seed) > 1}):
        raise ConfigurationError(f"seeds must differ; {repeated[0]} is repeated.")


SEED = Range(-(2**31), 2**32 - 1)


def _number(bound: float) -> str:
    if not math.isfinite(bound):
        return "the largest float" if bound > 0 else "the smallest float"
    return "zero" if bound == 0 else f"{bound:,.0f}" if float(bound).is_integer() else f"{bound:g}"


def _shown(value: Any) -> str:
    """The value; of a long integer only its length."""
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**DIGITS else ""
    return text or f"an integer of {len(str(abs(value))) if abs(value) < 10**4000 else 'thousands of'} digits"


DIGITS = 25
