"""`TransitionModel`: c_π behind one interface.

Planning needs the transitions out of attribute sets and their statistics. A `TransitionTable` lists every set and
transition; a model that predicts transitions can implement the same interface without a list.
"""

import abc
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt32

from attribute_planner.attributes import AttributeSpace


class Successors(NamedTuple):
    """Transitions out of a batch of attribute sets, one row per transition, ordered by `origin`.

    origin: position in the batch of the set that the transition leaves.
    words: packed set that it leads to.
    probability: c_π, the probability that an attempt arrives.
    steps: mean number of environment steps of an attempt.
    attempts, successes: the evidence behind `probability`.
    """

    origin: Int[np.ndarray, " M"]
    words: UInt32[np.ndarray, "M W"]
    probability: Float[np.ndarray, " M"]
    steps: Float[np.ndarray, " M"]
    attempts: Float[np.ndarray, " M"]
    successes: Float[np.ndarray, " M"]


class Listing(NamedTuple):
    """A whole transition model as arrays, for exact search.

    words: the packed sets, N of them.
    source, target: the sets that each of E transitions joins, as positions in `words`.
    probability, steps: as in `Successors`.
    """

    words: UInt32[np.ndarray, "N W"]
    source: Int[np.ndarray, " E"]
    target: Int[np.ndarray, " E"]
    probability: Float[np.ndarray, " E"]
    steps: Float[np.ndarray, " E"]


class TransitionModel(abc.ABC):
    """How likely, and how fast, the policy moves from one attribute set to a neighbouring one."""

    space: AttributeSpace

    @abc.abstractmethod
    def knows(self, words: UInt32[np.ndarray, "B W"]) -> Bool[np.ndarray, " B"]:
        """Whether the model has ever seen each packed set."""

    @abc.abstractmethod
    def successors(self, words: UInt32[np.ndarray, "B W"]) -> Successors:
        """The transitions out of packed sets; a set that is not known has none."""

    @abc.abstractmethod
    def listing(self) -> Listing:
        """All sets and transitions. A model that cannot list them will need another search than `planning.search`."""
