import numpy as np
import pytest

from attribute_planner.evaluation.statistics import mean_interval, success_interval


def wilson(successes: int, episodes: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's interval as it stands in the books."""
    share, weight = successes / episodes, z**2 / episodes
    middle = (share + weight / 2) / (1 + weight)
    half = z * np.sqrt(share * (1 - share) / episodes + weight / (4 * episodes)) / (1 + weight)
    return middle - half, middle + half


@pytest.mark.parametrize(("successes", "episodes"), [(8, 10), (500, 1000), (1, 3)])
def test_success_intervals_are_wilsons(successes, episodes):
    interval = success_interval(successes, episodes)
    assert (interval.low, interval.high) == pytest.approx(wilson(successes, episodes), abs=1e-6)


def test_certain_success_is_not_quite_certain():
    interval = success_interval(10, 10)
    assert interval.high == 1.0
    assert interval.low == pytest.approx(10 / (10 + 1.959964**2), abs=1e-6)
    assert success_interval(0, 10).low == 0.0


def test_the_interval_of_a_mean_by_hand():
    # Mean 2, standard deviation 1, three seeds: Student's t with two degrees of freedom is 4.3027.
    interval = mean_interval(np.array([1.0, 2.0, 3.0]))
    assert interval.low == pytest.approx(2 - 4.3027 / np.sqrt(3), abs=1e-4)
    assert interval.high == pytest.approx(2 + 4.3027 / np.sqrt(3), abs=1e-4)


def test_one_seed_has_no_interval():
    interval = mean_interval(np.array([1.0]))
    assert np.isnan([interval.low, interval.high]).all()
