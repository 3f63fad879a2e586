"""Observations that are not in their space."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces

from attribute_planner.experiments.reliability.environment_cases.case import PLACE, Case, spoiled
from attribute_planner.experiments.reliability.room import Room

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


def observations() -> Iterator[Case]:
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


def other_observations() -> Iterator[Case]:
    """Observations of choices, dictionaries, images and texts that are not in their space."""
    for name, space, right, wrong, answer in WRONG_OTHERS:
        spoil = {"step": partial(_with_observation, wrong)}
        make = partial(spoiled, spoil, space=space, observe=partial(_constant, right))
        yield Case(f"step: {name}", make, f"{PLACE}observation: {answer}")


def _constant(value: Any, room: Room) -> Any:
    del room
    return value
