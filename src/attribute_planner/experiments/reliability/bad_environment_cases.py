"""Faults of environments: each case is an environment with one fault, and what the answer must say."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from attribute_planner.attributes import Attribute
from attribute_planner.experiments.reliability.room import ATTRIBUTES, EPISODE_STEPS, Room, describe

PLACE = r"Room: environment \d+, episode \d+, step \d+, seed \d+: "
"""How the answer to a fault in a step or a reset begins."""


@dataclass(frozen=True)
class Case:
    """An environment with one fault.

    options: what is given to `from_gymnasium`; a function, because some values raise an error when they are made.
    answer: a regular expression that the error or warning must match from its beginning.
    is_warning: whether `check_environment` warns; otherwise making or stepping the environment raises an error.
    """

    name: str
    options: Callable[[], dict[str, Any]]
    answer: str
    is_warning: bool = False


def cases() -> list[Case]:
    """All cases."""
    return [*_declared(), *stepped(), *_hanging(), *_suspicious()]


def stepped() -> list[Case]:
    """The cases of faults in steps and resets that return."""
    return [
        *_observations(),
        *_other_observations(),
        *_returned(),
        *_described(),
        *_raised(),
    ]


def options(**changes: Any) -> dict[str, Any]:
    """The options of the room without a fault, with some of them changed."""
    right = {"make": Room, "attributes": ATTRIBUTES, "describe": describe, "episode_steps": EPISODE_STEPS}
    return {**right, **changes}


def spoiled(spoil: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The options of a room with a fault in what it returns."""
    return options(make=lambda: Room(spoil, **changes))


def _case(name: str, answer: str, /, **changes: Any) -> Case:
    return Case(name, lambda: options(**changes), answer)


