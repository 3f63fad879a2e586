"""Egocentric views: parts of an observation that repeat a grid or an image, seen from the agent in it.

What to do next usually depends on what is around the agent, wherever it is. A network that sees a grid or an image from
a fixed point has to learn this for each position; one that sees it from the agent learns it once. If the agent faces a
way, a grid is turned so that this way is up. Networks that act see a grid from the agent alone. Where the map is always
the same, it is enough to know the place of the agent.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int, Integer, Shaped

from attribute_planner.environments.finding_agent import (
    RandomSteps,
    cell_keys,
    cell_types,
    cells_of_agent,
    find_agent,
    place_in,
)
from attribute_planner.environments.space_specs import FlatSpec, Marker, ObservationSpec, Part

Read = Callable[[Any], np.ndarray]
"""Reads the values of one part, as a flat array, from an observation."""

SMALLEST_SIDE = 4
"""In smaller grids the agent is not looked for."""
LARGEST_CROP = 17
"""Largest number of cells on a side of the surroundings in a grid; those in an image are as large as it. They hold all
of a grid of 9 × 9 cells, wherever the agent is."""
NEW_TYPES = 16
"""Numbers for types of cells that were not seen when the agent was looked for, as the other colours of a door."""
HASHED = 8191
"""A prime: their types are hashed by the remainder of this remainder, to which all channels of a cell contribute."""
NOTHING = np.iinfo(np.int64).min
"""Stands for all keys of the agent's own cells, to which there is no way."""
MAX_TYPES = 64
"""With more types of cells (the agent's own included) grids are not seen from it. Distances are those to the cells with
one of the keys; with more of them than this, there are none."""

AROUND, PLACE, DISTANCES = "around the agent", "place of the agent", "as distances from the agent"
"""What the names of parts end with that are seen from the agent."""


class ReadPart(NamedTuple):
    """A part of an observation, the function that reads it, and its lowest and highest value."""

    part: Part
    read: Read
    low: float
    high: float


def cells_of(part: Part) -> Read | None:
    """Brings the flat values of a grid or an image into the shape `[H, W, C]`; `None` for any other part."""
    shape = (*part.shape, 1) if len(part.shape) == 2 else part.shape
    is_grid = part.kind in ("numbers", "choice") and part.integers and len(shape) == 3
    if part.kind != "image" and not is_grid:
        return None
    channels_first = is_grid and shape[0] != shape[1] == shape[2]
    if min(shape[1:] if channels_first else shape[:2]) < SMALLEST_SIDE:
        return None
    return lambda values: np.moveaxis(values.reshape(shape), 0, -1) if channels_first else values.reshape(shape)


def find_agents(parts: Iterable[ReadPart], steps: RandomSteps) -> dict[str, Marker]:
    """The agent in those parts that show it, by name, from some random steps."""
    markers = {}
    for part, read, *_ in parts:
        cells = cells_of(part)
        if cells is not None:
            shown = np.stack([cells(read(observation)) for observation in steps.observations])
            marker = find_agent(shown, steps, part=part.name, image=part.kind == "image")
            if marker is not None and (part.kind == "image" or len(marker.others) + len(marker.looks) <= MAX_TYPES):
                markers[part.name] = marker
    return markers


def markers_in(spec: ObservationSpec) -> dict[str, Marker]:
    """The agent in those parts that show it, by name, from the parts that are seen from it."""
    seen = [part.seen_from for part in spec.parts] if isinstance(spec, FlatSpec) else []
    return {marker.part: marker for marker in seen if marker is not None}


def for_acting(spec: ObservationSpec) -> ObservationSpec:
    """What a network that acts uses of an observation: a grid in which the agent was found is seen from it alone."""
    if not isinstance(spec, FlatSpec):
        return spec
    found = markers_in(spec)

    def is_repeated(part: Part) -> bool:
        return part.seen_from is None and part.kind != "image" and part.name in found

    return replace(
        spec, parts=tuple(replace(part, kind="unused") if is_repeated(part) else part for part in spec.parts)
    )


