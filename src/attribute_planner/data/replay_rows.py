"""The rows of a replay buffer as columns, and what follows each row."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from attribute_planner.environments.spaces import Observation

NO_GOAL = -1
"""Value of every attribute of a goal where none was pursued."""


class Columns(NamedTuple):
    """The columns of the buffer, `[rows, B, ...]`."""

    observation: Any
    values: Any
    action: Any
    next_values: Any
    pursued: Any
    terminated: Any
    over: Any


def widened(columns: Columns, values_of: Callable[[Observation], np.ndarray]) -> Columns:
    """Rows, oldest first, described by further attributes: see `Replay.append_values`."""
    now = np.stack(
        [values_of(jax.tree.map(lambda leaf, at=at: leaf[at], columns.observation)) for at in range(len(columns.over))]
    )
    over = columns.over.copy()
    over[-1] = True
    after = np.where(over[..., None], now, np.roll(now, -1, axis=0))
    goal = np.where(columns.pursued[..., :1] == NO_GOAL, NO_GOAL, now)
    new = {"values": now, "next_values": after, "pursued": goal}
    old = columns._asdict()
    return columns._replace(
        **{name: np.concatenate([old[name], more.astype(old[name].dtype)], axis=-1) for name, more in new.items()}
    )