def _declared() -> Iterator[Case]:
    """Wrong arguments, and spaces that cannot be used."""
    yield _case("make is not a function", "from_gymnasium needs a function", make=Room())
    yield _case(
        "make fails", "The function that makes the environment failed: ValueError: no", make=_raise(ValueError("no"))
    )
    yield _case("make exits", "The function that makes the environment failed: SystemExit", make=_raise(SystemExit(3)))
    yield _case("make returns nothing", "The function that makes .* returned a NoneType", make=lambda: None)
    yield _case("make returns a class", "The function that makes .* returned a .*, not", make=lambda: Room)
    same = Room()
    yield _case("make returns the same one", "The function that makes .* the same one twice", make=lambda: same)
    for name, wrong in (("None", None), ("a text", "place"), ("a number", 3)):
        yield _case(f"attributes is {name}", "attributes must be a list of ap.Attribute; it is", attributes=wrong)
    yield _case("attributes holds a text", "attributes must be a list .* contains 'place'", attributes=["place"])
    yield _case("no attributes", "An environment needs at least one attribute", attributes=[])
    yield _case("attributes of one name", "Two attributes share a name", attributes=[*ATTRIBUTES, ATTRIBUTES[0]])
    for wrong, answer in {
        (5,): "The name of an attribute must be a text; it is 5",
        (None,): "The name of an attribute must be a text; it is None",
        ("",): "Attribute name '' must not be empty",
        ("a b",): "Attribute name 'a b' must not",
        ("a=b",): "Attribute name 'a=b' must not",
        ("a", ()): "Attribute 'a' has 0 values",
        ("a", ("x",)): "Attribute 'a' has 1 values",
        ("a", ("x", "x")): "Attribute 'a' names a value twice",
        ("a", ("x", " x")): "Attribute 'a': values must not begin or end with spaces, as ' x'",
        ("a", 5): "Attribute 'a': values must be",
        ("a", "xy"): "Attribute 'a': values must be",
        ("a", (1, 2)): "Attribute 'a': values must be",
        ("a", range(10**6)): "Attribute 'a' has 1000000 values",
    }.items():
        yield Case(f"Attribute{wrong}", partial(_with_attribute, *wrong), answer)
    yield _case("describe is not a function", "describe must be a function", describe={"place": 0})
    yield _case("neither describe nor labelled", "Pass either describe", describe=None)
    yield _case("describe and labelled", "Pass either describe", labelled=([], []))
    right = np.zeros((4, 3), np.float32), np.zeros((4, 2), int)
    for name, wrong, answer in (
        ("None", 5, "labelled must be a pair"),
        ("not a pair", (right[0],), "labelled must be a pair"),
        ("of different lengths", (right[0][:3], right[1]), "labelled has 3 observations, but"),
        ("empty", ([], []), "labelled holds no observation"),
        ("without attributes", (right[0], None), "labelled: the attributes are None"),
        (
            "with NaN",
            (np.full((4, 3), np.nan, np.float32), right[1]),
            "labelled state 0: the observation is not finite",
        ),
        ("of another shape", (np.zeros((4, 2), np.float32), right[1]), "labelled state 0: .*shape"),
        ("with fractions", (right[0], right[1] + 0.5), "labelled: the attributes must be"),
        ("with an unknown value", (right[0], right[1] + 9), "labelled"),
        ("with an unknown name", (right[0], [{"x": 1}] * 4), "labelled state 0: .*no attribute 'x'"),
    ):
        yield _case(f"labelled {name}", answer, describe=None, labelled=wrong)
    for wrong in (0, -1, 1.5, "10", True, float("nan"), 10**12):
        yield _case(f"episode_steps={wrong!r}", "episode_steps must be", episode_steps=wrong)
    yield _case("a task of an unknown attribute", "There is no attribute 'x'", tasks={"t": {"x": 1}})
    yield _case("a task of an unknown value", "There is no value of attribute 'place'", tasks={"t": {"place": 9}})
    yield _case("a task without a goal", "The goal is empty", tasks={"t": {}})
    yield _case("encode_observation is no function", "encode_observation must be a function", encode_observation=3)
    for name, function, answer in (
        ("fails", _raise(KeyError("x")), "KeyError"),
        (
            "returns text",
            lambda _: np.array(["a"]),
            "encode_observation returned an array of <U1; it must hold numbers",
        ),
        ("returns nothing", lambda _: None, "encode_observation returned an array of object"),
        ("returns no number", lambda _: np.zeros(0), "encode_observation returned 0 numbers"),
        ("returns too many", lambda _: np.zeros(10**5), "encode_observation returned 100,000 numbers"),
    ):
        prefix = r"Room: encode_observation after env.reset\(seed=0\): "
        yield _case(f"encode_observation {name}", prefix + answer, encode_observation=function)
    yield _case("too few action_names", "action_names has 1 names; there are 2", action_names=["left"])
    yield _case("action_names twice", "action_names has the same name twice", action_names=["left", "left"])
    yield _case("action_names of numbers", "action_names must be a list of names", action_names=[0, 1])
    yield _case("the name of a built-in environment", "'switches' is the name of a built-in", name="switches")
    for name, space, answer in (
        ("a million actions", spaces.Discrete(10**6), "The action space .* has 1,000,000 actions; at most"),
        ("too many combinations", spaces.MultiDiscrete([100, 100, 100]), "The action space .* has 1,000,000 comb"),
        ("actions without bounds", spaces.Box(-np.inf, np.inf, (2,)), "The action space .* is not bounded"),
        ("actions in a dictionary", spaces.Dict({"a": spaces.Discrete(2)}), "Actions in .* are not supported"),
    ):
        yield Case(name, partial(options, make=partial(Room, actions=space)), answer)
    yield Case("observations in a graph", partial(options, make=partial(Room, space=GRAPH)), "Room: observation after")


GRAPH = spaces.Graph(spaces.Box(0, 1, (1,)), None)


def _with_attribute(*arguments: Any) -> dict[str, Any]:
    return options(attributes=[Attribute(*arguments)])


def _raise(error: BaseException) -> Callable[..., Any]:
    def fail(*arguments: Any) -> Any:
        raise error

    return fail


