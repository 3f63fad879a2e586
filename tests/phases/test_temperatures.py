import numpy as np
import pytest

from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.data.replay import Replay, remember
from attribute_planner.phases.temperatures import best_inverse_temperature, inverse_temperatures
from tests.data.test_replay import numbers, trajectories_of

SPACE = numbers(10)
NUM_ENVS = 6


def attempts(arrived: np.ndarray, steps: np.ndarray, pursued: np.ndarray) -> tuple[Replay, AttemptLog]:
    """One attempt in each environment, from set 0, with this outcome, duration and target."""
    replay, log, length = Replay(1000), AttemptLog(), int(steps.max())
    walks = [[(0, 0, "")] * length for _ in range(NUM_ENVS)]
    goals = np.broadcast_to(pursued[None, :, None], (length, NUM_ENVS, 1)).astype(np.int32)
    remember(replay, SPACE, trajectories_of(walks), goals)
    log.add(steps - 1, np.arange(NUM_ENVS), steps - 1, arrived.astype(int))
    return replay, log


def test_environments_act_at_different_temperatures():
    assert inverse_temperatures(4, 1.0).tolist() == inverse_temperatures(4, 1.1).tolist() == [1, 4, 16, 1]
    assert inverse_temperatures(3, 0.75).tolist() == [1, 2, 4] and inverse_temperatures(3, 0.4).tolist() == [1, 1, 1]


@pytest.mark.parametrize(("best", "factor"), [(0, 1.0), (1, 4.0), (2, 16.0)])
def test_the_temperature_that_arrives_is_kept(best: int, factor: float):
    arrived = np.arange(NUM_ENVS) % 3 == best
    replay, log = attempts(arrived, np.full(NUM_ENVS, 5), np.ones(NUM_ENVS, int))
    assert best_inverse_temperature(log, replay, 0.9, 1.0) == factor


def test_of_those_that_arrive_the_fastest_is_kept():
    steps = np.array([9, 3, 9, 9, 3, 9])
    replay, log = attempts(np.ones(NUM_ENVS, bool), steps, np.ones(NUM_ENVS, int))
    assert best_inverse_temperature(log, replay, 0.9, 1.0) == 4.0


def test_attempts_are_compared_at_the_same_transition():
    """The first temperature had the easy transition most of the time, but the last one is better at both."""
    easy = np.array([True, True, False, True, False, True])
    arrived = np.array([True, False, True, False, False, True])
    replay, log = attempts(arrived, np.full(NUM_ENVS, 2), np.where(easy, 1, 2))
    assert best_inverse_temperature(log, replay, 0.9, 1.0) == 16.0


def test_without_attempts_the_policy_acts_as_it_is():
    replay, _ = attempts(np.arange(NUM_ENVS) % 3 == 2, np.full(NUM_ENVS, 5), np.ones(NUM_ENVS, int))
    assert best_inverse_temperature(AttemptLog(), replay, 0.9, 1.0) == 1.0


def test_in_the_first_half_of_practice_there_is_nothing_to_choose():
    replay, log = attempts(np.arange(NUM_ENVS) % 3 == 2, np.full(NUM_ENVS, 5), np.ones(NUM_ENVS, int))
    assert best_inverse_temperature(log, replay, 0.9, 0.5) == 1.0
    assert best_inverse_temperature(log, replay, 0.9, 0.75) == 4.0
