"""Messages from the page: each is a JSON object, whose entries are checked before they are used."""

import json
from collections.abc import Mapping
from typing import Any

from attribute_planner.errors import AttributePlannerError

MAX_BYTES = 64 * 1024
"""Longer messages are not read."""
MAX_SEED = 2**31 - 1
MAX_STEPS_AT_ONCE = 20


class MessageError(AttributePlannerError):
    """A message that does not have the expected form."""


def read_message(text: str) -> dict[str, Any]:
    """The object that a message holds."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MessageError("A message must be JSON.") from error
    if not isinstance(message, dict):
        raise MessageError("A message must be an object.")
    return message


def text_of(message: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """An entry that is text."""
    value = message.get(name, default)
    if not isinstance(value, str):
        raise MessageError(f"{name!r} must be text.")
    return value


def integer_of(message: Mapping[str, Any], name: str, low: int, high: int) -> int:
    """An entry that is an integer between two bounds."""
    value = message.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise MessageError(f"{name!r} must be an integer from {low} to {high}.")
    return value


def goal_of(message: Mapping[str, Any]) -> dict[str, str] | str:
    """The goal of a message: text, or values by name."""
    goal = message.get("goal")
    if isinstance(goal, str):
        return goal
    if not isinstance(goal, dict) or not all(isinstance(value, str) for value in goal.values()):
        raise MessageError("'goal' must be text, or an object of texts.")
    return goal
