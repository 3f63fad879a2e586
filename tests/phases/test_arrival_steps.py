import numpy as np

from attribute_planner.data.attempt_log import ARRIVED, CUT_OFF, FAILED
from attribute_planner.phases.arrival_steps import arrival_steps
from tests.data.test_attempt_log import SPACE, attempts
from tests.probes import table_of

LISTING = table_of(SPACE, [((0,), (target,), 0.5) for target in (1, 2, 3)]).listing()


def test_a_mean_has_the_median_of_all_transitions_as_one_more_attempt():
    # Means of 2, 18 and 20 steps.
    replay, log = attempts([1] * 9 + [2] * 2 + [3], [2] * 9 + [16, 20] + [20], [ARRIVED] * 12)
    measured = arrival_steps(log, replay, LISTING)
    assert measured is not None
    expected = [(9 * 2 + 18) / 10, (36 + 18) / 3, (20 + 18) / 2]
    np.testing.assert_allclose(measured.of_edges(LISTING), expected, rtol=1e-6)


def test_only_attempts_that_arrived_count():
    replay, log = attempts([1, 1, 3, 1], [6, 20, 9, 3], [ARRIVED, FAILED, FAILED, CUT_OFF])
    measured = arrival_steps(log, replay, LISTING)
    assert measured is not None
    np.testing.assert_equal(measured.of_edges(LISTING), [6.0, np.nan, np.nan])
    replay, log = attempts([1], [3], [FAILED])
    assert arrival_steps(log, replay, LISTING) is None
