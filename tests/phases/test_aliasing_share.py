import numpy as np
import pytest

from attribute_planner.data.attempt_log import ARRIVED, FAILED, AttemptLog
from attribute_planner.data.replay import Replay, remember
from attribute_planner.phases.aliasing_share import aliasing_share, earlier_failures, most_probable_share
from attribute_planner.planning.episode_model import EpisodeModel
from tests.data.test_replay import numbers, trajectories_of
from tests.probes import table_of

SPACE = numbers(4)
LISTING = table_of(SPACE, [((0,), (1,), 0.5), ((0,), (2,), 0.5)]).listing()


def test_earlier_failures_are_counted_by_place():
    place = np.array([[0], [0], [1], [0], [1], [0]])
    reached = np.array([False, False, False, True, True, True])
    assert earlier_failures(place, reached).tolist() == [0, 1, 0, 2, 1, 2]


def outcomes(share: float, seed: int, episodes: int = 2_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """c_π, earlier failures and outcomes of attempts that were made again, up to three times, until they arrived."""
    random, c = np.random.default_rng(seed), 0.5
    model = EpisodeModel(share)
    available = random.random(episodes) < model.availability(c)
    succeeds = random.random((episodes, 3)) < available[:, None] * model.reliability(c)
    rows = [
        (c, attempt, succeeds[episode, attempt])
        for episode in range(episodes)
        for attempt in (1, 2)
        if not succeeds[episode, :attempt].any()
    ]
    chance, failures, reached = zip(*rows, strict=True)
    return np.array(chance), np.array(failures), np.array(reached)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_share_of_simulated_failures_is_recovered(share: float):
    found = [most_probable_share(*outcomes(share, seed)) for seed in range(3)]
    assert [each == pytest.approx(share, abs=0.08) for each in found] == [True] * 3


def test_without_repeated_attempts_nothing_is_measured_and_with_one_little():
    nothing = np.zeros(0)
    assert most_probable_share(nothing, nothing.astype(int), nothing.astype(bool)) is None
    one = most_probable_share(np.array([0.5]), np.array([1]), np.array([False]))
    assert one is not None and 0.5 < one < 0.7


def log_of(outcome: list[int], targets: list[int], cut: list[int]) -> tuple[Replay, AttemptLog]:
    """Attempts of one step each from set 0 in one environment; a new episode begins after the steps `cut`."""
    replay, log, count = Replay(1000), AttemptLog(), len(outcome)
    walk = [(0, 0, "truncated" if step in cut else "") for step in range(count)]
    remember(replay, SPACE, trajectories_of([walk]), np.array(targets, np.int32)[:, None, None])
    log.add(np.arange(count), np.zeros(count, int), np.zeros(count, int), np.array(outcome))
    return replay, log


def test_only_attempts_at_the_same_transition_of_the_same_episode_are_repeated():
    ends = [*range(1, 40, 2)]
    replay, log = log_of([FAILED, FAILED] * 20, [1] * 40, ends)
    share = aliasing_share(log, replay, LISTING)
    assert share is not None and share > 0.85
    replay, log = log_of([FAILED, ARRIVED] * 20, [1] * 40, ends)
    share = aliasing_share(log, replay, LISTING)
    assert share is not None and share < 0.15
    # Other transitions, or other episodes: nothing was attempted again.
    replay, log = log_of([FAILED, FAILED], [1, 2], [])
    assert aliasing_share(log, replay, LISTING) is None
    replay, log = log_of([FAILED, FAILED], [1, 1], [0])
    assert aliasing_share(log, replay, LISTING) is None
    assert aliasing_share(AttemptLog(), replay, LISTING) is None
