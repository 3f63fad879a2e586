"""A layout for small graphs: sets in columns by their distance from a root, ordered so that few edges cross."""

from collections import deque
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

from attribute_planner.transitions.table import TransitionTable

SWEEPS = 24
"""How often the order of the columns is improved, from left to right and back."""


def layers_from(table: TransitionTable, root: int) -> list[list[int]]:
    """The sets by their number of transitions from the root, in either direction; those apart start at the left."""
    neighbours = neighbours_of(table)
    distance = np.full(table.num_nodes, -1)
    visits = np.bincount(table.source, weights=table.visits, minlength=table.num_nodes)
    for first in [root, *np.argsort(-visits, kind="stable").tolist()]:
        if distance[first] >= 0:
            continue
        distance[first], waiting = 0, deque([first])
        while waiting:
            node = waiting.popleft()
            for other in neighbours[node]:
                if distance[other] < 0:
                    distance[other] = distance[node] + 1
                    waiting.append(other)
    return ordered([np.flatnonzero(distance == d).tolist() for d in range(distance.max() + 1)], neighbours)


def neighbours_of(table: TransitionTable) -> list[list[int]]:
    """The sets that a transition joins with each set, in either direction."""
    joined: list[set[int]] = [set() for _ in range(table.num_nodes)]
    for source, target in zip(table.source.tolist(), table.target.tolist(), strict=True):
        if source != target:
            joined[source].add(target)
            joined[target].add(source)
    return [sorted(each) for each in joined]


def ordered(layers: list[list[int]], neighbours: list[list[int]]) -> list[list[int]]:
    """The same layers, each in the order in which few edges between neighbouring layers cross."""
    best, fewest = layers, crossings(layers, neighbours)
    for sweep in range(SWEEPS):
        numbers = range(1, len(layers)) if sweep % 2 == 0 else range(len(layers) - 2, -1, -1)
        layers = [list(layer) for layer in layers]
        for number in numbers:
            beside = layers[number - 1] if sweep % 2 == 0 else layers[number + 1]
            place = {node: i / max(len(beside) - 1, 1) for i, node in enumerate(beside)}
            layers[number].sort(key=lambda node, place=place: mean_place(node, neighbours, place))
        if (count := crossings(layers, neighbours)) < fewest:
            best, fewest = layers, count
    return best


def mean_place(node: int, neighbours: list[list[int]], place: dict[int, float]) -> float:
    """The mean place of a set's neighbours in the layer beside it; the middle if there are none."""
    found = [place[other] for other in neighbours[node] if other in place]
    return sum(found) / len(found) if found else 0.5


def crossings(layers: list[list[int]], neighbours: list[list[int]]) -> int:
    """How many pairs of edges between neighbouring layers cross."""
    total = 0
    for left, right in pairwise(layers):
        place = {node: i for i, node in enumerate(right)}
        edges = np.array(
            [(i, place[other]) for i, node in enumerate(left) for other in neighbours[node] if other in place]
        ).reshape(-1, 2)
        start, end = edges.T
        total += int(((start[:, None] < start) & (end[:, None] > end)).sum())
    return total


def heights(
    layers: list[list[int]], neighbours: list[list[int]], size: Float[np.ndarray, " N"], gap: float
) -> Float[np.ndarray, " N"]:
    """The vertical centre of each set: near its neighbours, and at least `gap` from the sets above and below it.

    size: the height of each set.
    """
    centre = np.zeros(len(neighbours))
    for layer in layers:
        centre[layer] = spread(np.zeros(len(layer)), size[layer], gap)
    layer_of = {node: number for number, layer in enumerate(layers) for node in layer}
    for _ in range(SWEEPS):
        for number, layer in enumerate(layers):
            wanted = []
            for node in layer:
                beside = [other for other in neighbours[node] if layer_of[other] != number]
                wanted.append(centre[beside].mean() if beside else centre[node])
            centre[layer] = spread(np.array(wanted), size[layer], gap)
    return centre


def spread(wanted: Float[np.ndarray, " n"], size: Float[np.ndarray, " n"], gap: float) -> Float[np.ndarray, " n"]:
    """Places in the same order as near to those wanted as sizes and gaps allow: pooled where they are too near."""
    offset = np.concatenate([[0.0], np.cumsum((size[1:] + size[:-1]) / 2 + gap)])
    pools: list[tuple[float, int]] = []
    for value in (wanted - offset).tolist():
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            (value_a, count_a), (value_b, count_b) = pools[-2:]
            pools[-2:] = [((value_a * count_a + value_b * count_b) / (count_a + count_b), count_a + count_b)]
    return np.repeat([value for value, _ in pools], [count for _, count in pools]) + offset


def columns_of(layers: list[list[int]]) -> Int[np.ndarray, " N"]:
    """The number of the column in which each set stands."""
    column = np.zeros(sum(map(len, layers)), int)
    for number, layer in enumerate(layers):
        column[layer] = number
    return column
