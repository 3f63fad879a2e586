import math
from dataclasses import replace

import pytest

from attribute_planner.errors import ConfigurationError
from attribute_planner.experiments.reliability.finite_numbers import (
    ALL_SETTINGS,
    TRAININGS,
    failing_training,
    numeric_settings,
)

OTHERS = sorted(TRAININGS.keys() - {"ppo"})


def test_no_setting_accepts_a_number_that_is_not_finite():
    settings = [each for every in ALL_SETTINGS for each in numeric_settings(every)]
    assert len(settings) > 100
    for part, field in settings:
        # Settings that must be integers are not given a float here: the checks of the test session refuse it first.
        wrong = 10**30 if field.type is int else math.nan
        with pytest.raises(ConfigurationError, match=field.name):
            replace(part, **{field.name: wrong})


@pytest.mark.parametrize("name", ["ppo", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_a_training_stops_at_an_update_that_is_not_finite_and_keeps_the_state_before(name: str):
    assert failing_training(name) == ""
