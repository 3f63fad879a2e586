"""Results of `step`, `reset` and `describe` that are not what their interfaces say."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from attribute_planner.experiments.reliability.environment_cases.case import PLACE, Case, options, spoiled
from attribute_planner.experiments.reliability.room import Room, describe


def returned() -> Iterator[Case]:
    """Results of `step` and `reset` that are not what Gymnasium says."""
    for name, wrong in {"nothing": None, "a number": 3, "a generator": (each for each in ())}.items():
        for operation, count in (("step", 5), ("reset", 2)):
            answer = f"{PLACE}env.{operation}: it returned a .*; it must return {count} values: observation"
            yield Case(f"{operation} returns {name}", partial(spoiled, {operation: partial(_all, wrong)}), answer)
    old = {"step": lambda room, result: (*result[:3], {}), "reset": lambda room, result: result[0]}
    yield Case(
        "step of old Gym", partial(spoiled, {"step": old["step"]}), f"{PLACE}env.step: it returned a tuple of 4; it"
    )
    yield Case(
        "reset of old Gym", partial(spoiled, {"reset": old["reset"]}), f"{PLACE}env.reset: it returned a ndarray; it"
    )
    for operation in ("step", "reset"):
        for name, wrong in {"None": None, "a list": [1]}.items():
            spoil = {operation: partial(_with_part, -1, wrong)}
            answer = f"{PLACE}env.{operation}: info is .*; it must be a dictionary"
            yield Case(f"{operation}: info is {name}", partial(spoiled, spoil), answer)
    for place, flag in ((2, "terminated"), (3, "truncated")):
        for wrong in ("False", None, 2, float("nan"), np.array([True, False]), []):
            spoil = {"step": partial(_with_part, place, wrong)}
            answer = f"{PLACE}env.step: {flag} is .*; it must be a bool"
            yield Case(f"{flag}={wrong!r}", partial(spoiled, spoil), answer)


def _all(wrong: Any, room: Room, result: Any) -> Any:
    del room, result
    return wrong


def _with_part(place: int, wrong: Any, room: Room, result: Any) -> Any:
    del room
    parts = list(result)
    parts[place] = wrong
    return tuple(parts)


def described() -> Iterator[Case]:
    """Wrong results of `describe`."""
    for name, wrong, answer in (
        ("nothing", None, "the attributes are a NoneType; they must be a dictionary"),
        ("a list", [0, False], "the attributes are a list; they must be a dictionary"),
        ("too little", {"place": 0}, "A complete attribute set is needed; it lacks: lamp"),
        ("too much", {"place": 0, "lamp": False, "x": 1}, "There is no attribute 'x'"),
        ("a number too large", {"place": 4, "lamp": False}, "Attribute 'place' has no value '4'"),
        ("a negative number", {"place": -1, "lamp": False}, "Attribute 'place' has no value '-1'"),
        ("a fraction", {"place": 1.5, "lamp": False}, "Attribute 'place' has no value '1.5'"),
        ("NaN", {"place": np.nan, "lamp": False}, "Attribute 'place' has no value 'nan'"),
        ("None", {"place": None, "lamp": False}, "Attribute 'place' has no value 'None'"),
        ("an array", {"place": np.array([1]), "lamp": False}, "attribute 'place' is a ndarray; it must be"),
        ("a list of one", {"place": [1], "lamp": False}, "attribute 'place' is a list; it must be"),
        ("an unknown name", {"place": 0, "lamp": "maybe"}, "Attribute 'lamp' has no value 'maybe'"),
        ("numbers as names", {0: 0, 1: False}, "There is no attribute '0'"),
    ):
        function = partial(_late_description, wrong)
        yield Case(f"describe returns {name}", partial(options, describe=function), f"{PLACE}describe: {answer}")


def _late_description(wrong: Any, observation: Any, info: dict[str, Any], env: Any) -> Any:
    return describe(observation, info, env) if env.unwrapped.age < 3 else wrong
