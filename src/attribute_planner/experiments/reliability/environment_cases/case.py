"""An environment with one fault, and what the answer must say."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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


def options(**changes: Any) -> dict[str, Any]:
    """The options of the room without a fault, with some of them changed."""
    right = {"make": Room, "attributes": ATTRIBUTES, "describe": describe, "episode_steps": EPISODE_STEPS}
    return {**right, **changes}


def spoiled(spoil: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The options of a room with a fault in what it returns."""
    return options(make=lambda: Room(spoil, **changes))


def failing(error: BaseException) -> Callable[..., Any]:
    """A function that raises an error, whatever it is given."""

    def fail(*arguments: Any) -> Any:
        raise error

    return fail