WRONG_NUMBERS: dict[str, tuple[Any, str]] = {
    "NaN": (np.array([0, np.nan, 0], np.float32), "number 1 of 3 is NaN; all must be finite"),
    "infinity": (np.array([0, 0, np.inf], np.float32), "number 2 of 3 is an infinite number; all must"),
    "minus infinity": (np.array([-np.inf, 0, 0], np.float32), "number 0 of 3 is an infinite number; all must"),
    "too short": (np.zeros(2, np.float32), r"it has shape \(2,\); it must have \(3,\)"),
    "too long": (np.zeros(4, np.float32), r"it has shape \(4,\); it must have \(3,\)"),
    "of another rank": (np.zeros((3, 1), np.float32), r"it has shape \(3, 1\); it must have \(3,\)"),
    "a number": (0.0, r"it has shape \(\); it must have \(3,\)"),
    "None": (None, r"it has shape \(\); it must have \(3,\)"),
    "texts": (np.array(["a", "b", "c"]), "it has type <U1; its space says float32"),
    "complex": (np.zeros(3, complex), "it has type complex128; its space says float32"),
    "objects": (np.array([None, None, None]), "it has type object; its space says float32"),
    "ragged": ([1, [2], 3], "ValueError"),
    "a dictionary": ({"x": 1}, r"it has shape \(\); it must have \(3,\)"),
}


def _observations() -> Iterator[Case]:
    """Observations of numbers that are not in their space, after a step and after a reset."""
    for operation in ("step", "reset"):
        for name, (wrong, answer) in WRONG_NUMBERS.items():
            spoil = {operation: partial(_with_observation, wrong)}
            yield Case(f"{operation}: observation {name}", partial(spoiled, spoil), f"{PLACE}observation: {answer}")


def _with_observation(wrong: Any, room: Room, result: Any) -> Any:
    del room
    return (wrong, *result[1:])


IMAGE = spaces.Box(0, 255, (32, 32, 3), np.uint8)
BOTH = spaces.Dict({"place": spaces.Discrete(4), "lamp": spaces.MultiBinary(1)})
WRONG_OTHERS: tuple[tuple[str, spaces.Space, Any, Any, str], ...] = (
    ("choice too small", spaces.Discrete(4), 0, -1, "it contains -1; its space has 0 to 3"),
    ("choice too large", spaces.Discrete(4), 0, 4, "it contains 4; its space has 0 to 3"),
    ("choice of two", spaces.Discrete(4), 0, [0, 1], r"it has shape \(2,\); it must have \(\)"),
    ("choice a fraction", spaces.Discrete(4), 0, 1.5, "it contains 1.5; it must hold integers"),
    ("choice NaN", spaces.Discrete(4), 0, np.nan, "it contains nan; it must hold integers"),
    ("choice a text", spaces.Discrete(4), 0, "a", "it contains 'a'; it must hold integers"),
    ("choice None", spaces.Discrete(4), 0, None, "it contains None; it must hold integers"),
    ("dictionary without a key", BOTH, {"place": 0, "lamp": [0]}, {"place": 0}, "KeyError: 'lamp'"),
    ("dictionary None", BOTH, {"place": 0, "lamp": [0]}, None, "TypeError"),
    ("dictionary with a wrong part", BOTH, {"place": 0, "lamp": [0]}, {"place": 9, "lamp": [0]}, "it contains 9; its"),
    ("image of floats", IMAGE, np.full((32, 32, 3), 99, np.uint8), np.zeros((32, 32, 3)), "it has type float64; its"),
    ("image too small", IMAGE, np.full((32, 32, 3), 99, np.uint8), np.zeros((9, 9, 3), np.uint8), "it has shape"),
    ("text a number", spaces.Text(9), "on", 3, "it is a int; it must be a text"),
)


def _other_observations() -> Iterator[Case]:
    """Observations of choices, dictionaries, images and texts that are not in their space."""
    for name, space, right, wrong, answer in WRONG_OTHERS:
        spoil = {"step": partial(_with_observation, wrong)}
        make = partial(spoiled, spoil, space=space, observe=partial(_constant, right))
        yield Case(f"step: {name}", make, f"{PLACE}observation: {answer}")


def _constant(value: Any, room: Room) -> Any:
    del room
    return value


def _returned() -> Iterator[Case]:
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


