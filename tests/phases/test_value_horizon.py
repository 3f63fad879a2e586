"""The horizon of values follows from how long transitions take."""

import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.attributes import AttributeSpace
from attribute_planner.phases.value_horizon import usual_steps, value_discount
from attribute_planner.transitions.model import Listing

T_MAX = 80


def practised(successes: list[float], spent: list[float] | None) -> Listing:
    """A chain of sets, whose edges have these successes and steps."""
    size = len(successes) + 1
    space = AttributeSpace((ap.Attribute("place", values=[str(number) for number in range(size)]),))
    words = np.asarray(space.pack(np.arange(size)[:, None]))
    counts, source = np.asarray(successes, float), np.arange(size - 1)
    return Listing(
        space,
        words,
        source,
        source + 1,
        visits=counts,
        attempts=counts,
        successes=counts,
        probability=np.ones(size - 1),
        durations=lambda: np.ones(size - 1),
        spent=None if spent is None else np.asarray(spent, float),
    )


def test_the_usual_steps_are_those_of_nine_in_ten_arrivals():
    # 2, 3 and 30 steps per arrival, on edges with 500, 450 and 50 arrivals; an edge without arrivals does not count.
    table = practised([500, 450, 50, 0], [1000, 1350, 1500, 900])
    assert usual_steps(table, T_MAX) == 3.0
    assert usual_steps(practised([500, 50, 450], [1000, 1500, 1350]), T_MAX) == 3.0
    assert usual_steps(practised([500, 350, 150], [1000, 1050, 4500]), T_MAX) == 30.0


@pytest.mark.parametrize(
    ("successes", "spent", "horizon"),
    [
        ([1000], [3000], 12),  # four times three steps
        ([1000], [1000], 5),  # at least five
        ([1000], [30_000], T_MAX),  # at most t_max
        ([99], [99], T_MAX),  # too few arrivals to tell
        ([1000], None, T_MAX),  # steps were not counted
    ],
)
def test_the_horizon_is_a_few_transitions_long(successes: list[float], spent: list[float] | None, horizon: int):
    assert value_discount(practised(successes, spent), T_MAX) == pytest.approx(1 - 1 / horizon)
