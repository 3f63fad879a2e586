"""Wrong arguments of `from_gymnasium`, and spaces that cannot be used."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces

from attribute_planner.attributes import Attribute
from attribute_planner.experiments.reliability.environment_cases.case import Case, failing, options
from attribute_planner.experiments.reliability.room import ATTRIBUTES, Room


def declared_cases() -> Iterator[Case]:
    """Wrong arguments, and spaces that cannot be used."""
    yield _case("make is not a function", "from_gymnasium needs a function", make=Room())
    yield _case(
        "make fails", "The function that makes the environment failed: ValueError: no", make=failing(ValueError("no"))
    )
    yield _case("make exits", "The function that makes the environment failed: SystemExit", make=failing(SystemExit(3)))
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
    yield _case("a task of an unknown value", "Attribute 'place' has no value", tasks={"t": {"place": 9}})
    yield _case("a task without a goal", "The goal is empty", tasks={"t": {}})
    yield _case("encode_observation is no function", "encode_observation must be a function", encode_observation=3)
    for name, function, answer in (
        ("fails", failing(KeyError("x")), "KeyError"),
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


def _case(name: str, answer: str, /, **changes: Any) -> Case:
    return Case(name, lambda: options(**changes), answer)


def _with_attribute(*arguments: Any) -> dict[str, Any]:
    return options(attributes=[Attribute(*arguments)])
