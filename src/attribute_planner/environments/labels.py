"""Labelled observations: what an attribute detector is learned from."""

from typing import NamedTuple

import numpy as np


class Labels(NamedTuple):
    """Labelled pairs.

    observation: `[N, ...]`.
    values: `int32[N, A]` their attribute values.
    """

    observation: np.ndarray
    values: np.ndarray
