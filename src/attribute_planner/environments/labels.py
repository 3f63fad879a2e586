"""Labelled states: what an attribute detector is learned from."""

from typing import Any, NamedTuple

from attribute_planner.environments.spaces import Array


class Labels(NamedTuple):
    """Labelled pairs.

    states: `[N, ...]` observations, or whatever the environment's `look` makes observations of.
    values: `int[N, A]` their attribute values.
    """

    states: Any
    values: Array
