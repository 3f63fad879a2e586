"""Learning in a thread, while the environments run."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from attribute_planner.learning.policy_gradient import TrainState

Learned = tuple[TrainState, dict]


class LearningThread:
    """Runs one call of a learner at a time; only if `overlap` in a thread, otherwise at once.

    JAX does not hold Python's lock while it computes, so that the environments run meanwhile.
    """

    def __init__(self, overlap: bool) -> None:
        self._executor = ThreadPoolExecutor(1, "learner") if overlap else None
        self._call: Future[Learned] | None = None

    def start(self, learn: Callable[[], Learned]) -> None:
        """Begin to learn; the last call must have been waited for."""
        assert self._call is None
        if self._executor is not None:
            self._call = self._executor.submit(learn)
        else:
            self._call = Future()
            self._call.set_result(learn())

    def wait(self, train_state: TrainState, metrics: dict) -> Learned:
        """The train state and metrics after the call that was started; those given if there is none."""
        if self._call is None:
            return train_state, metrics
        (train_state, learned), self._call = self._call.result(), None
        return train_state, learned or metrics

    def close(self) -> None:
        """Wait for the thread to end."""
        if self._executor is not None:
            self._executor.shutdown()
