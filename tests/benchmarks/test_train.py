import math
from dataclasses import replace

import pytest

from attribute_planner.benchmarks import train
from attribute_planner.benchmarks.measuring import seconds_in_turn
from attribute_planner.benchmarks.train import Epoch, EpochTimes
from attribute_planner.configuration import TrainConfig, default_config


def epochs_of(*rows: tuple[str, int, float, float]) -> EpochTimes:
    return EpochTimes(started=0.0, epochs=[Epoch(*row) for row in rows])


def test_the_first_epoch_of_a_phase_compiles_and_is_counted_as_long_as_the_others():
    epochs = epochs_of(("explore", 10, 50.0, math.nan), ("explore", 20, 51.0, math.nan), ("explore", 40, 53.0, 0.5))
    assert epochs.rate("explore") == 10
    assert epochs.seconds("explore") == 4


def test_the_time_until_attempts_succeed_ends_with_the_first_epoch_in_which_enough_do():
    epochs = epochs_of(
        ("explore", 10, 5.0, math.nan),
        ("explore", 20, 6.0, math.nan),
        *(("practise", 10 * n, 8.0 + n, success) for n, success in ((1, 0.5), (2, 0.996), (3, 0.9), (4, 1.0))),
    )
    (line,) = train._until_attempts_succeed("switches", epochs, 5.0)
    assert (line.ours, line.peer, line.unit) == (4.0, 8.0, "s")


def test_what_is_compared_is_measured_in_turn():
    calls: list[str] = []
    seconds = seconds_in_turn(lambda: calls.append("a"), lambda: calls.append("b"), repeats=2)
    assert "".join(calls) == "ababab" and len(seconds) == 2 and min(seconds) > 0


def test_attempts_that_never_succeed_often_enough_have_no_line():
    assert not list(train._until_attempts_succeed("switches", epochs_of(("practise", 10, 1.0, 0.9)), None))


@pytest.mark.slow
def test_a_training_stands_beside_the_peer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(train, "_peer", lambda env, config, key: (1000.0, 10.0))
    monkeypatch.setattr(train, "TASKS", 2)
    lines = {line.name: line for line in train.measure_training("switches", small(default_config("switches")))}
    assert lines["switches, exploring"].ours > 0
    practising = lines["switches, practising"]
    assert practising.peer == 1000.0
    assert practising.ratio == pytest.approx(practising.ours / 1000)
    assert lines["switches, training"].peer == pytest.approx(2.24)
    assert lines["switches, multi-step tasks solved after that training"].peer == 99.5


def small(config: TrainConfig) -> TrainConfig:
    explore = replace(config.explore, steps=960, policy="random", num_envs=16, rollout_length=10, rollouts_per_epoch=2)
    practise = replace(config.practise, steps=1280, num_envs=16, rollout_length=20, rollouts_per_epoch=2, hidden_size=8)
    return replace(config, explore=explore, practise=practise)