class View(NamedTuple):
    """Parts of an observation that are seen from the agent.

    parts: the parts, one after the other.
    read: reads all of them, as one flat array.
    bounds: the lowest and the highest value of each.
    """

    parts: tuple[Part, ...]
    read: Read
    bounds: tuple[tuple[float, float], ...]


def view_from(whole: ReadPart, marker: Marker) -> View:
    """What the agent in a grid or an image has around it, and how far it is to each type of cell.

    Around it is the image, moved so that the agent is in its middle, or a crop of a grid with the number of each
    cell's type; the agent, types that were never seen (by hash) and what is beyond the edge have the numbers after
    these, and then each of the agent's own types, which may tell where it faces. The number of its cell in a grid
    follows; without an agent, the crop is the middle of the grid, and the number is one more than all. The distances
    are rows and columns to the nearest cell with each key, which is its value in one of the channels, plus the largest
    possible distance; last comes the place of the agent. If it is known which way the agent faces, the crop and the
    distances are turned so that this way is up.
    """
    part, cells, is_image = whole.part, cells_of(whole.part), whole.part.kind == "image"
    assert cells is not None, "only grids and images show an agent"
    height, width, _ = cells(np.zeros(part.size)).shape
    others, looks, far = np.array(marker.others), np.array(marker.looks, int), max(height, width) - 1
    things, headings = tuple(key for key in marker.known if key not in marker.keys), dict(marker.headings)
    has_distances, crop = len(things) <= MAX_TYPES, _crop(height, width, turns=bool(headings))
    agent, new, outside = len(others), len(others) + 1, len(others) + 1 + NEW_TYPES
    highest, middle = outside + len(looks), (height // 2, width // 2)

    def read(observation: Any) -> np.ndarray:
        shown = cells(whole.read(observation))
        keys = cell_keys(shown, image=is_image)
        mask = cells_of_agent(marker, keys)
        place, seen = place_in(mask, marker.size), []
        turns = 0 if place is None else next((headings[key] for key in keys[place].tolist() if key in headings), 0)
        if is_image:
            seen.append(surroundings(shown, place, (height, width), 0).reshape(-1))
        else:
            types = cell_types(shown)
            number = _number_in(others, types, new + types % HASHED % NEW_TYPES)
            number = np.where(mask, outside + 1 + _number_in(looks, types, agent - outside - 1), number)
            around = surroundings(number[..., None], place or middle, crop, outside)
            seen.append(np.rot90(around, turns).reshape(-1))
            seen.append(np.array([height * width if place is None else place[0] * width + place[1]]))
        if has_distances:
            ways = turned(distances(np.where(mask[..., None], NOTHING, keys), place, things), turns)
            here = (0, 0, 0) if place is None else (1, *place)
            seen.append(np.concatenate([ways + np.array([0, far, far]), [here]]).reshape(-1))
        return np.concatenate(seen)

    around, its_place, ways_to = (f"{part.name} {end}".lstrip() for end in (AROUND, PLACE, DISTANCES))
    if is_image:
        parts, bounds = [replace(part, name=around, seen_from=marker)], [(whole.low, whole.high)]
    else:
        parts = [
            Part(around, crop, "numbers", 0, highest + 1, seen_from=marker),
            Part(its_place, (), "choice", 0, height * width + 1, seen_from=marker),
        ]
        bounds = [(0, highest), (0, height * width)]
    if has_distances:
        parts.append(Part(ways_to, (len(things) + 1, 3), "numbers", seen_from=marker))
        bounds.append((0, max(2 * far, 1)))
    return View(tuple(parts), read, tuple(bounds))


def _crop(height: int, width: int, *, turns: bool) -> tuple[int, int]:
    """The size of the surroundings in a grid: such that they hold all of it, if that is not too large; square if they
    turn with the agent."""
    if turns:
        height = width = max(height, width)
    return min(2 * height - 1, LARGEST_CROP), min(2 * width - 1, LARGEST_CROP)


def _number_in(
    listed: Int[np.ndarray, " n"], types: Int[np.ndarray, "H W"], otherwise: Int[np.ndarray, "H W"] | int
) -> Int[np.ndarray, "H W"]:
    """The number of each type in an ordered list; `otherwise` for those that are not in it."""
    if not len(listed):
        return np.broadcast_to(otherwise, types.shape)
    number = np.minimum(np.searchsorted(listed, types), len(listed) - 1)
    return np.where(listed[number] == types, number, otherwise)


def with_views(given: Shaped[np.ndarray, "*lead D"], spec: FlatSpec) -> Shaped[np.ndarray, "*lead size"]:
    """Recorded observations, with the parts that are seen from the agent added."""
    parts, end = [], 0
    for part in spec.parts:
        if part.seen_from is None:
            start, end = end, end + part.size
            kind = np.int64 if part.integers else given.dtype  # beside other numbers, integers are stored like them
            parts.append(ReadPart(part, lambda row, i=slice(start, end), kind=kind: row[i].astype(kind), 0, 255))
    views = views_of(parts, markers_in(spec))
    rows = given.reshape(-1, given.shape[-1])
    whole = np.stack([np.concatenate([row, *(view.read(row) for view in views)]) for row in rows])
    return whole.astype(spec.dtype).reshape(*given.shape[:-1], -1)


def views_of(parts: Iterable[ReadPart], markers: Mapping[str, Marker]) -> list[View]:
    """The views from the agents in some parts."""
    shown = [each for each in parts if each.part.name in markers and cells_of(each.part) is not None]
    return [view_from(each, markers[each.part.name]) for each in shown]


def surroundings(
    cells: Integer[np.ndarray, "H W C"], place: tuple[int, int] | None, crop: tuple[int, int], outside: int
) -> Integer[np.ndarray, "h w C"]:
    """The cells around a place, in the middle of a crop; `outside` beyond the edge, or everywhere without a place."""
    kind = np.promote_types(cells.dtype, np.min_scalar_type(outside))
    result = np.full((*crop, cells.shape[-1]), outside, kind)
    if place is None:
        return result
    inside, seen = [], []
    for centre, length, side in zip(place, cells.shape, crop, strict=False):
        start = centre - side // 2
        low, high = max(start, 0), min(start + side, length)
        inside.append(slice(low - start, high - start))
        seen.append(slice(low, high))
    result[inside[0], inside[1]] = cells[seen[0], seen[1]]
    return result


def distances(
    keys: Int[np.ndarray, "H W K"], place: tuple[int, int] | None, things: Sequence[int]
) -> Int[np.ndarray, "things 3"]:
    """Whether there is a cell with each key, and how many rows and columns the nearest is away; 0 if there is none."""
    result = np.zeros((len(things), 3), np.int64)
    if place is None or not len(things):
        return result
    height, width, channels = keys.shape
    order = _by_distance(height, width, place)
    found, first = np.unique(keys.reshape(-1, channels)[order], return_index=True)
    where = np.minimum(np.searchsorted(found, things), len(found) - 1)
    row, column = np.divmod(order[first[where] // channels], width)
    result[:, 0], result[:, 1], result[:, 2] = 1, row - place[0], column - place[1]
    return np.where((found[where] == things)[:, None], result, 0)


def turned(ways: Int[np.ndarray, "things 3"], turns: int) -> Int[np.ndarray, "things 3"]:
    """Distances after a number of quarter turns to the left."""
    for _ in range(turns):
        ways = ways[:, [0, 2, 1]] * np.array([1, -1, 1])
    return ways


@lru_cache(maxsize=256)
def _by_distance(height: int, width: int, place: tuple[int, int]) -> Int[np.ndarray, " cells"]:
    """The numbers of all cells, the nearest to a place first."""
    rows, columns = np.abs(np.arange(height) - place[0]), np.abs(np.arange(width) - place[1])
    return np.argsort((rows[:, None] + columns[None]).reshape(-1), kind="stable")
