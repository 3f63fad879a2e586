"""The part of the graph around a plan: the path in the middle, and the best alternatives at its sides."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from jaxtyping import Int

from attribute_planner.planning.plan import Planner
from attribute_planner.planning.search import Distances
from attribute_planner.transitions.model import Listing
from attribute_planner.transitions.numbering import UNKNOWN
from attribute_planner.viewer.data import edge_json, set_json

ALTERNATIVES = 4
"""Alternatives of each set on the path."""
DETOUR = 3
"""Transitions that are shown of the way from an alternative back to the path."""
MAX_SETS = 160
UNLISTED_LEFT = -(2**31)
"""The number of the set that was left, if it is not listed."""
NEIGHBOURS = (5, 1)
"""Without a path: how many neighbours of the current set are shown, and how many of each of these."""


@dataclass
class Neighbourhood:
    """The sets that are drawn, with their places, and the transitions between them.

    number: the number of each set in the listing; below `UNKNOWN` for sets that are not listed.
    column, row: the place of each; the path has row 0 and every second column from 0, alternatives stand between.
    edges: pairs of positions.
    has_path: whether row 0 is left to the path.
    """

    number: list[int] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    row: list[int] = field(default_factory=list)
    edges: dict[tuple[int, int], None] = field(default_factory=dict)
    has_path: bool = False

    def place_of(self, number: int) -> int | None:
        """The position of a set; `None` if it is not drawn."""
        return self.number.index(number) if number in self.number else None

    def add(self, number: int, values: np.ndarray, column: int, row: int) -> int:
        """Draw another set; its position."""
        self.number.append(number)
        self.values.append(values)
        self.column.append(column)
        self.row.append(row)
        return len(self.number) - 1

    def add_beside(self, number: int, values: np.ndarray, parent: int) -> int | None:
        """Draw a set in the column after its parent's, on the same side of the path; `None` if there are too many."""
        if len(self.number) >= MAX_SETS:
            return None
        column, row = self.column[parent] + 1, self.row[parent]
        taken = {self.row[i] for i in range(len(self.row)) if self.column[i] == column} | (
            {0} if self.has_path else set()
        )
        sides = (1, -1) if row == 0 else (1 if row > 0 else -1,)
        rows = (side * distance for distance in range(MAX_SETS) for side in sides)
        return self.add(number, values, column, next(each for each in rows if each not in taken))

    def to_json(self, listing: Listing) -> dict[str, Any]:
        """The sets and transitions as data."""
        nodes = [
            {"values": set_json(values), "column": column, "row": row}
            for values, column, row in zip(self.values, self.column, self.row, strict=True)
        ]
        edges = [
            {"source": source, "target": target, **edge_json(listing, self.values[source], self.values[target])}
            for source, target in self.edges
        ]
        return {"nodes": nodes, "edges": edges}


def neighbourhood(
    planner: Planner,
    distances: Distances | None,
    path: Sequence[Int[np.ndarray, " A"]],
    left: Int[np.ndarray, " A"] | None = None,
) -> Neighbourhood:
    """The path with alternatives that also lead to the goal; around a single set, its neighbours.

    distances: those to the goal; `None` if there is no goal.
    path: the sets of the plan, the current one first.
    left: the set that was left for the current one; it stands before it.
    """
    drawn, listing = Neighbourhood(has_path=len(path) > 1), planner.listing
    for column, values in enumerate(path):
        number = listing.number_of(values)
        place = drawn.add(number if number != UNKNOWN else UNKNOWN - 1 - column, values, 2 * column, 0)
        if column:
            drawn.edges[place - 1, place] = None
    if left is not None:
        _add_left(drawn, listing, left)
    if len(path) == 1 or distances is None:
        _add_rings(drawn, listing)
        return drawn
    for place in range(len(path) - 1):
        if drawn.number[place] >= 0:
            _add_alternatives(drawn, listing, distances, place)
    return drawn


def _add_left(drawn: Neighbourhood, listing: Listing, left: Int[np.ndarray, " A"]) -> None:
    """The set that was left, before the first one, unless it is on the path; and the transition that was walked."""
    known = [place for place, values in enumerate(drawn.values) if np.array_equal(values, left)]
    number = listing.number_of(left)
    place = known[0] if known else drawn.add(number if number != UNKNOWN else UNLISTED_LEFT, left, -2, 0)
    drawn.edges = {(place, 0): None, **drawn.edges}


def _add_alternatives(drawn: Neighbourhood, listing: Listing, distances: Distances, place: int) -> None:
    """The best other transitions out of a set on the path, and how the way goes on from there."""
    row = listing.edges_of(drawn.number[place])
    targets = listing.target[row]
    worth = listing.probability[row] * np.exp(-distances.cost[targets])
    for target in targets[np.argsort(-worth, kind="stable")][: ALTERNATIVES + 1].tolist():
        if not np.isfinite(distances.cost[target]):
            break
        at: int | None = place
        for _ in range(DETOUR):
            known, before = drawn.place_of(target), at
            at = drawn.add_beside(target, listing.values[target], before) if known is None else known
            if at is None:
                return
            drawn.edges[before, at] = None
            target = int(distances.successor[target])
            if known is not None or target == UNKNOWN:
                break


def _add_rings(drawn: Neighbourhood, listing: Listing) -> None:
    """The neighbours that exploration saw most often, and theirs."""
    ring = [0]
    for neighbours in NEIGHBOURS:
        following = []
        for place in ring:
            if drawn.number[place] < 0:
                continue
            row = listing.edges_of(drawn.number[place])
            often = np.argsort(-(listing.visits[row] + listing.attempts[row]), kind="stable")
            others = (each for each in listing.target[row][often].tolist() if drawn.place_of(each) is None)
            for target in list(islice(others, neighbours)):
                at = drawn.add_beside(target, listing.values[target], place)
                if at is None:
                    return
                following.append(at)
                drawn.edges[place, at] = None
        ring = following
