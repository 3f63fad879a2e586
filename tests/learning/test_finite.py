import math

import jax.numpy as jnp
import pytest

from attribute_planner.errors import NumericalError
from attribute_planner.learning.finite import all_finite, require_finite


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_named_with_the_place(value: float):
    with pytest.raises(NumericalError, match=rf"^practise, 7 steps: loss is {value}\."):
        require_finite("practise, 7 steps", {"steps": 7, "loss": value})
    with pytest.raises(NumericalError, match="a weight is not finite"):
        require_finite("explore", {"loss": 1.0}, {"weight": jnp.array([0.0, value])})


def test_finite_numbers_pass():
    require_finite("explore", {"loss": 1.0}, (jnp.zeros(2), None, 3))
    assert bool(all_finite({"numbers": jnp.arange(3)}))
