"""What a user gave to make environments, as bytes for other processes."""

import cloudpickle

from attribute_planner.environments.faults import first_line
from attribute_planner.environments.gymnasium_bridge.bridge import Recipe
from attribute_planner.errors import ConfigurationError

FUNCTIONS = ("make", "describe", "encode_observation")
"""The user's own functions. One in a module is sent by its name, any other as it is."""


def packed(recipe: Recipe, name: str) -> bytes:
    """The recipe as bytes. An error says which of the user's functions cannot be sent, and why."""
    try:
        return cloudpickle.dumps(recipe)
    except Exception as error:
        culprit = next((each for each in FUNCTIONS if not can_be_sent(getattr(recipe, each))), "the environment")
        raise ConfigurationError(
            f"{name}: {culprit} cannot be sent to a worker process ({type(error).__name__}: "
            f"{first_line(str(error))}). Create what it uses inside the function, or train with num_workers=0."
        ) from error


def can_be_sent(value: object) -> bool:
    """Whether an object can be sent to another process."""
    try:
        cloudpickle.dumps(value)
    except Exception:
        return False
    return True
