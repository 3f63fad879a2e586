import threading

import equinox as eqx
import pytest

from attribute_planner.learning.policy_gradient import TrainState
from attribute_planner.phases.learning_thread import LearningThread

BEFORE, AFTER = (TrainState(eqx.nn.Identity(), number) for number in (0, 1))


def test_with_overlap_the_caller_goes_on_while_a_call_is_running():
    learning, may_end = LearningThread(overlap=True), threading.Event()

    def learn() -> tuple[TrainState, dict]:
        assert may_end.wait(timeout=20)
        return AFTER, {"loss": 1.0}

    learning.start(learn)
    may_end.set()
    assert learning.wait(BEFORE, {}) == (AFTER, {"loss": 1.0})
    assert learning.wait(BEFORE, {"loss": 2.0}) == (BEFORE, {"loss": 2.0}), "nothing was started"
    learning.close()


def test_without_overlap_a_call_is_over_when_it_has_started():
    learning, threads = LearningThread(overlap=False), []
    learning.start(lambda: (threads.append(threading.current_thread()), (AFTER, {}))[1])
    assert threads == [threading.main_thread()]
    assert learning.wait(BEFORE, {"loss": 2.0}) == (AFTER, {"loss": 2.0}), "metrics of the last call that had any"
    learning.close()


def test_an_error_in_the_thread_is_raised_by_the_one_who_waits():
    learning = LearningThread(overlap=True)
    learning.start(lambda: 1 / 0)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ZeroDivisionError):
        learning.wait(BEFORE, {})
    learning.close()
