"""What a user gave to make environments, as bytes for other processes."""

import pickle
import warnings
from collections.abc import Mapping
from typing import Any

import cloudpickle

from attribute_planner.environments.faults import first_line
from attribute_planner.environments.gymnasium_bridge.bridge import Recipe
from attribute_planner.errors import ConfigurationError

FUNCTIONS = ("make", "describe", "encode_observation")
"""The user's own functions. One in a module is sent by its name, any other as it is."""


def packed(recipe: Recipe, name: str) -> bytes:
    """The recipe, and the environments that were registered here, as bytes.

    An error says which of the user's functions cannot be sent, and why.
    """
    try:
        return cloudpickle.dumps((recipe, registered()))
    except Exception as error:
        culprit = next((each for each in FUNCTIONS if not can_be_sent(getattr(recipe, each))), "the environment")
        raise ConfigurationError(
            f"{name}: {culprit} cannot be sent to a worker process ({type(error).__name__}: "
            f"{first_line(str(error))}). Create what it uses inside the function, or train with num_workers=0."
        ) from error


def unpacked(recipe: bytes) -> Recipe:
    """The recipe that another process has packed; the environments that were registered there are registered here."""
    loaded, specs = pickle.loads(recipe)
    register(specs)
    return loaded


def registered() -> dict[str, Any]:
    """The specifications that other packages than Gymnasium, or the user, have registered, by id.

    A function that calls `gymnasium.make` relies on the import that registered the id, which may be elsewhere.
    """
    import gymnasium

    own = {name: spec for name, spec in gymnasium.registry.items() if not _is_of_gymnasium(spec)}
    return {name: spec for name, spec in own.items() if can_be_sent(spec)}


def register(specs: Mapping[str, Any]) -> None:
    """Register the specifications that are not registered in this process yet."""
    import gymnasium

    for name, spec in specs.items():
        gymnasium.registry.setdefault(name, spec)
    # A package that is imported later registers its environments again, about which Gymnasium warns.
    warnings.filterwarnings("ignore", message=".*Overriding environment")


def _is_of_gymnasium(spec: Any) -> bool:
    return isinstance(spec.entry_point, str) and spec.entry_point.startswith("gymnasium.")


def can_be_sent(value: object) -> bool:
    """Whether an object can be sent to another process."""
    try:
        cloudpickle.dumps(value)
    except Exception:
        return False
    return True
