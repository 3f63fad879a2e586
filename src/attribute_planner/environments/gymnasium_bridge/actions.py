"""Converts actions into those of a Gymnasium space."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from gymnasium import spaces

from attribute_planner.environments.faults import shown
from attribute_planner.environments.space_specs import ActionSpace, Box, Discrete
from attribute_planner.errors import ConfigurationError

MAX_ACTIONS = 2**14
"""Largest number of actions; the policy has an output for each."""
MAX_CHOICES = 4096
"""Largest number of combinations of a space of several discrete choices."""


@dataclass(frozen=True)
class Actions:
    """The agent's action space and its conversion.

    space: the agent's action space.
    translate: converts one action, an index or `float32[dimensions]`, into an argument of `env.step`.
    """

    space: ActionSpace
    translate: Callable[[Any], Any]


def actions_of(space: spaces.Space, names: Sequence[str] | None) -> Actions:
    """The actions of a Gymnasium space; `names` are by default their numbers."""
    if isinstance(space, spaces.Box):
        if names is not None:
            raise ConfigurationError("action_names: continuous actions have no names.")
        return _points(space)
    if isinstance(space, spaces.Discrete):
        if space.n > MAX_ACTIONS:
            raise ConfigurationError(
                f"The action space {space} has {space.n:,} actions; at most {MAX_ACTIONS:,} are supported. "
                "Wrap the environment (gymnasium.ActionWrapper) to reduce them."
            )
        return _choices(range(space.start, space.start + space.n), space.dtype.type, names)
    if isinstance(space, spaces.MultiDiscrete):
        return _combinations(space, space.nvec, space.start, names)
    if isinstance(space, spaces.MultiBinary):
        return _combinations(space, np.full(space.shape, 2), np.zeros(space.shape, int), names)
    raise ConfigurationError(
        f"Actions in {space} are not supported; Discrete, MultiDiscrete, MultiBinary and Box are. "
        "Wrap the environment (gymnasium.ActionWrapper) so that its actions are one of these."
    )


def _combinations(space: spaces.Space, sizes: np.ndarray, starts: np.ndarray, names: Sequence[str] | None) -> Actions:
    """Several discrete choices as one choice among all combinations."""
    total = int(np.prod(sizes, dtype=float))
    if total > MAX_CHOICES:
        raise ConfigurationError(
            f"The action space {space} has {total:,} combinations; at most {MAX_CHOICES:,} are supported. "
            "Wrap the environment (gymnasium.ActionWrapper) to reduce them."
        )
    axes = [range(start, start + size) for start, size in zip(starts.flat, sizes.flat, strict=True)]
    return _choices(list(product(*axes)), lambda chosen: np.array(chosen, space.dtype).reshape(sizes.shape), names)


def _choices(options: Sequence[Any], form: Callable[[Any], Any], names: Sequence[str] | None) -> Actions:
    """One choice among the options; `form` converts an option for the environment."""
    if names is not None:
        _check_names(names, len(options))
    shown = names or [_shown(option) for option in options]
    return Actions(Discrete(tuple(shown)), lambda choice: form(options[int(choice)]))


def _check_names(names: Any, count: int) -> None:
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(each, str) for each in names):
        raise ConfigurationError(f"action_names must be a list of names; it is {shown(names)}.")
    if len(names) != count:
        raise ConfigurationError(f"action_names has {len(names)} names; there are {count} actions.")
    if len(set(names)) < count:
        raise ConfigurationError(f"action_names has the same name twice: {', '.join(names)}.")


def _shown(option: Any) -> str:
    return ",".join(map(str, option)) if isinstance(option, tuple) else str(option)


def _points(space: spaces.Box) -> Actions:
    """Points in a box, clipped to it, and rounded if the box contains integers."""
    low, high = space.low.astype(float), space.high.astype(float)
    if not (np.isfinite(low) & np.isfinite(high) & (low < high)).all():
        raise ConfigurationError(
            f"The action space {space} is not bounded (finite, low < high); "
            "wrap the environment in gymnasium.wrappers.RescaleAction or ClipAction with bounds of its own."
        )

    def translate(point: np.ndarray) -> np.ndarray:
        inside = np.clip(np.asarray(point, float).reshape(space.shape), low, high)
        return (np.rint(inside) if np.issubdtype(space.dtype, np.integer) else inside).astype(space.dtype)

    return Actions(Box(tuple(low.flat), tuple(high.flat)), translate)
