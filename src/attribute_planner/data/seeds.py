"""Seeds of one setting that train together in one process: their compiled calls are one call, batched over seeds.

A training is Python between compiled calls, so it cannot be batched as a whole. Each seed trains in a thread of its
own. A function that is `batched` waits there until every seed has called one, or has ended. Calls of the same function
with the same shapes and static parts are then stacked and made at once, by `jax.vmap`. The numbers are those of one
seed alone, up to rounding. Elsewhere, a function that is `batched` is compiled, and nothing else.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import equinox as eqx
import jax
from jax.core import Tracer

from attribute_planner.data.stacking import form_of, stacked_call

P = ParamSpec("P")
R = TypeVar("R")


def batched(function: Callable[P, R]) -> Callable[P, R]:
    """`eqx.filter_jit`; what seeds that train together call at the same time is one call."""
    alone = eqx.filter_jit(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        seed: _Seed | None = getattr(_THREAD, "seed", None)
        if seed is None or _is_traced((args, kwargs)):
            return alone(*args, **kwargs)
        return seed.together.wait_for(_Call(seed.number, function, alone, args, kwargs))

    return call


def num_together() -> int:
    """The number of seeds that train together with this one, itself included; 1 for a training alone."""
    seed: _Seed | None = getattr(_THREAD, "seed", None)
    return 1 if seed is None else seed.together.num_seeds


def end_if_stopped() -> None:
    """A KeyboardInterrupt if all trainings are to end; for what calls no `batched` function for long."""
    seed: _Seed | None = getattr(_THREAD, "seed", None)
    if seed is not None and seed.together.is_stopped:
        raise KeyboardInterrupt(STOPPED)


class Together:
    """Trainings in threads, and the calls that they wait for.

    num_seeds: the number of trainings.
    is_stopped: whether all of them are to end.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.num_seeds = 0
        self._say = say
        self._changed = threading.Condition()
        # One thread works at a time: programs of several devices must be started in the same order on each of them.
        self._turn = threading.Lock()
        self._waiting: list[_Call] = []
        self._running = 0
        self._one_by_one = self.is_stopped = False

    def run(self, trainings: Sequence[Callable[[], R]]) -> list[R | BaseException]:
        """The result of each training, or the exception that ended it; one that ends does not stop the others.

        This thread makes the calls. An exception here, such as KeyboardInterrupt, ends all trainings in order.
        """
        outcomes: list[Any] = [None] * len(trainings)
        self.num_seeds = self._running = len(trainings)

        def train(number: int) -> None:
            _THREAD.seed = _Seed(self, number)
            try:
                with self._turn:
                    outcomes[number] = trainings[number]()
            except BaseException as error:
                outcomes[number] = error
            finally:
                with self._changed:
                    self._running -= 1
                    self._changed.notify_all()

        threads = [threading.Thread(target=train, args=(number,)) for number in range(len(trainings))]
        try:
            for thread in threads:
                thread.start()
            while calls := self._next_calls():
                for alike in _alike(calls):
                    self._make(alike)
        finally:
            self._stop()
            for thread in threads:
                thread.join()
        return outcomes

    def wait_for(self, call: "_Call") -> Any:
        """The result of a call, in the thread of its seed, which lets others work meanwhile."""
        self._turn.release()
        try:
            with self._changed:
                self._waiting.append(call)
                self._changed.notify_all()
                self._changed.wait_for(lambda: call.is_made or self.is_stopped)
        finally:
            self._turn.acquire()
        if not call.is_made:
            raise KeyboardInterrupt(STOPPED)
        if call.error is not None:
            raise call.error
        return call.result

    def _next_calls(self) -> list["_Call"]:
        """One call of each seed, in their order; empty if all have ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._running == len(self._waiting))
            calls, self._waiting = self._waiting, []
        return sorted(calls, key=lambda call: call.number)

    def _make(self, calls: list["_Call"]) -> None:
        """Make calls that are alike, and let their seeds continue."""
        with self._turn:
            if not self._make_stacked(calls):
                for call in calls:
                    call.make()
        with self._changed:
            for call in calls:
                call.is_made = True
            self._changed.notify_all()

    def _make_stacked(self, calls: list["_Call"]) -> bool:
        """Make the calls as one; false if the device has too little memory for that, now or before."""
        if self._one_by_one or len(calls) == 1:
            return False
        try:
            # An error of the device is raised where its results are waited for.
            results = jax.block_until_ready(stacked_call(calls[0].function, [call.arguments for call in calls]))
        except Exception as error:
            if is_out_of_memory(error):
                self._one_by_one = True
                self._say(f"The memory of the device is too small for {len(calls)} seeds at once: {ONE_BY_ONE}")
                return False
            for call in calls:
                call.error = error
        else:
            for call, result in zip(calls, results, strict=True):
                call.result = result
        return True

    def _stop(self) -> None:
        with self._changed:
            self.is_stopped = True
            self._changed.notify_all()


STOPPED = "The trainings of all seeds end."
ONE_BY_ONE = "from here on, their calls are made one by one."


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error of XLA says that the memory of the device is exhausted."""
    return isinstance(error, jax.errors.JaxRuntimeError) and "RESOURCE_EXHAUSTED" in str(error)


_THREAD = threading.local()
"""`seed`: the seed that trains in a thread."""


@dataclass(frozen=True)
class _Seed:
    together: Together
    number: int


@dataclass
class _Call:
    """A call that a seed waits for."""

    number: int
    function: Callable[..., Any]
    alone: Callable[..., Any]
    args: tuple
    kwargs: dict[str, Any]
    result: Any = None
    error: Exception | None = None
    is_made: bool = False

    @property
    def arguments(self) -> tuple[tuple, dict[str, Any]]:
        return self.args, self.kwargs

    def make(self) -> None:
        """Make this call alone."""
        try:
            self.result = self.alone(*self.args, **self.kwargs)
        except Exception as error:
            self.error = error


def _alike(calls: list[_Call]) -> list[list[_Call]]:
    """The calls in groups that can be stacked."""
    groups: list[tuple[Any, list[_Call]]] = []
    for call in calls:
        form = call.function, form_of(call.arguments)
        alike = next((group for known, group in groups if known == form), None)
        if alike is None:
            groups.append((form, [call]))
        else:
            alike.append(call)
    return [group for _, group in groups]


def _is_traced(tree: Any) -> bool:
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(tree))
