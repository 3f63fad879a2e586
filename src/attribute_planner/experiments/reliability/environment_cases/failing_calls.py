"""Calls into the user's code that raise an exception, or do not return."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import gymnasium
from gymnasium import spaces

from attribute_planner.experiments.reliability.environment_cases.case import PLACE, Case, failing, options, spoiled
from attribute_planner.experiments.reliability.room import describe

ERRORS = (
    ValueError("the simulator\nfailed"),
    KeyError("x"),
    RuntimeError(),
    MemoryError("full"),
    AssertionError("no"),
    StopIteration(3),
    RecursionError("deep"),
    OSError(5, "Input/output error"),
    NotImplementedError("later"),
    SystemExit(3),
)


def raised() -> Iterator[Case]:
    """Exceptions of the user's code."""
    for error in ERRORS:
        answer = f"{PLACE}env.step: {type(error).__name__}: "
        yield Case(f"step raises {error!r}", partial(spoiled, {"step": failing(error)}), answer)
    for error in (ValueError("no"), SystemExit(0)):
        answer = f"{PLACE}env.reset: {type(error).__name__}: "
        yield Case(f"reset raises {error!r}", partial(spoiled, {"reset": failing(error)}), answer)
        answer = f"{PLACE}describe: {type(error).__name__}: "
        yield Case(f"describe raises {error!r}", partial(options, describe=partial(_late_error, error)), answer)
    first = r"Room: env.reset\(seed=0\): "
    yield Case(
        "the first reset raises", partial(spoiled, {"reset": failing(ValueError("no"))}, first=(1, 0)), f"{first}Val"
    )
    yield Case(
        "reset takes no seed",
        partial(options, make=Seedless),
        r"Seedless: env.reset\(seed=0\): reset takes no seed; it must be",
    )


def _late_error(error: BaseException, observation: Any, info: dict[str, Any], env: Any) -> Any:
    if env.unwrapped.age >= 3:
        raise error
    return describe(observation, info, env)


class Seedless(gymnasium.Env):
    """An environment of the old interface."""

    observation_space, action_space = spaces.Discrete(2), spaces.Discrete(2)

    def reset(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return 0, {}


def hanging() -> Iterator[Case]:
    """Calls that do not return."""
    late = "it has not returned for .* s"
    for name, hang in {"loops": _loop, "waits": _wait, "swallows interruptions": _swallow}.items():
        yield Case(f"step {name} for ever", partial(spoiled, {"step": hang}), f"{PLACE}env.step: {late}")
        yield Case(f"reset {name} for ever", partial(spoiled, {"reset": hang}), f"{PLACE}env.reset: {late}")
    yield Case("describe loops for ever", partial(options, describe=_endless), f"{PLACE}describe: {late}")
    first = r"Room: env.reset\(seed=0\): it has not returned"
    yield Case("the first reset waits for ever", partial(spoiled, {"reset": _wait}, first=(1, 0)), first)


def _loop(*arguments: Any) -> Any:
    while True:
        pass


def _wait(*arguments: Any) -> Any:
    time.sleep(10**6)


def _swallow(*arguments: Any) -> Any:
    while True:
        try:
            time.sleep(10**6)
        except Exception:
            continue


def _endless(observation: Any, info: dict[str, Any], env: Any) -> Any:
    return describe(observation, info, env) if env.unwrapped.age < 3 else _loop()
