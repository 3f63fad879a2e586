"""What is possible but probably wrong: `check_environment` warns."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from attribute_planner.experiments.reliability.environment_cases.case import Case, options, spoiled
from attribute_planner.experiments.reliability.room import Room


def suspicious() -> Iterator[Case]:
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
        ("an attribute never changes", options(describe=no_lamp), "not seen in .* random steps: lamp=true"),
        ("a value never occurs", options(describe=low_places), "not seen in .* random steps: place=3"),
        ("attributes are chance", options(describe=chance), "the same seed and the same actions give other values"),
    ):
        yield Case(name, partial(dict, changes), answer, is_warning=True)