def _described() -> Iterator[Case]:
    """Wrong results of `describe`."""
    for name, wrong, answer in (
        ("nothing", None, "the attributes are a NoneType; they must be a dictionary"),
        ("a list", [0, False], "the attributes are a list; they must be a dictionary"),
        ("too little", {"place": 0}, "A complete attribute set is needed; it lacks: lamp"),
        ("too much", {"place": 0, "lamp": False, "x": 1}, "There is no attribute 'x'"),
        ("a number too large", {"place": 4, "lamp": False}, "There is no value of attribute 'place' '4'"),
        ("a negative number", {"place": -1, "lamp": False}, "There is no value of attribute 'place' '-1'"),
        ("a fraction", {"place": 1.5, "lamp": False}, "There is no value of attribute 'place' '1.5'"),
        ("NaN", {"place": np.nan, "lamp": False}, "There is no value of attribute 'place' 'nan'"),
        ("None", {"place": None, "lamp": False}, "There is no value of attribute 'place' 'None'"),
        ("an array", {"place": np.array([1]), "lamp": False}, "attribute 'place' is a ndarray; it must be"),
        ("a list of one", {"place": [1], "lamp": False}, "attribute 'place' is a list; it must be"),
        ("an unknown name", {"place": 0, "lamp": "maybe"}, "There is no value of attribute 'lamp' 'maybe'"),
        ("numbers as names", {0: 0, 1: False}, "There is no attribute '0'"),
    ):
        function = partial(_late_description, wrong)
        yield Case(f"describe returns {name}", partial(options, describe=function), f"{PLACE}describe: {answer}")


def _late_description(wrong: Any, observation: Any, info: dict[str, Any], env: Any) -> Any:
    return describe(observation, info, env) if env.unwrapped.age < 3 else wrong


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


def _raised() -> Iterator[Case]:
    """Exceptions of the user's code."""
    for error in ERRORS:
        answer = f"{PLACE}env.step: {type(error).__name__}: "
        yield Case(f"step raises {error!r}", partial(spoiled, {"step": _raise(error)}), answer)
    for error in (ValueError("no"), SystemExit(0)):
        answer = f"{PLACE}env.reset: {type(error).__name__}: "
        yield Case(f"reset raises {error!r}", partial(spoiled, {"reset": _raise(error)}), answer)
        answer = f"{PLACE}describe: {type(error).__name__}: "
        yield Case(f"describe raises {error!r}", partial(options, describe=partial(_late_error, error)), answer)
    first = r"Room: env.reset\(seed=0\): "
    yield Case(
        "the first reset raises", partial(spoiled, {"reset": _raise(ValueError("no"))}, first=(1, 0)), f"{first}Val"
    )
    yield Case("reset takes no seed", partial(options, make=Seedless), r"Seedless: env.reset\(seed=0\): TypeError")


def _late_error(error: BaseException, observation: Any, info: dict[str, Any], env: Any) -> Any:
    if env.unwrapped.age >= 3:
        raise error
    return describe(observation, info, env)


class Seedless(gymnasium.Env):
    """An environment of the old interface."""

    observation_space, action_space = spaces.Discrete(2), spaces.Discrete(2)

    def reset(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return 0, {}


def _hanging() -> Iterator[Case]:
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


def _suspicious() -> Iterator[Case]:
    """What is possible but probably wrong: `check_environment` warns."""
    random = np.random.default_rng()

    def unseeded(room: Room, result: Any) -> Any:
        room.place = int(random.integers(4))
        return np.array([room.place, random.random(), 0], np.float32), result[1]

    def constant(observation: Any, info: dict[str, Any], env: Any) -> dict[str, Any]:
        return {"place": 1, "lamp": False}

    def chance(observation: Any, info: dict[str, Any], env: Any) -> dict[str, Any]:
        return {"place": int(random.integers(4)), "lamp": bool(random.integers(2))}

    def no_lamp(observation: Any, info: dict[str, Any], env: Any) -> dict[str, Any]:
        return {"place": env.unwrapped.place, "lamp": False}

    def low_places(observation: Any, info: dict[str, Any], env: Any) -> dict[str, Any]:
        return {"place": min(env.unwrapped.place, 2), "lamp": env.unwrapped.lamp}

    for name, changes, answer in (
        ("reset ignores its seed", spoiled({"reset": unseeded}, first=(1, 0)), "reset does not follow its seed"),
        ("attributes never change", options(describe=constant), "no attribute changed"),
        ("an attribute never changes", options(describe=no_lamp), "attribute 'lamp' never changed"),
        ("a value never occurs", options(describe=low_places), "attribute 'place'"),
        ("attributes are chance", options(describe=chance), "the same seed and the same actions give other values"),
    ):
        yield Case(name, partial(dict, changes), answer, is_warning=True)
