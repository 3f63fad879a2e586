import signal
import time

import pytest

from attribute_planner.environments import watchdog as module
from attribute_planner.environments.watchdog import HungError, Watchdog


def watched(limit: float) -> Watchdog:
    watchdog = Watchdog()
    watchdog.limit = limit
    return watchdog


def test_a_call_that_takes_too_long_is_interrupted(monkeypatch: pytest.MonkeyPatch):
    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    monkeypatch.setattr(module, "SECONDS_TO_REACT", 1.0)
    monkeypatch.setattr(module, "end_program", lambda line: True)
    watchdog, began = watched(0.2), time.monotonic()
    try:
        watchdog.begin("env.step")
        with pytest.raises(HungError):
            time.sleep(3)
        watchdog.end()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 2.5
    assert watchdog.overdue == "has not returned for 0.2 s (step_timeout)"


def test_calls_that_return_in_time_are_left_alone():
    watchdog = watched(0.3)
    for _ in range(4):
        watchdog.begin("env.step")
        time.sleep(0.15)
        watchdog.end()


def test_the_limit_holds_within_its_block():
    watchdog = watched(5.0)
    with watchdog.limited_to(1.0):
        assert watchdog.limit == 1.0
    assert watchdog.limit == 5.0
