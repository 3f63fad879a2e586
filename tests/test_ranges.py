import math
from dataclasses import dataclass

import pytest

from attribute_planner.errors import ConfigurationError
from attribute_planner.ranges import (
    BELOW_ONE,
    COUNT,
    FRACTION,
    POSITIVE,
    Range,
    check_seed,
    check_seeds,
    check_settings,
)


@pytest.mark.parametrize(
    ("allowed", "value", "fault"),
    [
        (POSITIVE, 1e-9, None),
        (POSITIVE, 0, "greater than zero"),
        (FRACTION, 0, None),
        (FRACTION, 1, None),
        (FRACTION, 1.0001, "at most 1"),
        (FRACTION, -0.1, "at least zero"),
        (BELOW_ONE, 1, "less than 1"),
        (COUNT, 2**31, "at most 2,147,483,647"),
        (POSITIVE, math.nan, "a finite number"),
        (POSITIVE, 1e10, "at most 1,000,000,000"),
        (Range(), math.inf, "a finite number"),
    ],
)
def test_a_range_says_what_a_number_must_be(allowed: Range, value: float, fault: str | None):
    assert allowed.fault(value) == fault


@dataclass(frozen=True)
class Settings:
    count: object
    share: object = 0.5
    on: object = True

    def __post_init__(self) -> None:
        check_settings(self, count=COUNT, share=FRACTION)


for field, kind in (("count", int), ("share", float), ("on", bool)):
    Settings.__dataclass_fields__[field].type = kind  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"count": 0}, "Settings.count must be greater than zero; it is 0."),
        ({"count": 1.5}, "Settings.count must be an integer; it is 1.5."),
        ({"count": True}, "Settings.count must be an integer; it is True."),
        ({"count": 10**30}, "Settings.count must be at most 2,147,483,647; it is an integer of 31 digits."),
        ({"count": 1, "share": math.nan}, "Settings.share must be a finite number; it is nan."),
        ({"count": 1, "share": 10**400}, "Settings.share must be at most 1; it is an integer of 401 digits."),
        ({"count": 1, "share": "half"}, "Settings.share must be a number; it is 'half'."),
        ({"count": 1, "on": 1}, "Settings.on must be a bool; it is 1."),
    ],
)
def test_wrong_settings_are_named_in_one_line(wrong: dict, said: str):
    with pytest.raises(ConfigurationError) as error:
        Settings(**wrong)
    assert str(error.value) == said


def test_a_number_without_a_range_is_a_mistake_in_the_class():
    @dataclass(frozen=True)
    class Forgetful:
        number: int = 1

    with pytest.raises(TypeError, match=r"Forgetful\.number needs a range"):
        check_settings(Forgetful())


@pytest.mark.parametrize("seed", [10**25, 1.5, "0", None])
def test_seeds_are_integers_of_32_bits(seed: object):
    with pytest.raises(ConfigurationError, match="seed must be"):
        check_seed(seed)
    check_seed(2**32 - 1)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ((), "seeds must have at least one seed"),
        ((1, 2, 1), "seeds must differ; 1 is repeated"),
        ((0, -1), "each of seeds must be at least zero; it is -1"),
        ((0, 1.5), "each of seeds must be an integer; it is 1.5"),
        (3, r"seeds must be a sequence of integers, such as \(0, 1, 2\); it is 3"),
        ("012", "seeds must be a sequence of integers"),
    ],
)
def test_several_seeds_are_different_ones(seeds: object, message: str):
    with pytest.raises(ConfigurationError, match=message):
        check_seeds(seeds)
    check_seeds((0, 1, 2))
    check_seeds(range(3))
