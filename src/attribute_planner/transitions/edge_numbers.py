"""What was measured of single transitions, independent of the table that lists them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt32

from attribute_planner.transitions.model import Listing
from attribute_planner.transitions.numbering import NumberedSets


@dataclass(frozen=True, eq=False)
class EdgeNumbers:
    """A number for each of some transitions.

    source, target: their packed sets.
    """

    source: UInt32[np.ndarray, "E W"]
    target: UInt32[np.ndarray, "E W"]
    number: Float[np.ndarray, " E"]

    def of_edges(self, listing: NumberedSets) -> Float[np.ndarray, " N"]:
        """The number of each edge of a graph; NaN where there is none."""
        found = np.full(listing.num_edges, np.nan)
        edge, known = listing.known_edges(self.source, self.target)
        found[edge[known]] = self.number[known]
        return found


def edge_numbers(listing: Listing, edges: Int[np.ndarray, " E"], number: Float[np.ndarray, " E"]) -> EdgeNumbers:
    """A number for some edges of a graph."""
    source, target = (listing.words[ends[edges]] for ends in (listing.source, listing.target))
    return EdgeNumbers(source, target, number.astype(np.float32))
