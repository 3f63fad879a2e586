"""Labelled states, for training an attribute detector."""

from typing import Any, NamedTuple

from attribute_planner.environments.spaces import Array


class Labels(NamedTuple):
    """States and their attribute values.

    states: `[N, ...]` observations, or snapshots for the environment's `observe_batch`.
    values: `int[N, A]` attribute values.
    """

    states: Any
    values: Array
